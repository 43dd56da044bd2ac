"""Reading: Gemini CLI."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from workbench.formats.kit.jsonl import is_padding, records_of
from workbench.formats.kit.mark import SPENT, without_spent
from workbench.formats.kit.titles import first_words
from workbench.formats.kit.transcript import Transcript
from workbench.formats.kit.values import list_of, text_of
from workbench.session import Compaction, Message, Records, Session, SessionFacts
from workbench.session.session import Way

_WAYS: dict[bool, Way] = {True: "removal", False: "clearing"}
"""How a new history makes room, by whether messages are gone; where it begins with a summary, that is the way."""

_AGENTS = ("assistant", "tool")

_FACTS = ("sessionId", "projectHash", "summary", "kind", "directories", "startTime")


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


class Reader(Transcript):
    """`current` is the history now, record id to slot, in its order; `emptied` what it was before it was emptied, until
    something comes. `numbers` are the messages of each slot."""

    empty = "a Gemini CLI session without messages; open another file"

    def __init__(self, path: Path, records: Records) -> None:
        super().__init__(path, records)
        self.slots: list[_Slot] = []
        self.numbers: list[range] = []
        self.current: dict[str, int] = {}
        self.ended: list[_Ended] = []
        self.emptied: _Emptied | None = None
        self.closed: frozenset[int] = frozenset()
        self.rewound: set[int] = set()
        self.facts: dict[str, Any] = {}
        self.unnamed = 0

    def take_document(self, document: Any) -> None:
        items = document.get("messages") if isinstance(document, dict) else None
        if not isinstance(items, list):
            raise BadInput(f"{self.path}: has no list of messages; open a whole session file of Gemini CLI.")
        self._facts(document)
        for index, item in enumerate(items):
            if not isinstance(item, dict):
                self.warn(f"message {index + 1} is not an object; kept in the file, not shown")
                continue
            id = item.get("id")
            self._put(id if isinstance(id, str) and id not in self.current else f"message-{index + 1}", item, index)

    def take(self, value: dict[str, Any], index: int, line: int) -> None:
        if isinstance(value.get("$rewindTo"), str):
            self.emptied = None
            self._rewind(value["$rewindTo"])
        elif isinstance(value.get("id"), str):
            self.emptied = None
            self._put(value["id"], value, index)
        elif isinstance(changes := value.get("$set"), dict):
            if isinstance(changes.get("messages"), list):
                self._replace(changes["messages"], index, "$set", seconds_of(changes.get("lastUpdated")))
            self._facts(changes)
        elif isinstance(value.get("sessionId"), str):
            if isinstance(value.get("messages"), list):
                self._replace(value["messages"], index, None, None)
            self._facts(value)
        else:
            self.unnamed += 1

    def _facts(self, value: Mapping[str, Any]) -> None:
        self.facts |= {key: value[key] for key in _FACTS if key in value}

    def _put(self, id: str, value: Mapping[str, Any], source: int) -> None:
        slot = self.current.get(id)
        if slot is not None and slot not in self.closed:
            self.slots[slot] = _Slot(id, value, source)
            return
        self.current[id] = len(self.slots)
        self.slots.append(_Slot(id, value, source))

    def _rewind(self, id: str) -> None:
        """Remove a message and all later ones; all of them where there is no such message, as the loader does."""
        ids = list(self.current)
        for gone in ids[ids.index(id) if id in self.current else 0 :]:
            self.rewound.add(self.current.pop(gone))

    def _replace(self, items: list[Any], index: int, key: str | None, time: float | None) -> None:
        """Put a new history in place of the present one.

        It ends an epoch if messages are gone that were sent, or contents of results were masked. Records that stay as
        they were are the same; what such a history changes is written again. One that is empty until the next comes is
        none: so Gemini CLI begins when it resumes a session.
        """
        if self.emptied is not None:
            self.ended.pop()
            self.closed = self.emptied.closed
        before = {**(self.emptied.current if self.emptied else {}), **self.current}
        spans = self._spans(index, key)
        ids = {item["id"] for item in items if isinstance(item, dict) and isinstance(item.get("id"), str)}
        gone = any(id not in ids and is_sent(self.slots[slot].value) for id, slot in before.items())
        self.current = {}
        ends, first = gone or self._masks(before, items), len(self.slots)
        closed = self.closed
        if ends:
            self.closed = closed.union(before.values())
        for place, item in enumerate(items):
            if not isinstance(item, dict) or not isinstance(id := item.get("id"), str):
                line = self.records.lines[index]
                self.warn("a new history has an entry without an id, which is not sent", line)
                continue
            slot = before.get(id)
            if slot is not None and self.slots[slot].value == item:
                self.current[id] = slot
                continue
            source = NOWHERE if spans is None else self.records.add(*spans[place], self.records.lines[index])
            if slot is not None and slot not in self.closed:
                self.slots[slot] = _Slot(id, item, source)
                self.current[id] = slot
            else:
                self._put(id, item, source)
        if ends:
            written = range(first, len(self.slots))
            self.ended.append(_Ended(list(before.values()), written, Compaction(time=time, way=_WAYS[gone])))
        sent = any(is_sent(self.slots[slot].value) for slot in self.current.values())
        self.emptied = _Emptied(before, closed) if ends and not sent else None

    def _masks(self, before: Mapping[str, int], items: list[Any]) -> bool:
        """Whether a new history masks outputs of tools that the present one has whole."""
        return any(
            isinstance(item, dict)
            and (slot := before.get(as_text(item.get("id")))) is not None
            and self.slots[slot].value != item
            and count_masked(item) > count_masked(self.slots[slot].value)
            for item in items
        )

    def _spans(self, index: int, key: str | None) -> list[tuple[int, int]] | None:
        """Where the records of a new history lie in the file; None where its line is not strict JSON."""
        start, stop = self.records.starts[index], self.records.stops[index]
        try:
            for name in ("messages",) if key is None else (key, "messages"):
                inner = object_items(self.records.data[start:stop].decode("latin-1"))[name]
                start, stop = start + inner[0], start + inner[1]
            text = self.records.data[start:stop].decode("latin-1")
            return [(a + start, b + start) for a, b in array_items(text)]
        except (ValueError, KeyError):
            return None

    def finish(self) -> None:
        ids: set[str] = set()
        calls = Calls()
        for slot in self.slots:
            id = slot.id if slot.id not in ids else f"{slot.id}#{slot.source + 1}"
            ids.add(id)
            made = messages_of(slot.value, id, slot.source, calls)
            self.numbers.append(range(len(self.messages), len(self.messages) + len(made)))
            self.messages += made
        self._end_epochs()
        for number in {number for epoch in self.epochs for number in epoch.copies}:
            self.messages[number] = replace(self.messages[number], usage=None)
        if n := self.unnamed:
            self.warn(f"{counted(n, 'record')} without an id {are(n)} kept in the file, not shown")

    def session(self) -> Session:
        said = with_user_text(without_spent(self.messages, self.epochs[-1].members, self._spent()))
        gone = self.rewound.difference(self.current.values(), *(ended.slots for ended in self.ended))
        facts = self.facts
        directories = list_of(facts.get("directories"))
        return self._session(
            ID,
            said,
            branch=self.branch_without({number for slot in gone for number in self.numbers[slot]}),
            id=str(facts.get("sessionId") or ""),
            title=text_of(facts.get("summary")) or first_words(said),
            model=next((message.model for message in reversed(said) if message.model), None),
            cwd=directories[0] if directories and isinstance(directories[0], str) else None,
            facts=SessionFacts(project=text_of(facts.get("projectHash"))),
        )

    def _end_epochs(self) -> None:
        members = [[*self._sent(slots)] for slots in (*(ended.slots for ended in self.ended), self.current.values())]
        for place, ended in enumerate(self.ended):
            self.sent = members[place]
            self.end_epoch(_described(ended.by, self.messages, members[place], members[place + 1]))
            made = [(n, self.messages[n]) for slot in ended.written for n in self.numbers[slot]]
            self.copies = frozenset(n for n, one in made if one.kind == "normal" and one.role in _AGENTS)
        self.sent = members[-1]
        self.end_epoch()

    def _sent(self, slots: Iterable[int]) -> Iterator[int]:
        """What was sent of a history: the first of results that stand both beside their calls and in a record of their
        own, or twice in records of their own, as a resume writes them."""
        answered: set[str] = set()
        for place, slot in enumerate(slots):
            value = self.slots[slot].value
            if not (is_sent(value) or (place == 0 and is_environment(value))):
                continue
            by_user = value.get("type") == "user"
            for number in self.numbers[slot]:
                message = self.messages[number]
                if not message.blocks or are_thoughts(message) or (by_user and _repeats(message, answered)):
                    continue
                answered.difference_update(call.id for call in message.calls)
                answered.update(result.call_id for result in message.results)
                yield number

    def _spent(self) -> int:
        """The number of the last response that is marked; -1 for none."""
        marked = (slot for slot in self.current.values() if self.slots[slot].value.get(SPENT) is True)
        found = [
            number for slot in marked for number in self.numbers[slot] if self.messages[number].role == "assistant"
        ]
        return found[-1] if found else -1


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read a session of either form. Raises BadInput when it has no message."""
    progress(0, len(data))
    if not _is_document(data):
        return Reader.read(path, data, progress)
    reader = Reader(path, Records(data))
    document, reader.warnings = parse(path, data)
    reader.take_document(document)
    progress(len(data), len(data))
    return reader.done()


def _is_document(data: bytes) -> bool:
    first = next((record for record in records_of(data) if not is_padding(record)), None)
    if first is None or not isinstance(first.value, dict):
        return True
    return "messages" in first.value and not data[first.stop :].strip()


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
