"""Read Copilot CLI events.

Differences between the events and what is sent were observed with CLI 1.0.102 resuming such files: a summary is framed,
and results follow their calls in the order of the calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from sys import intern
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.formats.agent_texts import kind_of, with_user_text
from workbench.formats.copilot import ID
from workbench.formats.kit.api_errors import api_error
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.jsonl import object_of
from workbench.formats.kit.marks import marked
from workbench.formats.kit.names import first_words
from workbench.formats.kit.transcript import Transcript
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of
from workbench.session.images import media_of
from workbench.session.message import (
    Block,
    Kind,
    Media,
    Message,
    Opaque,
    Role,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Usage,
)
from workbench.session.session import Compaction, Records, Session, SessionFacts

_WINDOW_FIELDS = {
    "session.compaction_complete": "tokenLimit",
    "session.truncation": "tokenLimit",
    "session.usage_info": "tokenLimit",
    "session.compaction_start": "tokenLimit",
}
"""Events that record the context window, in this field; older versions record none."""


_FRAME = (
    "Some of the conversation history has been summarized to free up context.\n\n",
    "You were originally given instructions from a user over one or more turns. Here were the user messages:\n",
    "<user_message>\n{}\n</user_message>\n",
    "Here is a summary of the prior context:\n<summary>\n{}\n</summary>",
)
"""Text of a summary message: opening; if the user wrote anything, a lead and each user message; the summary."""


_REFUSAL = re.compile(r"(?:The user rejected this tool call|Plan not approved)\. User feedback:\s*(.+)", re.DOTALL)
"""Result that the CLI writes for a user who refused a call or a plan with a reason."""


_TAGS = ("mode_changed_notice", "reminder", "tagged_files", "tools_changed_notice")
"""Tags that only the CLI writes into the user's message; shared ones are in `agent_texts.py`."""


@dataclass(frozen=True, slots=True)
class _Prompt:
    """Text that the user typed, for the frame of a later summary, with its message's index and its record."""

    number: int
    record: int
    text: str


class Reader(Transcript):
    """Reader of events. `sent_at_start`: number of messages in the context when the running compaction `started`.
    `prompts`: texts that the user typed since the context was last cleared. `assets`: attached data by id. `usages`:
    usage by API call id, and `api_calls` the API call of each message. `subagents`: messages of sub-agents. `rewound`:
    messages removed by a rewind. `events`: number of messages before each event, by event id."""

    empty = "a Copilot CLI session without messages; open another file"

    def __init__(self, path: Path, records: Records) -> None:
        super().__init__(path, records)
        self.subagents: set[int] = set()
        self.rewound: set[int] = set()
        self.events: dict[str, int] = {}
        self.calls: set[str] = set()
        self.prompts: list[_Prompt] = []
        self.usages: dict[str, Usage] = {}
        self.api_calls: dict[int, str] = {}
        self.start_data: dict[str, Any] = {}
        self.assets: dict[str, Media] = {}
        self.system = self.steering = ""
        self.sent_at_start: int | None = None
        self.started: float | None = None
        self.tokens: int | None = None
        self.overhead: int | None = None

    def take(self, event: dict[str, Any], index: int, line: int) -> None:
        kind, data = event.get("type"), event.get("data")
        if not isinstance(data, dict):
            self.warn("not an event; kept in the file, not shown", line)
            return
        by_subagent = bool(event.get("agentId") or data.get("parentToolCallId"))
        recorded_id = event.get("id")
        id = self.unique_id(recorded_id if isinstance(recorded_id, str) and recorded_id else f"event-{index + 1}")
        if not by_subagent:
            self.events[id] = len(self.messages)
        time = seconds_of(event.get("timestamp"))
        message: Message | None = None
        if kind == "user.message":
            message = self._user(data, id, time, index, by_subagent=by_subagent)
        elif kind == "assistant.message":
            message = self._assistant(data, id, time, index)
            self.api_calls[len(self.messages)] = text_of(data.get("apiCallId"))
        elif kind == "tool.execution_complete":
            message = _result(data, id, time, index)
        elif kind == "system.notification" and data.get("content"):
            message = Message(id, "user", (Text(as_text(data["content"])),), "meta", time, source=(index,))
        elif not by_subagent:
            self._other_event(str(kind), data, id, time, index, line)
        if message is not None:
            self._add(message, by_subagent=by_subagent)

    def _add(self, message: Message, *, by_subagent: bool) -> None:
        number = self.add(message)
        if by_subagent:
            self.subagents.add(number)
        elif message.blocks and (message.role != "tool" or message.results[0].call_id in self.calls):
            self.sent.append(number)  # a result without a call belongs to a command that the user ran

    def _user(
        self, data: Mapping[str, Any], id: str, time: float | None, index: int, *, by_subagent: bool
    ) -> Message | None:
        content, sent = data.get("content"), data.get("transformedContent")
        typed = as_text(content or "")
        text = sent if isinstance(sent, str) and sent else typed
        if not by_subagent and text and text == self.steering:
            self.steering = ""  # the next event repeats the message of a steering event
            return None
        self.steering = text if data.get("delivery") == "steering" and not content else ""
        own = data.get("source") in (None, "user")
        blocks: list[Block] = [*_split_user_text(text, typed if own else "")]
        attachments = [dict_of(attached) for attached in list_of(data.get("attachments"))]
        if tagged := [entry for attached in attachments if (entry := text_of(attached.get("taggedFilesEntry")))]:
            blocks.append(Text("\n".join(["\n\n\n\n<tagged_files>", *tagged, "</tagged_files>"]), injected=True))
        blocks += (block for attached in attachments for block in self._attached(attached))
        kind: Kind = marked(data) or (kind_of("user", [Text(typed or text)]) if own else "meta")
        if own and not by_subagent and typed:
            self.prompts.append(_Prompt(len(self.messages), index, typed))
        if not by_subagent and kind == "normal" and not self.title:
            self.title = first_words([Message("", "user", (Text(typed or text),))])
        return Message(id, "user", tuple(blocks), kind, time, source=(index,))

    def _attached(self, attached: Mapping[str, Any]) -> Iterator[Block]:
        """Yield an attached file that is sent unchanged; an image follows a line that names it."""
        asset_id = text_of(attached.get("assetId"))
        media_type = text_of(attached.get("mimeType")) or "file"
        data = attached.get("data")
        media = media_of(media_type, data) if isinstance(data, str) else self.assets.get(asset_id, Media("", 0))
        if not media.size or attached.get("taggedFilesEntry"):
            return
        path, name = text_of(attached.get("path")), text_of(attached.get("displayName"))
        if media_type.startswith("image/"):
            label = f"Image file at path {path}" if path else name or "Attached image"
            yield Text(label, injected=True)
        yield Media(media_type, media.size, media.pixels)

    def _assistant(self, data: Mapping[str, Any], id: str, time: float | None, index: int) -> Message:
        blocks: list[Block] = []
        reasoning, signature = data.get("reasoningText"), data.get("reasoningOpaque")
        if reasoning or signature:
            blocks.append(Thinking(as_text(reasoning or ""), text_of(signature)))
        if data.get("content"):
            blocks.append(Text(as_text(data["content"])))
        requests = data.get("toolRequests")
        for request in list_of(requests):
            if isinstance(request, dict) and isinstance(request.get("toolCallId"), str):
                arguments = request.get("arguments")
                arguments = (
                    arguments if isinstance(arguments, dict) else "" if arguments is None else as_text(arguments)
                )
                blocks.append(ToolUse(request["toolCallId"], intern(as_text(request.get("name", ""))), arguments))
                self.calls.add(request["toolCallId"])
            else:
                blocks.append(Opaque("toolRequest", request))
        model = data.get("model")
        name = intern(model) if isinstance(model, str) else None
        return Message(id, "assistant", tuple(blocks), marked(data) or "normal", time, model=name, source=(index,))

    def _other_event(self, kind: str, data: dict[str, Any], id: str, time: float | None, index: int, line: int) -> None:
        """Process an event that is no message."""
        if error := _error_in(kind, data):
            self.errors.append(api_error(id, error, time, line))
        if kind in _WINDOW_FIELDS:
            self.window.read(data.get(_WINDOW_FIELDS[kind]), line, self.warnings)
        if kind == "session.start":
            self.start_data = data
            self.model = _text(data.get("selectedModel")) or self.model
        elif kind == "session.model_change":
            self.model = _text(data.get("newModel")) or self.model
        elif kind == "system.message":
            self.system = _text(data.get("content")) or self.system
        elif kind == "session.binary_asset" and isinstance(data.get("data"), str):
            self.assets[text_of(data.get("assetId"))] = media_of("", data["data"])
        elif kind == "session.usage_record":
            self._add_usage(dict_of(data.get("usage")), line)
        elif kind == "session.compaction_start":
            self.sent_at_start, self.started = len(self.sent), time
            self._set_sizes(data)
        elif kind == "session.compaction_complete":
            self._complete_compaction(data, id, time, index)
        elif kind == "session.context_cleared":
            first = data.get("initialMessage")
            self._end(Compaction("clear", self.tokens, None, time, "removal"), [])
            self.prompts, self.tokens = [], None
            if isinstance(first, str) and first:
                self._add(Message(id, "user", (Text(first),), "normal", time, source=(index,)), by_subagent=False)
        elif kind == "session.snapshot_rewind":
            self._rewind(data.get("upToEventId"))
        elif kind == "session.truncation":
            count = data.get("messagesRemovedDuringTruncation")
            text = f"{as_text(count)} messages were not sent; the file does not say which"
            self.warn(text, line)
        elif kind == "session.shutdown":
            self._set_sizes(data)

    def _add_usage(self, usage: Mapping[str, Any], line: int) -> None:
        """Store the usage of one API call. `inputTokens` includes cached tokens."""
        self.window.read(usage.get("maxPromptTokens"), line, self.warnings)
        prompt, read, written = (count_of(usage.get(f"{name}Tokens")) for name in ("input", "cacheRead", "cacheWrite"))
        if id := text_of(usage.get("apiCallId")):
            fresh = max(0, prompt - read - written)
            self.usages[id] = Usage(fresh, count_of(usage.get("outputTokens")), read, written)

    def _set_sizes(self, data: Mapping[str, Any]) -> None:
        """Store the CLI's own token counts: system prompt and tools, and the entire context."""
        system, tools, conversation = (
            count_of(data.get(f"{name}Tokens")) for name in ("system", "toolDefinitions", "conversation")
        )
        self.overhead = system + tools or self.overhead
        self.tokens = count_of(data.get("currentTokens")) or system + tools + conversation or self.tokens

    def _complete_compaction(self, data: Mapping[str, Any], id: str, time: float | None, index: int) -> None:
        text = data.get("summaryContent")
        kept_from, self.sent_at_start = self.sent_at_start, None
        if data.get("success") is False or not isinstance(text, str) or not text:
            return
        trigger = text_of(data.get("trigger")) or ("manual" if data.get("customInstructions") else "")
        before, after = count_of(data.get("preCompactionTokens")), count_of(data.get("postCompactionTokens"))
        framed = Text(_frame_summary(text, [prompt.text for prompt in self.prompts]))
        source = (index, *(prompt.record for prompt in self.prompts))
        summary = Message(id, "user", (framed,), "summary", time, source=source)
        meanwhile = self.sent[kept_from:] if kept_from is not None else []
        kept_ids = tuple(self.messages[number].id for number in meanwhile)
        started, self.started = self.started, None
        compaction = Compaction(
            trigger,
            before or self.tokens,
            id,
            time,
            tokens_after=after or None,
            kept_ids=kept_ids,
            background=bool(kept_ids),
            seconds=round(time - started, 3) if time is not None and started is not None and time > started else None,
        )
        self._end(compaction, meanwhile)
        self._set_sizes(data)
        self.tokens = after or None
        self.sent.insert(0, self.add(summary))

    def _end(self, compaction: Compaction, still_sent: list[int]) -> None:
        if self.sent or self.epochs:
            self._sort_results()
            self.end_epoch(compaction)
        self.sent = still_sent

    def _sort_results(self) -> None:
        """Order the context: results directly after their response, in the order of its calls."""
        call_places: dict[str, tuple[int, int]] = {}
        places: dict[int, tuple[int, int]] = {}
        for place, number in enumerate(self.sent):
            message = self.messages[number]
            call_places |= {call.id: (place, nth) for nth, call in enumerate(message.calls, 1)}
            call_id = message.results[0].call_id if message.results else ""
            places[number] = call_places.get(call_id, (place, 0))
        self.sent.sort(key=places.__getitem__)

    def _rewind(self, id: Any) -> None:
        """Drop an event's message and all later ones from the context."""
        first = self.events.get(id) if isinstance(id, str) else None
        if first is not None:
            self.rewound.update(number for number in self.sent if number >= first)
            self.sent = [number for number in self.sent if number < first]
            self.prompts = [prompt for prompt in self.prompts if prompt.number < first]

    def finish(self) -> None:
        if not self.sent and not self.epochs and self.subagents:  # a sub-agent's events alone
            self.sent, self.subagents = list(range(len(self.messages))), set()
        self._sort_results()
        self.end_epoch()

    def session(self) -> Session:
        messages = with_user_text(self._with_usage(), _TAGS)
        rewound = self.rewound.difference(*(epoch.members for epoch in self.epochs)) | self.subagents
        place = dict_of(self.start_data.get("context"))
        facts = SessionFacts(
            api_errors=tuple(self.errors),
            tokens_now=self.tokens,
            overhead=self.overhead,
            version=text_of(self.start_data.get("copilotVersion")),
            git_branch=text_of(place.get("branch")),
        )
        return self._session(
            ID,
            messages,
            branch=self.branch_without(rewound),
            id=text_of(self.start_data.get("sessionId")),
            title=self.title,
            model=next((messages[n].model for n in reversed(self.sent) if messages[n].model), self.model),
            cwd=place["cwd"] if isinstance(place.get("cwd"), str) else None,
            system=self.system,
            facts=facts,
        )

    def _with_usage(self) -> Iterable[Message]:
        for number, message in enumerate(self.messages):
            usage = self.usages.get(self.api_calls.get(number, ""))
            yield replace(message, usage=usage) if usage else message


def _split_user_text(text: str, typed: str) -> Iterable[Text]:
    """Split a sent text into the text that the user typed and what the CLI put around it."""
    if not typed or typed not in text:
        return [Text(text)] if text else []
    after_break = text.find(f"\n\n{typed}")  # a date before it may hold the same words
    start = after_break + 2 if after_break >= 0 else text.index(typed)
    stop = start + len(typed)
    parts = (Text(text[:start], injected=True), Text(typed), Text(text[stop:], injected=True))
    return [part for part in parts if part.text]


def _result(data: Mapping[str, Any], id: str, time: float | None, index: int) -> Message:
    result, error = data.get("result"), data.get("error")
    failed = data.get("success") is False
    output: Any = result.get("content") if isinstance(result, dict) else result
    if failed and not output:
        output = error.get("message") if isinstance(error, dict) else error
    text = as_text(output) if output else ""
    parts = result.get("contents") if isinstance(result, dict) else None
    texts = [as_text(part.get("text")) for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    if len(texts) < 2 or "\n".join(texts) != text:  # parts may be for display; the content is sent
        texts = [text] if text else []
    content = tuple(Text(each) for each in texts)
    role: Role = "tool"
    call_id = as_text(data.get("toolCallId", ""))
    refusal = _REFUSAL.match(text)
    answer = ToolResult(call_id, content, failed, refusal[1].strip() if refusal else "")
    return Message(id, role, (answer,), time=time, source=(index,))


def _error_in(kind: str, data: dict[str, Any]) -> Any:
    """Return the API error of an event or of a hook's input; None for any other event."""
    if kind in ("session.error", "model.call_failure"):
        return data
    hook_input = dict_of(data.get("input")) if kind == "hook.start" and data.get("hookType") == "errorOccurred" else {}
    return hook_input.get("error") if hook_input.get("errorContext") == "model_call" else None


def _frame_summary(summary: str, prompts: Sequence[str]) -> str:
    opening, lead, wrapper, closing = _FRAME
    quoted = "".join([lead, *(wrapper.format(text) for text in prompts), "\n"]) if prompts else ""
    return opening + quoted + closing.format(summary)


def _text(value: Any) -> str | None:
    return intern(value) if isinstance(value, str) and value else None


def request_texts(session: Session) -> Iterator[str]:
    """Yield the last user text of each recorded request, "" for other records; its first message is not considered."""
    return map(_last_text, session.records)


def _last_text(record: bytes) -> str:
    event = object_of(record) if b'"model.messages_snapshot"' in record else None
    messages = [dict_of(message) for message in list_of(dict_of(dict_of(event).get("data")).get("messages"))]
    user_texts = [message.get("content") for message in messages[1:] if message.get("role") == "user"]
    return text_of(user_texts[-1]).strip() if user_texts else ""
