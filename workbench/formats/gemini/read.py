"""Reading: Gemini CLI."""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.stamps import seconds_of
from workbench.formats.format import Progress
from workbench.formats.gemini.parts import NOWHERE, Calls, is_sent, messages_of
from workbench.formats.gemini.signature import ID
from workbench.formats.kit.document import parse
from workbench.formats.kit.json_spans import array_items, object_items
from workbench.formats.kit.jsonl import Record, records_of
from workbench.formats.kit.stale import without_stale
from workbench.formats.kit.titles import first_words
from workbench.formats.kit.values import text_of
from workbench.session import Compaction, Epoch, LoadWarning, Message, Records, Session, SessionFacts, ToolResult

_FACTS = ("sessionId", "projectHash", "summary", "kind", "directories", "startTime")


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read a session of either form. Raises BadInput when it has no message."""
    reading = _Reading(Records(data))
    progress(0, len(data))
    if _is_document(data):
        document, reading.warnings = parse(path, data)
        _document(path, reading, document)
    else:
        for record in records_of(data):
            _line(reading, record)
            if not record.line % 1000:
                progress(record.start, len(data))
    progress(len(data), len(data))
    if not reading.slots:
        raise BadInput(f"{path} is a Gemini CLI session without a single message; name another one.")
    return _session(path, reading)


def _is_document(data: bytes) -> bool:
    first = next(iter(records_of(data)), None)
    if first is None or not isinstance(first.value, dict):
        return True
    return "messages" in first.value and not data[first.stop :].strip()


@dataclass(slots=True)
class _Slot:
    """A message record: the newest of its id, while no compression lies between."""

    id: str
    value: Mapping[str, Any]
    source: int


@dataclass(slots=True)
class _Reading:
    """What has been read so far. `current` is the history now, record id to slot, in its order."""

    records: Records
    slots: list[_Slot] = field(default_factory=list)
    current: dict[str, int] = field(default_factory=dict)
    ended: list[tuple[list[int], Compaction]] = field(default_factory=list)
    closed: set[int] = field(default_factory=set)
    rewound: set[int] = field(default_factory=set)
    warnings: list[LoadWarning] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    unknown: int = 0


def _document(path: Path, reading: _Reading, document: Any) -> None:
    items = document.get("messages") if isinstance(document, dict) else None
    if not isinstance(items, list):
        raise BadInput(f"{path}: has no list of messages; open a whole session file of Gemini CLI.")
    _facts(reading, document)
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            reading.warnings.append(LoadWarning(f"message {index + 1} is not an object; kept as it is, not shown"))
            continue
        id = item.get("id")
        _put(reading, id if isinstance(id, str) and id not in reading.current else f"message-{index + 1}", item, index)


def _line(reading: _Reading, record: Record) -> None:
    index = reading.records.add(record.start, record.stop, record.line)
    value = record.value
    if record.problem:
        reading.warnings.append(LoadWarning(record.problem, record.line))
    if not isinstance(value, dict):
        if record.readable:
            reading.warnings.append(LoadWarning("not a JSON object; kept as it is, not shown", record.line))
    elif isinstance(value.get("$rewindTo"), str):
        _rewind(reading, value["$rewindTo"])
    elif isinstance(value.get("id"), str):
        _put(reading, value["id"], value, index)
    elif isinstance(changes := value.get("$set"), dict):
        if isinstance(changes.get("messages"), list):
            _replace(reading, changes["messages"], index, "$set", seconds_of(changes.get("lastUpdated")))
        _facts(reading, changes)
    elif isinstance(value.get("sessionId"), str):
        if isinstance(value.get("messages"), list):
            _replace(reading, value["messages"], index, None, None)
        _facts(reading, value)
    else:
        reading.unknown += 1


def _facts(reading: _Reading, value: Mapping[str, Any]) -> None:
    reading.facts |= {key: value[key] for key in _FACTS if key in value}


def _put(reading: _Reading, id: str, value: Mapping[str, Any], source: int) -> None:
    slot = reading.current.get(id)
    if slot is not None and slot not in reading.closed:
        reading.slots[slot] = _Slot(id, value, source)
        return
    reading.current[id] = len(reading.slots)
    reading.slots.append(_Slot(id, value, source))


def _rewind(reading: _Reading, id: str) -> None:
    """Remove a message and all later ones; all of them where there is no such message, as the loader does."""
    ids = list(reading.current)
    for gone in ids[ids.index(id) if id in reading.current else 0 :]:
        reading.rewound.add(reading.current.pop(gone))


def _replace(reading: _Reading, items: list[Any], index: int, key: str | None, time: float | None) -> None:
    """Put a new history in place of the present one. It ends an epoch if messages are gone that were sent."""
    before = reading.current
    spans = _spans(reading, index, key)
    ids = {item["id"] for item in items if isinstance(item, dict) and isinstance(item.get("id"), str)}
    reading.current = {}
    if any(id not in ids and is_sent(reading.slots[slot].value) for id, slot in before.items()):
        reading.ended.append((list(before.values()), Compaction(time=time)))
        reading.closed.update(before.values())
    for place, item in enumerate(items):
        if not isinstance(item, dict) or not isinstance(id := item.get("id"), str):
            line = reading.records.lines[index]
            reading.warnings.append(LoadWarning("a new history holds an entry without an id, which is not sent", line))
            continue
        slot = before.get(id)
        if slot is not None and reading.slots[slot].value == item:
            reading.current[id] = slot
            continue
        source = NOWHERE if spans is None else reading.records.add(*spans[place], reading.records.lines[index])
        if slot is not None and slot not in reading.closed:
            reading.slots[slot] = _Slot(id, item, source)
            reading.current[id] = slot
        else:
            _put(reading, id, item, source)


def _spans(reading: _Reading, index: int, key: str | None) -> list[tuple[int, int]] | None:
    """Where the records of a new history lie in the file; None where its line is not strict JSON."""
    start, stop = reading.records.starts[index], reading.records.stops[index]
    try:
        for name in ("messages",) if key is None else (key, "messages"):
            inner = object_items(reading.records.data[start:stop].decode("latin-1"))[name]
            start, stop = start + inner[0], start + inner[1]
        text = reading.records.data[start:stop].decode("latin-1")
        return [(a + start, b + start) for a, b in array_items(text)]
    except (ValueError, KeyError):
        return None


def _session(path: Path, reading: _Reading) -> Session:
    messages: list[Message] = []
    numbers: list[list[int]] = []
    ids: set[str] = set()
    calls = Calls()
    for slot in reading.slots:
        id = slot.id if slot.id not in ids else f"{slot.id}#{slot.source + 1}"
        ids.add(id)
        made = messages_of(slot.value, id, slot.source, calls)
        if slot.value.get("type") == "user" and _repeats(made[0], calls.answered):
            made = [replace(made[0], kind="meta")]
        numbers.append(list(range(len(messages), len(messages) + len(made))))
        messages += made
    epochs = [
        Epoch(number + 1, array("q", _sent(reading, messages, numbers, slots)), end)
        for number, (slots, end) in enumerate([*reading.ended, (list(reading.current.values()), None)])
    ]
    epochs = [_ended(epoch, messages, epochs[place + 1 :]) for place, epoch in enumerate(epochs)]
    live = reading.rewound.difference(reading.current.values(), *(slots for slots, _ in reading.ended))
    gone = {number for slot in live for number in numbers[slot]}
    facts = reading.facts
    if reading.unknown:
        reading.warnings.append(LoadWarning(f"{reading.unknown} records without an id are kept, but not shown"))
    title = facts.get("summary")
    directories = facts.get("directories")
    return Session(
        format=ID,
        path=path,
        messages=without_stale(messages),
        branch=[number for number in range(len(messages)) if number not in gone] if gone else range(len(messages)),
        epochs=tuple(epochs),
        records=reading.records,
        id=str(facts.get("sessionId") or ""),
        title=title if isinstance(title, str) and title else first_words(messages),
        model=next((message.model for message in reversed(messages) if message.model), None),
        cwd=directories[0]
        if isinstance(directories, list) and directories and isinstance(directories[0], str)
        else None,
        warnings=tuple(reading.warnings),
        facts=SessionFacts(project=text_of(facts.get("projectHash"))),
    )


def _repeats(message: Message, answered: Container[str]) -> bool:
    """Whether a user's record only repeats results that stand in their calls' record; compression writes such."""
    results = [block for block in message.blocks if isinstance(block, ToolResult)]
    return bool(results) and len(results) == len(message.blocks) and all(r.call_id in answered for r in results)


def _sent(reading: _Reading, messages: list[Message], numbers: list[list[int]], slots: list[int]) -> Iterator[int]:
    for slot in slots:
        if is_sent(reading.slots[slot].value):
            yield from (
                number
                for number in numbers[slot]
                if messages[number].blocks and not (messages[number].role == "tool" and messages[number].kind == "meta")
            )


def _ended(epoch: Epoch, messages: list[Message], later: list[Epoch]) -> Epoch:
    if epoch.ended_by is None:
        return epoch
    usages = (messages[number].usage for number in reversed(epoch.members))
    last = next((usage for usage in usages if usage), None)
    after = later[0].members if later else ()
    summary = next((messages[number].id for number in after if messages[number].kind == "summary"), None)
    tokens = last.context + last.output if last else None
    return replace(epoch, ended_by=replace(epoch.ended_by, tokens_before=tokens, summary=summary))
