"""Reading: Copilot CLI events.

What is sent where it differs from what the events say was seen by the CLI 1.0.102 that resumed such files: a summary in
its frame, results behind their call in its order.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from sys import intern
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.stamps import seconds_of
from workbench.formats.agent_texts import kind_of, with_user_text
from workbench.formats.copilot.signature import ID
from workbench.formats.format import Progress
from workbench.formats.kit.api_errors import api_error
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.ids import unique_id
from workbench.formats.kit.jsonl import objects_of, records_of
from workbench.formats.kit.mark import marked
from workbench.formats.kit.titles import first_words
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of
from workbench.formats.kit.window import RecordedWindow
from workbench.session import ApiError
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
from workbench.session.session import Compaction, Epoch, LoadWarning, Records, Session, SessionFacts

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


@dataclass(slots=True)
class _Reading:
    """What has been read so far. `history` numbers the messages that the model would be sent now; `began` is how many
    of them there were when the compaction that runs `started`. `prompts` are what the person typed since the context
    was last cleared, `assets` attached data by their ids. `bills` are recorded usages by the id of their
    API call, `billed` the calls that gave the messages."""

    records: Records
    messages: list[Message] = field(default_factory=list)
    history: list[int] = field(default_factory=list)
    sides: set[int] = field(default_factory=set)
    gone: set[int] = field(default_factory=set)
    epochs: list[Epoch] = field(default_factory=list)
    events: dict[str, int] = field(default_factory=dict)
    ids: dict[str, int] = field(default_factory=dict)
    calls: set[str] = field(default_factory=set)
    prompts: list[_Prompt] = field(default_factory=list)
    bills: dict[str, Usage] = field(default_factory=dict)
    billed: dict[int, str] = field(default_factory=dict)
    warnings: list[LoadWarning] = field(default_factory=list)
    about: dict[str, Any] = field(default_factory=dict)
    system: str = ""
    model: str | None = None
    title: str = ""
    began: int | None = None
    started: float | None = None
    tokens: int | None = None
    overhead: int | None = None
    window: RecordedWindow = field(default_factory=RecordedWindow)
    assets: dict[str, Media] = field(default_factory=dict)
    steering: str = ""
    errors: list[ApiError] = field(default_factory=list)


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read an events file. Raises BadInput when it has no message."""
    reading = _Reading(Records(data))
    for value, index, line in objects_of(records_of(data), len(data), reading.records, reading.warnings, progress):
        if isinstance(value.get("data"), dict):
            _take(reading, value, value["data"], index, line)
        else:
            reading.warnings.append(LoadWarning("not an event; kept in the file, not shown", line))
    if not reading.messages:
        raise BadInput(f"{path} is a Copilot CLI session without messages; open another file.")
    return _session(path, reading)


def _take(reading: _Reading, event: dict[str, Any], data: dict[str, Any], index: int, line: int) -> None:
    kind = event.get("type")
    side = bool(event.get("agentId") or data.get("parentToolCallId"))
    named = event.get("id")
    id = unique_id(named if isinstance(named, str) and named else f"event-{index + 1}", reading.ids)
    if not side:
        reading.events[id] = len(reading.messages)
    time = seconds_of(event.get("timestamp"))
    message: Message | None = None
    if kind == "user.message":
        message = _user(reading, data, id, time, index, side=side)
    elif kind == "assistant.message":
        message = _assistant(reading, data, id, time, index)
        reading.billed[len(reading.messages)] = text_of(data.get("apiCallId"))
    elif kind == "tool.execution_complete":
        message = _result(data, id, time, index)
    elif kind == "system.notification" and data.get("content"):
        message = Message(id, "user", (Text(as_text(data["content"])),), "meta", time, source=(index,))
    elif not side:
        _about(reading, str(kind), data, id, time, index, line)
    if message is not None:
        _add(reading, message, side=side)


def _add(reading: _Reading, message: Message, *, side: bool) -> None:
    number = len(reading.messages)
    reading.messages.append(message)
    if side:
        reading.sides.add(number)
    elif message.blocks and (message.role != "tool" or message.results[0].call_id in reading.calls):
        reading.history.append(number)  # a result without a call is of a command of the person's own


def _user(
    reading: _Reading, data: Mapping[str, Any], id: str, time: float | None, index: int, *, side: bool
) -> Message | None:
    content, sent = data.get("content"), data.get("transformedContent")
    typed = as_text(content or "")
    text = sent if isinstance(sent, str) and sent else typed
    if not side and text and text == reading.steering:
        reading.steering = ""  # announced by one event, repeated by the next
        return None
    reading.steering = text if data.get("delivery") == "steering" and not content else ""
    own = data.get("source") in (None, "user")
    blocks: list[Block] = [*_parted(text, typed if own else "")]
    attachments = [dict_of(attached) for attached in list_of(data.get("attachments"))]
    if tagged := [entry for attached in attachments if (entry := text_of(attached.get("taggedFilesEntry")))]:
        blocks.append(Text("\n".join(["\n\n\n\n<tagged_files>", *tagged, "</tagged_files>"]), injected=True))
    blocks += (block for attached in attachments for block in _attached(reading, attached))
    kind: Kind = marked(data) or (kind_of("user", [Text(typed or text)]) if own else "meta")
    if own and not side and typed:
        reading.prompts.append(_Prompt(len(reading.messages), index, typed))
    if not side and kind == "normal" and not reading.title:
        reading.title = first_words([Message("", "user", (Text(typed or text),))])
    return Message(id, "user", tuple(blocks), kind, time, source=(index,))


def _attached(reading: _Reading, attached: Mapping[str, Any]) -> Iterator[Block]:
    """A file that is sent as it is; before an image stands a line that names it."""
    kept = text_of(attached.get("assetId"))
    media_type = text_of(attached.get("mimeType")) or "file"
    data = attached.get("data")
    media = media_of(media_type, data) if isinstance(data, str) else reading.assets.get(kept, Media("", 0))
    if not media.size or attached.get("taggedFilesEntry"):
        return
    path, name = text_of(attached.get("path")), text_of(attached.get("displayName"))
    if media_type.startswith("image/"):
        label = f"Image file at path {path}" if path else name or "Attached image"
        yield Text(label, injected=True)
    yield Media(media_type, media.size, media.pixels)


def _parted(text: str, typed: str) -> Iterable[Text]:
    """What was sent as what the person typed and what the CLI put around it."""
    if not typed or typed not in text:
        return [Text(text)] if text else []
    behind = text.find(f"\n\n{typed}")  # a date before it may hold the same words
    start = behind + 2 if behind >= 0 else text.index(typed)
    stop = start + len(typed)
    parts = (Text(text[:start], injected=True), Text(typed), Text(text[stop:], injected=True))
    return [part for part in parts if part.text]


def _assistant(reading: _Reading, data: Mapping[str, Any], id: str, time: float | None, index: int) -> Message:
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
            reading.calls.add(request["toolCallId"])
        else:
            blocks.append(Opaque("toolRequest", request))
    model = data.get("model")
    name = intern(model) if isinstance(model, str) else None
    return Message(id, "assistant", tuple(blocks), marked(data) or "normal", time, model=name, source=(index,))


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


def _about(
    reading: _Reading, kind: str, data: dict[str, Any], id: str, time: float | None, index: int, line: int
) -> None:
    """An event that is no message."""
    if error := _failure(kind, data):
        reading.errors.append(api_error(id, error, time, line))
    if kind in _TELL_WINDOW:
        reading.window.read(data.get(_TELL_WINDOW[kind]), line, reading.warnings)
    if kind == "session.start":
        reading.about = data
        reading.model = _text(data.get("selectedModel")) or reading.model
    elif kind == "session.model_change":
        reading.model = _text(data.get("newModel")) or reading.model
    elif kind == "system.message":
        reading.system = _text(data.get("content")) or reading.system
    elif kind == "session.binary_asset" and isinstance(data.get("data"), str):
        reading.assets[text_of(data.get("assetId"))] = media_of("", data["data"])
    elif kind == "session.usage_record":
        _bill(reading, dict_of(data.get("usage")), line)
    elif kind == "session.compaction_start":
        reading.began, reading.started = len(reading.history), time
        _sizes(reading, data)
    elif kind == "session.compaction_complete":
        _compacted(reading, data, id, time, index)
    elif kind == "session.context_cleared":
        first = data.get("initialMessage")
        _end(reading, Compaction("clear", reading.tokens, None, time, "removal"), [])
        reading.prompts, reading.tokens = [], None
        if isinstance(first, str) and first:
            _add(reading, Message(id, "user", (Text(first),), "normal", time, source=(index,)), side=False)
    elif kind == "session.snapshot_rewind":
        _rewind(reading, data.get("upToEventId"))
    elif kind == "session.truncation":
        count = data.get("messagesRemovedDuringTruncation")
        text = f"{as_text(count)} messages were not sent; the file does not say which"
        reading.warnings.append(LoadWarning(text, line))
    elif kind == "session.shutdown":
        _sizes(reading, data)


def _bill(reading: _Reading, usage: Mapping[str, Any], line: int) -> None:
    """What one call of the API was billed. `inputTokens` is all of the prompt, cached or not."""
    reading.window.read(usage.get("maxPromptTokens"), line, reading.warnings)
    sent, read, written = (count_of(usage.get(f"{name}Tokens")) for name in ("input", "cacheRead", "cacheWrite"))
    if id := text_of(usage.get("apiCallId")):
        fresh = max(0, sent - read - written)
        reading.bills[id] = Usage(fresh, count_of(usage.get("outputTokens")), read, written)


def _sizes(reading: _Reading, data: Mapping[str, Any]) -> None:
    """The CLI's own count of the context: the system prompt and the tools, and the messages."""
    system, tools, said = (
        count_of(data.get(f"{name}Tokens")) for name in ("system", "toolDefinitions", "conversation")
    )
    reading.overhead = system + tools or reading.overhead
    reading.tokens = count_of(data.get("currentTokens")) or system + tools + said or reading.tokens


def _compacted(reading: _Reading, data: Mapping[str, Any], id: str, time: float | None, index: int) -> None:
    text = data.get("summaryContent")
    began, reading.began = reading.began, None
    if data.get("success") is False or not isinstance(text, str) or not text:
        return
    trigger = text_of(data.get("trigger")) or ("manual" if data.get("customInstructions") else "")
    before, after = count_of(data.get("preCompactionTokens")), count_of(data.get("postCompactionTokens"))
    framed = Text(_framed(text, [prompt.text for prompt in reading.prompts]))
    source = (index, *(prompt.record for prompt in reading.prompts))
    summary = Message(id, "user", (framed,), "summary", time, source=source)
    meanwhile = reading.history[began:] if began is not None else []
    kept = tuple(reading.messages[number].id for number in meanwhile)
    started, reading.started = reading.started, None
    compaction = Compaction(
        trigger,
        before or reading.tokens,
        id,
        time,
        tokens_after=after or None,
        kept=kept,
        background=bool(kept),
        seconds=round(time - started, 3) if time is not None and started is not None and time > started else None,
    )
    _end(reading, compaction, meanwhile)
    _sizes(reading, data)
    reading.tokens = after or None
    reading.history.insert(0, len(reading.messages))
    reading.messages.append(summary)


def _framed(summary: str, prompts: Sequence[str]) -> str:
    opening, lead, one, closing = _FRAME
    said = "".join([lead, *(one.format(text) for text in prompts), "\n"]) if prompts else ""
    return opening + said + closing.format(summary)


def _end(reading: _Reading, compaction: Compaction, stays: list[int]) -> None:
    if reading.history or reading.epochs:
        number = len(reading.epochs) + 1
        reading.epochs.append(Epoch(number, _sent(reading), compaction, window=reading.window.tokens))
    reading.history = list(stays)


def _sent(reading: _Reading) -> array[int]:
    """The history as it is sent: the results of a response behind it, in the order of its calls."""
    asked: dict[str, tuple[int, int]] = {}
    places: dict[int, tuple[int, int]] = {}
    for place, number in enumerate(reading.history):
        message = reading.messages[number]
        asked |= {call.id: (place, nth) for nth, call in enumerate(message.calls, 1)}
        call_id = message.results[0].call_id if message.results else ""
        places[number] = asked.get(call_id, (place, 0))
    return array("q", sorted(reading.history, key=places.__getitem__))


def _rewind(reading: _Reading, id: Any) -> None:
    """Drop an event's message and all later ones from the context."""
    first = reading.events.get(id) if isinstance(id, str) else None
    if first is not None:
        reading.gone.update(number for number in reading.history if number >= first)
        reading.history = [number for number in reading.history if number < first]
        reading.prompts = [prompt for prompt in reading.prompts if prompt.number < first]


def _text(value: Any) -> str | None:
    return intern(value) if isinstance(value, str) and value else None


def _session(path: Path, reading: _Reading) -> Session:
    if not reading.history and not reading.epochs and reading.sides:  # a sub-agent's events alone
        reading.history, reading.sides = list(range(len(reading.messages))), set()
    messages, about = with_user_text(_with_bills(reading), _TAGS), reading.about
    newest = Epoch(len(reading.epochs) + 1, _sent(reading), window=reading.window.tokens)
    epochs = (*reading.epochs, newest)
    gone = reading.gone.difference(*(epoch.members for epoch in epochs)) | reading.sides
    place = dict_of(about.get("context"))
    id, cwd = about.get("sessionId"), place.get("cwd")
    return Session(
        format=ID,
        path=path,
        messages=messages,
        branch=[number for number in range(len(messages)) if number not in gone] if gone else range(len(messages)),
        epochs=epochs,
        records=reading.records,
        id=text_of(id),
        title=reading.title,
        model=next((messages[n].model for n in reversed(reading.history) if messages[n].model), reading.model),
        cwd=cwd if isinstance(cwd, str) else None,
        system=reading.system,
        warnings=tuple(reading.warnings),
        facts=SessionFacts(
            api_errors=tuple(reading.errors),
            tokens_now=reading.tokens,
            overhead=reading.overhead,
            version=text_of(about.get("copilotVersion")),
            git_branch=text_of(place.get("branch")),
        ),
    )


def _with_bills(reading: _Reading) -> Iterable[Message]:
    for number, message in enumerate(reading.messages):
        usage = reading.bills.get(reading.billed.get(number, ""))
        yield replace(message, usage=usage) if usage else message
