"""Read Gemini CLI sessions."""

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
from workbench.formats.gemini import ID
from workbench.formats.gemini.parts import (
    NOWHERE,
    are_thoughts,
    count_masked,
    is_environment,
    is_sent,
    messages_of,
)
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.document import parse
from workbench.formats.kit.google_parts import Calls
from workbench.formats.kit.json_spans import array_items, object_items
from workbench.formats.kit.jsonl import is_padding, records_of
from workbench.formats.kit.marks import STALE_USAGE, without_stale_usage
from workbench.formats.kit.names import first_words
from workbench.formats.kit.transcript import Transcript
from workbench.formats.kit.values import list_of, text_of
from workbench.session import Compaction, Message, Records, Session, SessionFacts
from workbench.session.session import Way

_WAY_BY_DROPPED: dict[bool, Way] = {True: "removal", False: "clearing"}
"""Way of a compaction without a summary; the key is True if messages were dropped."""

_AGENTS = ("assistant", "tool")

_FACTS = ("sessionId", "projectHash", "summary", "kind", "directories", "startTime")


@dataclass(slots=True)
class _Slot:
    """Newest record of a message id since the last compression."""

    id: str
    value: Mapping[str, Any]
    source: int


@dataclass(frozen=True, slots=True)
class _ReplacedHistory:
    """A history that another one replaced. `slots` are its own, `written` those that the new history added."""

    slots: list[int]
    written: range
    compaction: Compaction


@dataclass(frozen=True, slots=True)
class _EmptiedHistory:
    """State before a new history without sent messages."""

    current: dict[str, int]
    closed: frozenset[int]


class Reader(Transcript):
    """Reader of records. `current`: slot by record id in the current history, in order. `emptied`: state before the
    history was emptied, until the next record. `closed`: slots of ended epochs. `numbers`: message indexes of each
    slot."""

    empty = "a Gemini CLI session without messages; open another file"

    def __init__(self, path: Path, records: Records) -> None:
        super().__init__(path, records)
        self.slots: list[_Slot] = []
        self.numbers: list[range] = []
        self.current: dict[str, int] = {}
        self.replaced_histories: list[_ReplacedHistory] = []
        self.emptied: _EmptiedHistory | None = None
        self.closed: frozenset[int] = frozenset()
        self.rewound: set[int] = set()
        self.facts: dict[str, Any] = {}
        self.without_id = 0

    def take_document(self, document: Any) -> None:
        items = document.get("messages") if isinstance(document, dict) else None
        if not isinstance(items, list):
            raise BadInput(f"{self.path}: has no list of messages; open a whole session file of Gemini CLI.")
        self._update_facts(document)
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
            self._update_facts(changes)
        elif isinstance(value.get("sessionId"), str):
            if isinstance(value.get("messages"), list):
                self._replace(value["messages"], index, None, None)
            self._update_facts(value)
        else:
            self.without_id += 1

    def _update_facts(self, value: Mapping[str, Any]) -> None:
        self.facts |= {key: value[key] for key in _FACTS if key in value}

    def _put(self, id: str, value: Mapping[str, Any], source: int) -> None:
        slot = self.current.get(id)
        if slot is not None and slot not in self.closed:
            self.slots[slot] = _Slot(id, value, source)
            return
        self.current[id] = len(self.slots)
        self.slots.append(_Slot(id, value, source))

    def _rewind(self, id: str) -> None:
        """Remove a message and all later ones; all messages if there is no such one, as the loader does."""
        ids = list(self.current)
        for removed in ids[ids.index(id) if id in self.current else 0 :]:
            self.rewound.add(self.current.pop(removed))

    def _replace(self, items: list[Any], index: int, key: str | None, time: float | None) -> None:
        """Replace the current history.

        This ends an epoch if sent messages were dropped or results masked. Unchanged records keep their slots; changed
        ones get new slots if an epoch ended. A history that stays empty until the next one is ignored: Gemini CLI
        writes one when it resumes.
        """
        if self.emptied is not None:
            self.replaced_histories.pop()
            self.closed = self.emptied.closed
        before = {**(self.emptied.current if self.emptied else {}), **self.current}
        spans = self._spans(index, key)
        ids = {item["id"] for item in items if isinstance(item, dict) and isinstance(item.get("id"), str)}
        has_dropped = any(id not in ids and is_sent(self.slots[slot].value) for id, slot in before.items())
        self.current = {}
        ends_epoch, first = has_dropped or self._adds_masks(before, items), len(self.slots)
        closed = self.closed
        if ends_epoch:
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
        if ends_epoch:
            written = range(first, len(self.slots))
            self.replaced_histories.append(
                _ReplacedHistory(
                    list(before.values()), written, Compaction(time=time, way=_WAY_BY_DROPPED[has_dropped])
                )
            )
        sent = any(is_sent(self.slots[slot].value) for slot in self.current.values())
        self.emptied = _EmptiedHistory(before, closed) if ends_epoch and not sent else None

    def _adds_masks(self, before: Mapping[str, int], items: list[Any]) -> bool:
        """Return True if the new history masks tool outputs that the current one holds completely."""
        return any(
            isinstance(item, dict)
            and (slot := before.get(as_text(item.get("id")))) is not None
            and self.slots[slot].value != item
            and count_masked(item) > count_masked(self.slots[slot].value)
            for item in items
        )

    def _spans(self, index: int, key: str | None) -> list[tuple[int, int]] | None:
        """Return the byte spans of a new history's records in the file; None if its line is not strict JSON."""
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
            slot_messages = messages_of(slot.value, id, slot.source, calls)
            self.numbers.append(range(len(self.messages), len(self.messages) + len(slot_messages)))
            self.messages += slot_messages
        self._end_epochs()
        for number in {number for epoch in self.epochs for number in epoch.copies}:
            self.messages[number] = replace(self.messages[number], usage=None)
        if n := self.without_id:
            self.warn(f"{counted(n, 'record')} without an id {are(n)} kept in the file, not shown")

    def session(self) -> Session:
        shown = with_user_text(without_stale_usage(self.messages, self.epochs[-1].members, self._stale_until()))
        off_branch = self.rewound.difference(
            self.current.values(), *(history.slots for history in self.replaced_histories)
        )
        facts = self.facts
        directories = list_of(facts.get("directories"))
        return self._session(
            ID,
            shown,
            branch=self.branch_without({number for slot in off_branch for number in self.numbers[slot]}),
            id=str(facts.get("sessionId") or ""),
            title=text_of(facts.get("summary")) or first_words(shown),
            model=next((message.model for message in reversed(shown) if message.model), None),
            cwd=directories[0] if directories and isinstance(directories[0], str) else None,
            facts=SessionFacts(project=text_of(facts.get("projectHash"))),
        )

    def _end_epochs(self) -> None:
        members = [
            [*self._sent(slots)]
            for slots in (*(history.slots for history in self.replaced_histories), self.current.values())
        ]
        for place, history in enumerate(self.replaced_histories):
            self.sent = members[place]
            self.end_epoch(
                _with_usage_and_summary(history.compaction, self.messages, members[place], members[place + 1])
            )
            written = [(n, self.messages[n]) for slot in history.written for n in self.numbers[slot]]
            self.copies = frozenset(n for n, one in written if one.kind == "normal" and one.role in _AGENTS)
        self.sent = members[-1]
        self.end_epoch()

    def _sent(self, slots: Iterable[int]) -> Iterator[int]:
        """Yield the indexes of a history's sent messages. A resume repeats results, in a record of their own or with
        their calls; only the first counts."""
        answered: set[str] = set()
        for place, slot in enumerate(slots):
            value = self.slots[slot].value
            if not (is_sent(value) or (place == 0 and is_environment(value))):
                continue
            by_user = value.get("type") == "user"
            for number in self.numbers[slot]:
                message = self.messages[number]
                if not message.blocks or are_thoughts(message) or (by_user and _repeats_results(message, answered)):
                    continue
                answered.difference_update(call.id for call in message.calls)
                answered.update(result.call_id for result in message.results)
                yield number

    def _stale_until(self) -> int:
        """Return the index of the last response marked as having stale usage; -1 for none."""
        marked_slots = (slot for slot in self.current.values() if self.slots[slot].value.get(STALE_USAGE) is True)
        responses = [
            number
            for slot in marked_slots
            for number in self.numbers[slot]
            if self.messages[number].role == "assistant"
        ]
        return responses[-1] if responses else -1


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read a session, one document or lines of records. Raises BadInput if it has no message."""
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


def _repeats_results(message: Message, answered: Container[str]) -> bool:
    """Return True for a user's record that only repeats earlier results."""
    results = message.results
    return bool(results) and len(results) == len(message.blocks) and all(r.call_id in answered for r in results)


def _with_usage_and_summary(
    compaction: Compaction, messages: Sequence[Message], before: Sequence[int], after: Sequence[int]
) -> Compaction:
    """Add to a compaction the last usage before it and the summary that begins the next epoch."""
    usages = (messages[number].usage for number in reversed(before))
    last = next((usage for usage in usages if usage), None)
    summaries = (messages[number].id for number in after if messages[number].kind == "summary")
    ids_before = {messages[number].id for number in before}
    summary = next((id for id in summaries if id not in ids_before), None)
    tokens = last.context + last.output if last else None
    return replace(compaction, tokens_before=tokens, summary=summary, way="summary" if summary else compaction.way)
