"""Reading: pi."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from sys import intern
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.stamps import seconds_of
from workbench.base.text import are, counted
from workbench.formats.format import Progress
from workbench.formats.kit.blocks import as_text, in_result, kind_of, parts_of
from workbench.formats.kit.jsonl import objects_of, records_of
from workbench.formats.kit.mark import SPENT, marked, without_spent
from workbench.formats.kit.said import with_said
from workbench.formats.kit.titles import first_words
from workbench.formats.kit.values import dict_of, dollars_of, text_of
from workbench.formats.pi.append import WRAPPED
from workbench.formats.pi.failures import failure_of
from workbench.formats.pi.signature import ID
from workbench.session import (
    ApiError,
    Block,
    Compaction,
    Epoch,
    Kind,
    LoadWarning,
    Message,
    Opaque,
    Records,
    Role,
    Session,
    SessionFacts,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Usage,
)
from workbench.session.images import media_of

_CAME_BACK = "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n{}</summary>"
_SILENT = ("model_change", "thinking_level_change", "custom", "label", "session_info")
_CUSTOM = ("custom", "hookMessage")
"""Roles of messages that an extension put into the context; the second is version 2's name."""

_TAGS = ("file", "skill")
"""What pi puts before a person's words: the files named with `@`, and the skill that was called."""


@dataclass(slots=True)
class _Entry:
    """A line of the tree. `message` numbers the message it holds, -1 for none."""

    parent: str | None
    index: int
    message: int = -1
    compaction: Mapping[str, Any] | None = None
    sent: bool = False


@dataclass(slots=True)
class _Reading:
    """What has been read so far. `places` are entry ids by their place in the file, as version 1 names them; `spent` is
    the number of the last message that bears this program's mark."""

    records: Records
    messages: list[Message] = field(default_factory=list)
    entries: dict[str, _Entry] = field(default_factory=dict)
    places: list[str] = field(default_factory=list)
    header: Mapping[str, Any] = field(default_factory=dict)
    last: str | None = None
    spent: int = -1
    name: str = ""
    warnings: list[LoadWarning] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    errors: list[ApiError] = field(default_factory=list)


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read a session of any version. Raises BadInput when it has no message."""
    reading = _Reading(Records(data))
    for value, index, line in objects_of(records_of(data), len(data), reading.records, reading.warnings, progress):
        _take(reading, value, index, line)
    if not reading.messages:
        raise BadInput(f"{path} is a pi session without a single message; name another one.")
    return _session(path, reading)


def _take(reading: _Reading, value: dict[str, Any], index: int, line: int) -> None:
    if value.get("type") == "session":
        reading.header = reading.header or value
        reading.places.append("")
        return
    given = value.get("id")
    id = given if isinstance(given, str) and given and given not in reading.entries else f"entry-{index + 1}"
    if isinstance(given, str) and given in reading.entries:
        reading.warnings.append(LoadWarning(f"has the id {given!r} of an earlier entry; both are kept", line))
    parent = value.get("parentId")
    linked = "parentId" in value
    entry = _Entry((parent if isinstance(parent, str) else None) if linked else reading.last, index)
    if linked and isinstance(parent, str) and parent not in reading.entries:
        reading.warnings.append(LoadWarning("its parent is missing; the entry before is taken for it", line))
        entry.parent = reading.last
    message, entry.sent = _message(reading, value, id, index)
    if message is not None:
        entry.message = len(reading.messages)
        reading.spent = entry.message if value.get(SPENT) is True else reading.spent
        reading.messages.append(message)
    if error := failure_of(value, id, line):
        reading.errors.append(error)
    if value.get("type") == "compaction":
        entry.compaction = value
    reading.entries[id] = entry
    reading.places.append(id)
    reading.last = id


def _message(reading: _Reading, value: dict[str, Any], id: str, index: int) -> tuple[Message | None, bool]:
    """The message of an entry, if it has one, and whether it is sent to the model."""
    kind, time = value.get("type"), seconds_of(value.get("timestamp"))
    if kind == "message" and isinstance(body := value.get("message"), dict):
        return _spoken(body, value, id, time, index)
    if kind == "compaction":
        text = WRAPPED.format(as_text(value.get("summary", "")))
        return Message(id, "user", (Text(text),), "summary", time, source=(index,)), True
    if kind == "branch_summary" and value.get("summary"):
        text = _CAME_BACK.format(as_text(value["summary"]))
        return Message(id, "user", (Text(text),), "meta", time, source=(index,)), True
    if kind == "custom_message":
        return Message(id, "user", parts_of(value.get("content"), _block), "meta", time, source=(index,)), True
    if kind == "session_info" and isinstance(value.get("name"), str):
        reading.name = value["name"]
    elif kind not in _SILENT and kind != "branch_summary":
        reading.unknown[str(kind)] += 1
    return None, False


def _spoken(
    body: dict[str, Any], entry: Mapping[str, Any], id: str, time: float | None, index: int
) -> tuple[Message, bool]:
    role = body.get("role")
    time = seconds_of(body.get("timestamp")) or time
    source = (index,)
    if role == "assistant":
        blocks = parts_of(body.get("content"), _block)
        failed = body.get("stopReason") in ("aborted", "error")
        usage = None if failed else _usage(body.get("usage"))
        model = body.get("model")
        name = intern(model) if isinstance(model, str) else None
        kind: Kind = marked(entry) or "normal"
        return Message(id, "assistant", blocks, kind, time, usage, name, source), not failed and bool(blocks)
    if role == "toolResult":
        content = tuple(
            in_result(block, block.raw if isinstance(block, Opaque) else "")
            for block in parts_of(body.get("content"), _block)
        )
        result = ToolResult(as_text(body.get("toolCallId", "")), content, body.get("isError") is True)
        return Message(id, "tool", (result,), time=time, source=source), True
    if role == "bashExecution":
        text = Text(_executed(body))
        return Message(id, "user", (text,), "meta", time, source=source), body.get("excludeFromContext") is not True
    made: Role = "user"
    blocks = parts_of(body.get("content"), _block)
    meta = role in _CUSTOM or role != "user"
    kind = marked(entry) or ("meta" if meta else kind_of("user", blocks))
    return Message(id, made, blocks, kind, time, source=source), bool(blocks)


def _block(part: Any) -> Block:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "text" and isinstance(part.get("text"), str):
        return Text(part["text"])
    if kind == "thinking" and isinstance(part.get("thinking"), str):
        signature = part.get("thinkingSignature")
        return Thinking(part["thinking"], text_of(signature))
    if kind == "toolCall" and isinstance(part.get("id"), str) and isinstance(part.get("name"), str):
        given = part.get("arguments")
        given = given if isinstance(given, dict) else "" if given is None else as_text(given)
        return ToolUse(part["id"], intern(part["name"]), given)
    if kind == "image":
        return media_of(as_text(part.get("mimeType") or "image"), as_text(part.get("data", "")))
    return Opaque(kind if isinstance(kind, str) else type(part).__name__, part)


def _executed(body: Mapping[str, Any]) -> str:
    """A command of the person's as pi tells the model of it."""
    output, code = body.get("output"), body.get("exitCode")
    text = f"Ran `{as_text(body.get('command', ''))}`\n" + (f"```\n{as_text(output)}\n```" if output else "(no output)")
    if body.get("cancelled") is True:
        text += "\n\n(command cancelled)"
    elif type(code) is int and code:
        text += f"\n\nCommand exited with code {code}"
    if body.get("truncated") is True and body.get("fullOutputPath"):
        text += f"\n\n[Output truncated. Full output: {as_text(body['fullOutputPath'])}]"
    return text


def _usage(given: Any) -> Usage | None:
    """Tokens and dollars of a call; None for zeros, which no call costs."""
    if not isinstance(given, dict):
        return None
    counts = [given.get(key) for key in ("input", "output", "cacheRead", "cacheWrite")]
    sent, made, read, written = (count if type(count) is int and count > 0 else 0 for count in counts)
    usage = Usage(sent, made, read, written, cost=dollars_of(dict_of(given.get("cost")).get("total")))
    return usage if usage.context else None


def _session(path: Path, reading: _Reading) -> Session:
    way = _path(reading)
    branch = [reading.entries[id].message for id in way if reading.entries[id].message >= 0]
    epochs = _epochs(reading, way)
    warnings = [
        LoadWarning(f"{counted(n, 'entry')} of unknown type {kind!r} {are(n)} kept, but not shown")
        for kind, n in reading.unknown.items()
    ]
    header = reading.header
    cwd, id = header.get("cwd"), header.get("id")
    messages = with_said(without_spent(reading.messages, epochs[-1].members, reading.spent), _TAGS)
    spoken = [messages[number] for number in branch]
    return Session(
        format=ID,
        path=path,
        messages=messages,
        branch=branch if len(branch) < len(messages) else range(len(messages)),
        epochs=epochs,
        records=reading.records,
        id=text_of(id),
        title=reading.name or first_words(spoken),
        model=next((m.model for m in reversed(spoken) if m.model), None),
        cwd=cwd if isinstance(cwd, str) else None,
        warnings=tuple(reading.warnings + warnings),
        facts=SessionFacts(api_errors=tuple(reading.errors)),
    )


def _path(reading: _Reading) -> list[str]:
    """Entry ids from the root to the leaf, the newest entry."""
    found: list[str] = []
    seen: set[str] = set()
    at = reading.last
    while at is not None and at not in seen and at in reading.entries:
        seen.add(at)
        found.append(at)
        at = reading.entries[at].parent
    return found[::-1]


def _epochs(reading: _Reading, way: list[str]) -> tuple[Epoch, ...]:
    """Divide the path at its compactions: each begins with a summary and what it kept."""
    epochs: list[Epoch] = []
    members: list[int] = []
    place = {id: number for number, id in enumerate(way)}
    for number, id in enumerate(way):
        entry = reading.entries[id]
        if entry.compaction is None:
            if entry.sent:
                members.append(entry.message)
            continue
        first = place.get(_first_kept(reading, entry.compaction), number)
        before = (reading.entries[each] for each in way[first:number])
        kept = [each.message for each in before if each.sent and each.compaction is None]
        if members or epochs:
            epochs.append(Epoch(len(epochs) + 1, array("q", members), _compaction(reading, entry, kept)))
        members = [entry.message, *kept]
    return (*epochs, Epoch(len(epochs) + 1, array("q", members)))


def _first_kept(reading: _Reading, compaction: Mapping[str, Any]) -> str:
    index = compaction.get("firstKeptEntryIndex")
    if "version" not in reading.header and type(index) is int and 0 <= index < len(reading.places):
        return reading.places[index]
    id = compaction.get("firstKeptEntryId")
    return text_of(id)


def _compaction(reading: _Reading, entry: _Entry, kept: list[int]) -> Compaction:
    about = entry.compaction or {}
    tokens = about.get("tokensBefore")
    summary = reading.messages[entry.message]
    trigger = "hook" if about.get("fromHook") is True else ""
    before = tokens if type(tokens) is int else None
    stayed = tuple(reading.messages[number].id for number in kept)
    return Compaction(trigger, before, summary.id, summary.time, kept=stayed)
