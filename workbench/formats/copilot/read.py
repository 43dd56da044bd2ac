"""Reading: Copilot CLI events.

What is sent where it differs from what the events say was seen by the CLI 1.0.102 that resumed such files: a summary in
its frame, results behind their call in its order.
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
from workbench.formats.copilot.signature import ID
from workbench.formats.kit.api_errors import api_error
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.jsonl import object_of
from workbench.formats.kit.mark import marked
from workbench.formats.kit.titles import first_words
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

_TELL_WINDOW = {
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
"""How a compaction is told to the model: always; where the person said anything; each of these texts; the summary."""


_REFUSED = re.compile(r"(?:The user rejected this tool call|Plan not approved)\. User feedback:\s*(.+)", re.DOTALL)
"""What the CLI answers in the name of a person who refused a call or a plan with words."""


_TAGS = ("mode_changed_notice", "reminder", "tagged_files", "tools_changed_notice")
"""Tags of what the CLI writes into the person's message, beside those that others write, too."""


@dataclass(frozen=True, slots=True)
class _Prompt:
    """What the person typed, as it stands in the frame of a later summary: its message's number and its record."""

    number: int
    record: int
    text: str


class Reader(Transcript):
    """`began` is how many messages were sent when the compaction that runs `started`. `prompts` are what the person
    typed since the context was last cleared, `assets` attached data by their ids. `bills` are recorded usages by the
    id of their API call, `billed` the calls that gave the messages; `sides` are messages of sub-agents."""

    empty = "a Copilot CLI session without messages; open another file"

    def __init__(self, path: Path, records: Records) -> None:
        super().__init__(path, records)
        self.sides: set[int] = set()
        self.gone: set[int] = set()
        self.events: dict[str, int] = {}
        self.calls: set[str] = set()
        self.prompts: list[_Prompt] = []
        self.bills: dict[str, Usage] = {}
        self.billed: dict[int, str] = {}
        self.about: dict[str, Any] = {}
        self.assets: dict[str, Media] = {}
        self.system = self.steering = ""
        self.began: int | None = None
        self.started: float | None = None
        self.tokens: int | None = None
        self.overhead: int | None = None

    def take(self, event: dict[str, Any], index: int, line: int) -> None:
        kind, data = event.get("type"), event.get("data")
        if not isinstance(data, dict):
            self.warn("not an event; kept in the file, not shown", line)
            return
        side = bool(event.get("agentId") or data.get("parentToolCallId"))
        named = event.get("id")
        id = self.unique_id(named if isinstance(named, str) and named else f"event-{index + 1}")
        if not side:
            self.events[id] = len(self.messages)
        time = seconds_of(event.get("timestamp"))
        message: Message | None = None
        if kind == "user.message":
            message = self._user(data, id, time, index, side=side)
        elif kind == "assistant.message":
            message = self._assistant(data, id, time, index)
            self.billed[len(self.messages)] = text_of(data.get("apiCallId"))
        elif kind == "tool.execution_complete":
            message = _result(data, id, time, index)
        elif kind == "system.notification" and data.get("content"):
            message = Message(id, "user", (Text(as_text(data["content"])),), "meta", time, source=(index,))
        elif not side:
            self._about(str(kind), data, id, time, index, line)
        if message is not None:
            self._add(message, side=side)

    def _add(self, message: Message, *, side: bool) -> None:
        number = self.add(message)
        if side:
            self.sides.add(number)
        elif message.blocks and (message.role != "tool" or message.results[0].call_id in self.calls):
            self.sent.append(number)  # a result without a call is of a command of the person's own

    def _user(self, data: Mapping[str, Any], id: str, time: float | None, index: int, *, side: bool) -> Message | None:
        content, sent = data.get("content"), data.get("transformedContent")
        typed = as_text(content or "")
        text = sent if isinstance(sent, str) and sent else typed
        if not side and text and text == self.steering:
            self.steering = ""  # announced by one event, repeated by the next
            return None
        self.steering = text if data.get("delivery") == "steering" and not content else ""
        own = data.get("source") in (None, "user")
        blocks: list[Block] = [*_parted(text, typed if own else "")]
        attachments = [dict_of(attached) for attached in list_of(data.get("attachments"))]
        if tagged := [entry for attached in attachments if (entry := text_of(attached.get("taggedFilesEntry")))]:
            blocks.append(Text("\n".join(["\n\n\n\n<tagged_files>", *tagged, "</tagged_files>"]), injected=True))
        blocks += (block for attached in attachments for block in self._attached(attached))
        kind: Kind = marked(data) or (kind_of("user", [Text(typed or text)]) if own else "meta")
        if own and not side and typed:
            self.prompts.append(_Prompt(len(self.messages), index, typed))
        if not side and kind == "normal" and not self.title:
            self.title = first_words([Message("", "user", (Text(typed or text),))])
        return Message(id, "user", tuple(blocks), kind, time, source=(index,))

    def _attached(self, attached: Mapping[str, Any]) -> Iterator[Block]:
        """A file that is sent as it is; before an image stands a line that names it."""
        kept = text_of(attached.get("assetId"))
        media_type = text_of(attached.get("mimeType")) or "file"
        data = attached.get("data")
        media = media_of(media_type, data) if isinstance(data, str) else self.assets.get(kept, Media("", 0))
        if not media.size or attached.get("taggedFilesEntry"):
            return
        path, name = text_of(attached.get("path")), text_of(attached.get("displayName"))
        if media_type.startswith("image/"):
            label = f"Image file at path {path}" if path else name or "Attached image"
            yield Text(label, injected=True)
        yield Media(media_type, media.size, media.pixels)

    def _assistant(self, data: Mapping[str, Any], id: str, time: float | None, index: int) -> Message:
        blocks: list[Block] = []
        thought, signature = data.get("reasoningText"), data.get("reasoningOpaque")
        if thought or signature:
            blocks.append(Thinking(as_text(thought or ""), text_of(signature)))
        if data.get("content"):
            blocks.append(Text(as_text(data["content"])))
        requests = data.get("toolRequests")
        for request in list_of(requests):
            if isinstance(request, dict) and isinstance(request.get("toolCallId"), str):
                given = request.get("arguments")
                given = given if isinstance(given, dict) else "" if given is None else as_text(given)
                blocks.append(ToolUse(request["toolCallId"], intern(as_text(request.get("name", ""))), given))
                self.calls.add(request["toolCallId"])
            else:
                blocks.append(Opaque("toolRequest", request))
        model = data.get("model")
        name = intern(model) if isinstance(model, str) else None
        return Message(id, "assistant", tuple(blocks), marked(data) or "normal", time, model=name, source=(index,))

    def _about(self, kind: str, data: dict[str, Any], id: str, time: float | None, index: int, line: int) -> None:
        """An event that is no message."""
        if error := _failure(kind, data):
            self.errors.append(api_error(id, error, time, line))
        if kind in _TELL_WINDOW:
            self.window.read(data.get(_TELL_WINDOW[kind]), line, self.warnings)
        if kind == "session.start":
            self.about = data
            self.model = _text(data.get("selectedModel")) or self.model
        elif kind == "session.model_change":
            self.model = _text(data.get("newModel")) or self.model
        elif kind == "system.message":
            self.system = _text(data.get("content")) or self.system
        elif kind == "session.binary_asset" and isinstance(data.get("data"), str):
            self.assets[text_of(data.get("assetId"))] = media_of("", data["data"])
        elif kind == "session.usage_record":
            self._bill(dict_of(data.get("usage")), line)
        elif kind == "session.compaction_start":
            self.began, self.started = len(self.sent), time
            self._sizes(data)
        elif kind == "session.compaction_complete":
            self._compacted(data, id, time, index)
        elif kind == "session.context_cleared":
            first = data.get("initialMessage")
            self._end(Compaction("clear", self.tokens, None, time, "removal"), [])
            self.prompts, self.tokens = [], None
            if isinstance(first, str) and first:
                self._add(Message(id, "user", (Text(first),), "normal", time, source=(index,)), side=False)
        elif kind == "session.snapshot_rewind":
            self._rewind(data.get("upToEventId"))
        elif kind == "session.truncation":
            count = data.get("messagesRemovedDuringTruncation")
            text = f"{as_text(count)} messages were not sent; the file does not say which"
            self.warn(text, line)
        elif kind == "session.shutdown":
            self._sizes(data)

    def _bill(self, usage: Mapping[str, Any], line: int) -> None:
        """What one call of the API was billed. `inputTokens` is all of the prompt, cached or not."""
        self.window.read(usage.get("maxPromptTokens"), line, self.warnings)
        sent, read, written = (count_of(usage.get(f"{name}Tokens")) for name in ("input", "cacheRead", "cacheWrite"))
        if id := text_of(usage.get("apiCallId")):
            fresh = max(0, sent - read - written)
            self.bills[id] = Usage(fresh, count_of(usage.get("outputTokens")), read, written)

    def _sizes(self, data: Mapping[str, Any]) -> None:
        """The CLI's own count of the context: the system prompt and the tools, and the messages."""
        system, tools, said = (
            count_of(data.get(f"{name}Tokens")) for name in ("system", "toolDefinitions", "conversation")
        )
        self.overhead = system + tools or self.overhead
        self.tokens = count_of(data.get("currentTokens")) or system + tools + said or self.tokens

    def _compacted(self, data: Mapping[str, Any], id: str, time: float | None, index: int) -> None:
        text = data.get("summaryContent")
        began, self.began = self.began, None
        if data.get("success") is False or not isinstance(text, str) or not text:
            return
        trigger = text_of(data.get("trigger")) or ("manual" if data.get("customInstructions") else "")
        before, after = count_of(data.get("preCompactionTokens")), count_of(data.get("postCompactionTokens"))
        framed = Text(_framed(text, [prompt.text for prompt in self.prompts]))
        source = (index, *(prompt.record for prompt in self.prompts))
        summary = Message(id, "user", (framed,), "summary", time, source=source)
        meanwhile = self.sent[began:] if began is not None else []
        kept = tuple(self.messages[number].id for number in meanwhile)
        started, self.started = self.started, None
        compaction = Compaction(
            trigger,
            before or self.tokens,
            id,
            time,
            tokens_after=after or None,
            kept=kept,
            background=bool(kept),
            seconds=round(time - started, 3) if time is not None and started is not None and time > started else None,
        )
        self._end(compaction, meanwhile)
        self._sizes(data)
        self.tokens = after or None
        self.sent.insert(0, self.add(summary))

    def _end(self, compaction: Compaction, stays: list[int]) -> None:
        if self.sent or self.epochs:
            self._sort_results()
            self.end_epoch(compaction)
        self.sent = stays

    def _sort_results(self) -> None:
        """Order what is sent: the results of a response behind it, in the order of its calls."""
        asked: dict[str, tuple[int, int]] = {}
        places: dict[int, tuple[int, int]] = {}
        for place, number in enumerate(self.sent):
            message = self.messages[number]
            asked |= {call.id: (place, nth) for nth, call in enumerate(message.calls, 1)}
            call_id = message.results[0].call_id if message.results else ""
            places[number] = asked.get(call_id, (place, 0))
        self.sent.sort(key=places.__getitem__)

    def _rewind(self, id: Any) -> None:
        """Drop an event's message and all later ones from the context."""
        first = self.events.get(id) if isinstance(id, str) else None
        if first is not None:
            self.gone.update(number for number in self.sent if number >= first)
            self.sent = [number for number in self.sent if number < first]
            self.prompts = [prompt for prompt in self.prompts if prompt.number < first]

    def finish(self) -> None:
        if not self.sent and not self.epochs and self.sides:  # a sub-agent's events alone
            self.sent, self.sides = list(range(len(self.messages))), set()
        self._sort_results()
        self.end_epoch()

    def session(self) -> Session:
        messages = with_user_text(self._with_bills(), _TAGS)
        gone = self.gone.difference(*(epoch.members for epoch in self.epochs)) | self.sides
        place = dict_of(self.about.get("context"))
        facts = SessionFacts(
            api_errors=tuple(self.errors),
            tokens_now=self.tokens,
            overhead=self.overhead,
            version=text_of(self.about.get("copilotVersion")),
            git_branch=text_of(place.get("branch")),
        )
        return self._session(
            ID,
            messages,
            branch=self.branch_without(gone),
            id=text_of(self.about.get("sessionId")),
            title=self.title,
            model=next((messages[n].model for n in reversed(self.sent) if messages[n].model), self.model),
            cwd=place["cwd"] if isinstance(place.get("cwd"), str) else None,
            system=self.system,
            facts=facts,
        )

    def _with_bills(self) -> Iterable[Message]:
        for number, message in enumerate(self.messages):
            usage = self.bills.get(self.billed.get(number, ""))
            yield replace(message, usage=usage) if usage else message


def _parted(text: str, typed: str) -> Iterable[Text]:
    """What was sent as what the person typed and what the CLI put around it."""
    if not typed or typed not in text:
        return [Text(text)] if text else []
    behind = text.find(f"\n\n{typed}")  # a date before it may hold the same words
    start = behind + 2 if behind >= 0 else text.index(typed)
    stop = start + len(typed)
    parts = (Text(text[:start], injected=True), Text(typed), Text(text[stop:], injected=True))
    return [part for part in parts if part.text]


def _result(data: Mapping[str, Any], id: str, time: float | None, index: int) -> Message:
    result, error = data.get("result"), data.get("error")
    failed = data.get("success") is False
    said: Any = result.get("content") if isinstance(result, dict) else result
    if failed and not said:
        said = error.get("message") if isinstance(error, dict) else error
    text = as_text(said) if said else ""
    parts = result.get("contents") if isinstance(result, dict) else None
    texts = [as_text(part.get("text")) for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    if len(texts) < 2 or "\n".join(texts) != text:  # parts may be for the screen; the content is what is sent
        texts = [text] if text else []
    content = tuple(Text(each) for each in texts)
    role: Role = "tool"
    call_id = as_text(data.get("toolCallId", ""))
    refused = _REFUSED.match(text)
    answer = ToolResult(call_id, content, failed, refused[1].strip() if refused else "")
    return Message(id, role, (answer,), time=time, source=(index,))


def _failure(kind: str, data: dict[str, Any]) -> Any:
    """The API error of an event: one of its own, or that which a hook was told; None for any other event."""
    if kind in ("session.error", "model.call_failure"):
        return data
    told = dict_of(data.get("input")) if kind == "hook.start" and data.get("hookType") == "errorOccurred" else {}
    return told.get("error") if told.get("errorContext") == "model_call" else None


def _framed(summary: str, prompts: Sequence[str]) -> str:
    opening, lead, one, closing = _FRAME
    said = "".join([lead, *(one.format(text) for text in prompts), "\n"]) if prompts else ""
    return opening + said + closing.format(summary)


def _text(value: Any) -> str | None:
    return intern(value) if isinstance(value, str) and value else None


def request_texts(session: Session) -> Iterator[str]:
    """Text at the end of each request whose messages Copilot CLI recorded, without the first message; "" for one
    without a text of the user."""
    return map(_last_text, session.records)


def _last_text(record: bytes) -> str:
    event = object_of(record) if b'"model.messages_snapshot"' in record else None
    messages = [dict_of(one) for one in list_of(dict_of(dict_of(event).get("data")).get("messages"))]
    asked = [one.get("content") for one in messages[1:] if one.get("role") == "user"]
    return text_of(asked[-1]).strip() if asked else ""
