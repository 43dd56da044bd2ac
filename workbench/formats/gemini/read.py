"""Reading: Gemini CLI."""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.stamps import seconds_of
from workbench.base.text import are, counted
from workbench.formats.agent_texts import with_user_text
from workbench.formats.format import Progress
from workbench.formats.gemini.parts import (
    NOWHERE,
    are_thoughts,
    count_masked,
    is_environment,
    is_sent,
    messages_of,
)
from workbench.formats.gemini.signature import ID
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.contents import Calls
from workbench.formats.kit.document import parse
from workbench.formats.kit.json_spans import array_items, object_items
from workbench.formats.kit.jsonl import is_padding, objects_of, records_of
from workbench.formats.kit.mark import SPENT, without_spent
from workbench.formats.kit.titles import first_words
from workbench.formats.kit.values import text_of
from workbench.session import Compaction, Epoch, LoadWarning, Message, Records, Session, SessionFacts
from workbench.session.session import Way

_WAYS: dict[bool, Way] = {True: "removal", False: "clearing"}
"""How a new history makes room, by whether messages are gone; where it begins with a summary, that is the way."""

_AGENTS = ("assistant", "tool")
_FACTS = ("sessionId", "projectHash", "summary", "kind", "directories", "startTime")


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read a session of either form. Raises BadInput when it has no message."""
    reading = _Reading(Records(data))
    progress(0, len(data))
    if _is_document(data):
        document, reading.warnings = parse(path, data)
        _document(path, reading, document)
    else:
        for value, index, _ in objects_of(records_of(data), len(data), reading.records, reading.warnings, progress):
            _line(reading, value, index)
    progress(len(data), len(data))
    if not reading.slots:
        raise BadInput(f"{path} is a Gemini CLI session without messages; open another file.")
    return _session(path, reading)


def _is_document(data: bytes) -> bool:
    first = next((record for record in records_of(data) if not is_padding(record)), None)
    if first is None or not isinstance(first.value, dict):
        return True
    return "messages" in first.value and not data[first.stop :].strip()


@dataclass(slots=True)
class _Slot:
    """A message record: the newest of its id, while no compression lies between."""

    id: str
    value: Mapping[str, Any]
    source: int


@dataclass(frozen=True, slots=True)
class _Ended:
    """A history that another took the place of: its slots, and those that the other wrote again."""

    slots: list[int]
    written: range
    by: Compaction


@dataclass(frozen=True, slots=True)
class _Emptied:
    """What was before a history with nothing to send."""

    current: dict[str, int]
    closed: frozenset[int]


@dataclass(slots=True)
class _Reading:
    """What has been read so far. `current` is the history now, record id to slot, in its order; `emptied` what it was
    before it was emptied, until something comes."""

    records: Records
    slots: list[_Slot] = field(default_factory=list)
    current: dict[str, int] = field(default_factory=dict)
    ended: list[_Ended] = field(default_factory=list)
    emptied: _Emptied | None = None
    closed: frozenset[int] = frozenset()
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
            reading.warnings.append(LoadWarning(f"message {index + 1} is not an object; kept in the file, not shown"))
            continue
        id = item.get("id")
        _put(reading, id if isinstance(id, str) and id not in reading.current else f"message-{index + 1}", item, index)


def _line(reading: _Reading, value: dict[str, Any], index: int) -> None:
    if isinstance(value.get("$rewindTo"), str):
        reading.emptied = None
        _rewind(reading, value["$rewindTo"])
    elif isinstance(value.get("id"), str):
        reading.emptied = None
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
    """Put a new history in place of the present one.

    It ends an epoch if messages are gone that were sent, or contents of results were masked. Records that stay as they
    were are the same; what such a history changes is written again. One that is empty until the next comes is none: so
    Gemini CLI begins when it resumes a session.
    """
    if reading.emptied is not None:
        reading.ended.pop()
        reading.closed = reading.emptied.closed
    before = {**(reading.emptied.current if reading.emptied else {}), **reading.current}
    spans = _spans(reading, index, key)
    ids = {item["id"] for item in items if isinstance(item, dict) and isinstance(item.get("id"), str)}
    gone = any(id not in ids and is_sent(reading.slots[slot].value) for id, slot in before.items())
    reading.current = {}
    ends, first = gone or _masks(reading, before, items), len(reading.slots)
    closed = reading.closed
    if ends:
        reading.closed = closed.union(before.values())
    for place, item in enumerate(items):
        if not isinstance(item, dict) or not isinstance(id := item.get("id"), str):
            line = reading.records.lines[index]
            reading.warnings.append(LoadWarning("a new history has an entry without an id, which is not sent", line))
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
    if ends:
        written = range(first, len(reading.slots))
        reading.ended.append(_Ended(list(before.values()), written, Compaction(time=time, way=_WAYS[gone])))
    sent = any(is_sent(reading.slots[slot].value) for slot in reading.current.values())
    reading.emptied = _Emptied(before, closed) if ends and not sent else None


def _masks(reading: _Reading, before: Mapping[str, int], items: list[Any]) -> bool:
    """Whether a new history masks outputs of tools that the present one has whole."""
    return any(
        isinstance(item, dict)
        and (slot := before.get(as_text(item.get("id")))) is not None
        and reading.slots[slot].value != item
        and count_masked(item) > count_masked(reading.slots[slot].value)
        for item in items
    )


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
    numbers: list[range] = []
    ids: set[str] = set()
    calls = Calls()
    for slot in reading.slots:
        id = slot.id if slot.id not in ids else f"{slot.id}#{slot.source + 1}"
        ids.add(id)
        made = messages_of(slot.value, id, slot.source, calls)
        numbers.append(range(len(messages), len(messages) + len(made)))
        messages += made
    epochs = _epochs(reading, messages, numbers)
    for number in {number for epoch in epochs for number in epoch.copies}:
        messages[number] = replace(messages[number], usage=None)
    said = with_user_text(without_spent(messages, epochs[-1].members, _spent(reading, messages, numbers)))
    live = reading.rewound.difference(reading.current.values(), *(ended.slots for ended in reading.ended))
    gone = {number for slot in live for number in numbers[slot]}
    facts = reading.facts
    if reading.unknown:
        reading.warnings.append(
            LoadWarning(
                f"{counted(reading.unknown, 'record')} without an id {are(reading.unknown)} kept in the file, not shown"
            )
        )
    title = facts.get("summary")
    directories = facts.get("directories")
    return Session(
        format=ID,
        path=path,
        messages=said,
        branch=[number for number in range(len(messages)) if number not in gone] if gone else range(len(messages)),
        epochs=epochs,
        records=reading.records,
        id=str(facts.get("sessionId") or ""),
        title=title if isinstance(title, str) and title else first_words(said),
        model=next((message.model for message in reversed(messages) if message.model), None),
        cwd=directories[0]
        if isinstance(directories, list) and directories and isinstance(directories[0], str)
        else None,
        warnings=tuple(reading.warnings),
        facts=SessionFacts(project=text_of(facts.get("projectHash"))),
    )


def _epochs(reading: _Reading, messages: Sequence[Message], numbers: Sequence[range]) -> tuple[Epoch, ...]:
    histories = [*(ended.slots for ended in reading.ended), list(reading.current.values())]
    members = [array("q", _sent(reading, messages, numbers, slots)) for slots in histories]
    copies = [frozenset[int]()]
    for ended in reading.ended:
        made = (number for slot in ended.written for number in numbers[slot])
        copies.append(frozenset(n for n in made if messages[n].kind == "normal" and messages[n].role in _AGENTS))
    ends = [
        _described(ended.by, messages, members[place], members[place + 1]) for place, ended in enumerate(reading.ended)
    ]
    return tuple(
        Epoch(place + 1, held, end, copied)
        for place, (held, end, copied) in enumerate(zip(members, [*ends, None], copies, strict=True))
    )


def _sent(
    reading: _Reading, messages: Sequence[Message], numbers: Sequence[range], slots: Sequence[int]
) -> Iterator[int]:
    """What was sent of a history: of results that stand both beside their calls and in a record of their own, or twice
    in records of their own, as a resume writes them, the first."""
    answered: set[str] = set()
    for place, slot in enumerate(slots):
        value = reading.slots[slot].value
        if not (is_sent(value) or (place == 0 and is_environment(value))):
            continue
        by_user = value.get("type") == "user"
        for number in numbers[slot]:
            message = messages[number]
            if not message.blocks or are_thoughts(message) or (by_user and _repeats(message, answered)):
                continue
            answered.difference_update(call.id for call in message.calls)
            answered.update(result.call_id for result in message.results)
            yield number


def _repeats(message: Message, answered: Container[str]) -> bool:
    """Whether a user's record only repeats results that stand before it."""
    results = message.results
    return bool(results) and len(results) == len(message.blocks) and all(r.call_id in answered for r in results)


def _described(by: Compaction, messages: Sequence[Message], before: Sequence[int], after: Sequence[int]) -> Compaction:
    """What ended an epoch, with the tokens that were billed last and the summary that the next one begins with."""
    usages = (messages[number].usage for number in reversed(before))
    last = next((usage for usage in usages if usage), None)
    summaries = (messages[number].id for number in after if messages[number].kind == "summary")
    known = {messages[number].id for number in before}
    summary = next((id for id in summaries if id not in known), None)
    tokens = last.context + last.output if last else None
    return replace(by, tokens_before=tokens, summary=summary, way="summary" if summary else by.way)


def _spent(reading: _Reading, messages: Sequence[Message], numbers: Sequence[range]) -> int:
    """The number of the last response that is marked; -1 for none."""
    marked = (slot for slot in reading.current.values() if reading.slots[slot].value.get(SPENT) is True)
    found = [number for slot in marked for number in numbers[slot] if messages[number].role == "assistant"]
    return found[-1] if found else -1
