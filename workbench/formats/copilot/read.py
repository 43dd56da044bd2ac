"""Reading: Copilot CLI events."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from sys import intern
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.stamps import seconds_of
from workbench.formats.copilot.signature import ID
from workbench.formats.format import Progress
from workbench.formats.kit.blocks import as_text, kind_of
from workbench.formats.kit.ids import unique_id
from workbench.formats.kit.jsonl import objects_of, records_of
from workbench.formats.kit.mark import marked
from workbench.formats.kit.titles import first_words
from workbench.formats.kit.values import dict_of, list_of, text_of
from workbench.formats.kit.window import RecordedWindow
from workbench.session.message import Block, Kind, Media, Message, Opaque, Role, Text, Thinking, ToolResult, ToolUse
from workbench.session.session import Compaction, Epoch, LoadWarning, Records, Session, SessionFacts

_TELL_WINDOW = {
    "session.compaction_complete": "tokenLimit",
    "session.truncation": "tokenLimit",
    "session.usage_info": "tokenLimit",
    "session.usage_record": "maxPromptTokens",
}
"""Events that record the context window, in this field; older versions record none."""


@dataclass(slots=True)
class _Reading:
    """What has been read so far. `history` numbers the messages that the model would be sent now; `began` is how many
    of them there were when the compaction that runs began."""

    records: Records
    messages: list[Message] = field(default_factory=list)
    history: list[int] = field(default_factory=list)
    sides: set[int] = field(default_factory=set)
    gone: set[int] = field(default_factory=set)
    epochs: list[Epoch] = field(default_factory=list)
    events: dict[str, int] = field(default_factory=dict)
    ids: dict[str, int] = field(default_factory=dict)
    calls: set[str] = field(default_factory=set)
    warnings: list[LoadWarning] = field(default_factory=list)
    about: dict[str, Any] = field(default_factory=dict)
    system: str = ""
    model: str | None = None
    title: str = ""
    began: int | None = None
    tokens: int | None = None
    window: RecordedWindow = field(default_factory=RecordedWindow)
    steering: str = ""


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read an events file. Raises BadInput when it has no message."""
    reading = _Reading(Records(data))
    for value, index, line in objects_of(records_of(data), len(data), reading.records, reading.warnings, progress):
        if isinstance(value.get("data"), dict):
            _take(reading, value, value["data"], index, line)
        else:
            reading.warnings.append(LoadWarning("not an event; kept as it is, not shown", line))
    if not reading.messages:
        raise BadInput(f"{path} is a Copilot CLI session without a single message; name another one.")
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
    text = sent if isinstance(sent, str) and sent else as_text(content or "")
    if not side and text and text == reading.steering:
        reading.steering = ""  # announced by one event, repeated by the next
        return None
    reading.steering = text if data.get("delivery") == "steering" and not content else ""
    blocks: list[Block] = [Text(text)] if text else []
    attachments = data.get("attachments")
    blocks += (
        Media(as_text(attached.get("mimeType") or "file"), len(attached["data"]))
        for attached in (list_of(attachments))
        if isinstance(attached, dict) and isinstance(attached.get("data"), str)
    )
    own = data.get("source") in (None, "user")
    kind: Kind = marked(data) or (kind_of("user", [Text(as_text(content or text))]) if own else "meta")
    if not side and kind == "normal" and not reading.title:
        words = Message("", "user", (Text(as_text(content or text)),))
        reading.title = first_words([words])
    return Message(id, "user", tuple(blocks), kind, time, source=(index,))


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
    return Message(id, role, (ToolResult(call_id, content, failed),), time=time, source=(index,))


def _about(
    reading: _Reading, kind: str, data: dict[str, Any], id: str, time: float | None, index: int, line: int
) -> None:
    """An event that is no message."""
    if kind in _TELL_WINDOW:
        reading.window.read(data.get(_TELL_WINDOW[kind]), line, reading.warnings)
    if kind == "session.start":
        reading.about = data
        reading.model = _text(data.get("selectedModel")) or reading.model
    elif kind == "session.model_change":
        reading.model = _text(data.get("newModel")) or reading.model
    elif kind == "system.message":
        reading.system = _text(data.get("content")) or reading.system
    elif kind == "session.compaction_start":
        reading.began = len(reading.history)
        counts = [data.get(key) for key in ("systemTokens", "conversationTokens", "toolDefinitionsTokens")]
        reading.tokens = sum(count for count in counts if type(count) is int) or None
    elif kind == "session.compaction_complete":
        _compacted(reading, data, id, time, index)
    elif kind == "session.context_cleared":
        first = data.get("initialMessage")
        _end(reading, Compaction("clear", reading.tokens, None, time), [])
        if isinstance(first, str) and first:
            _add(reading, Message(id, "user", (Text(first),), "normal", time, source=(index,)), side=False)
    elif kind == "session.snapshot_rewind":
        _rewind(reading, data.get("upToEventId"))
    elif kind == "session.truncation":
        count = data.get("messagesRemovedDuringTruncation")
        text = f"{as_text(count)} messages were left out of what was sent, and the file does not say which"
        reading.warnings.append(LoadWarning(text, line))
    elif kind == "session.shutdown":
        current = data.get("currentTokens")
        reading.tokens = current if type(current) is int else reading.tokens


def _compacted(reading: _Reading, data: Mapping[str, Any], id: str, time: float | None, index: int) -> None:
    text = data.get("summaryContent")
    began, reading.began = reading.began, None
    if data.get("success") is False or not isinstance(text, str) or not text:
        return
    before = data.get("preCompactionTokens")
    manual = "manual" if data.get("customInstructions") else ""
    summary = Message(id, "user", (Text(text),), "summary", time, source=(index,))
    meanwhile = reading.history[began:] if began is not None else []
    _end(reading, Compaction(manual, before if type(before) is int else reading.tokens, id, time), meanwhile)
    reading.history.insert(0, len(reading.messages))
    reading.messages.append(summary)


def _end(reading: _Reading, compaction: Compaction, stays: list[int]) -> None:
    if reading.history or reading.epochs:
        number, members = len(reading.epochs) + 1, array("q", reading.history)
        reading.epochs.append(Epoch(number, members, compaction, window=reading.window.tokens))
    reading.history = list(stays)


def _rewind(reading: _Reading, id: Any) -> None:
    """Drop an event's message and all later ones from the context."""
    first = reading.events.get(id) if isinstance(id, str) else None
    if first is not None:
        reading.gone.update(number for number in reading.history if number >= first)
        reading.history = [number for number in reading.history if number < first]


def _text(value: Any) -> str | None:
    return intern(value) if isinstance(value, str) and value else None


def _session(path: Path, reading: _Reading) -> Session:
    messages, about = tuple(reading.messages), reading.about
    if not reading.history and not reading.epochs and reading.sides:  # a sub-agent's events alone
        reading.history, reading.sides = list(range(len(messages))), set()
    newest = Epoch(len(reading.epochs) + 1, array("q", reading.history), window=reading.window.tokens)
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
            tokens_now=reading.tokens,
            version=text_of(about.get("copilotVersion")),
            git_branch=text_of(place.get("branch")),
        ),
    )
