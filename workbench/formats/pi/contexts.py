"""Contexts of a pi session along its live branch, built as pi's own loader does.

A compaction is sent first: its system message, its summary, then the entries that it kept. A context edit changes or
omits the sent message of an earlier entry; the entry itself is unchanged. pi 0.80.6 to 0.86 also sent an older
compaction's summary at its place in the kept range; earlier and later versions do not.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from workbench.base.stamps import seconds_of
from workbench.formats.kit.values import dict_of, text_of
from workbench.session import Compaction, Epoch, LoadWarning, Message, Way


@dataclass(slots=True)
class TreeEntry:
    """A line of the tree.

    message: number of its message, -1 for none; checkpoint: number of a compaction's system message.
    value: the decoded line of a compaction or a context edit. sent: its message is sent to the model.
    failed: error text of a failed response, None for any other entry.
    prompted: it is a system message, or follows one in the context.
    """

    parent: str | None
    index: int
    message: int = -1
    checkpoint: int = -1
    value: Mapping[str, Any] = field(default_factory=dict)
    sent: bool = False
    failed: str | None = None
    prompted: bool = False

    @property
    def is_compaction(self) -> bool:
        return self.value.get("type") == "compaction"

    @property
    def is_edit(self) -> bool:
        return self.value.get("type") == "context_edit"


ApplyEdit = Callable[[TreeEntry, TreeEntry], Message | None]
"""Return the message of an entry with the content of an edit; None if pi sends the entry unchanged."""


@dataclass(frozen=True, slots=True)
class EntryTree:
    """Entries by id, ids from the root to the newest entry, messages by number, line of each record, and functions:
    `retained_from` returns the id of the first entry that a compaction keeps, `apply_edit` an edited message."""

    entries: Mapping[str, TreeEntry]
    path: Sequence[str]
    messages: Sequence[Message]
    lines: Sequence[int]
    retained_from: Callable[[TreeEntry], str]
    apply_edit: ApplyEdit

    def at(self, place: int) -> TreeEntry:
        return self.entries[self.path[place]]


@dataclass(slots=True)
class PathContexts:
    """Epochs of a tree. `messages` are the file's, followed by the edited ones.

    `_selected`: positions on the path that make up the newest context. `_instead`: number of the edited message by the
    position of its edit. `_original`: number of the original by that of the edited message. `_edited_last`: way and
    result of the edit with which the epoch began.
    """

    tree: EntryTree
    messages: list[Message]
    epochs: list[Epoch] = field(default_factory=list)
    warnings: list[LoadWarning] = field(default_factory=list)
    _selected: list[int] = field(default_factory=list)
    _instead: dict[int, int] = field(default_factory=dict)
    _original: dict[int, int] = field(default_factory=dict)
    _copies: set[int] = field(default_factory=set)
    _edited_last: tuple[Way, list[int]] | None = None

    @classmethod
    def of(cls, tree: EntryTree) -> PathContexts:
        contexts = cls(tree, [*tree.messages])
        for place in range(len(tree.path)):
            entry = tree.at(place)
            if entry.is_compaction:
                contexts._compact(place, entry)
            elif entry.is_edit:
                contexts._edit(place, entry)
            elif entry.sent:
                contexts._selected.append(place)
        contexts._close(contexts._members(), None)
        return contexts

    def in_order(self) -> tuple[tuple[Message, ...], dict[int, int]]:
        """Return the messages, each edited one after its original, and the new index of each number."""
        order = sorted(range(len(self.messages)), key=lambda number: (self._original.get(number, number), number))
        return tuple(self.messages[number] for number in order), {number: at for at, number in enumerate(order)}

    def _close(self, members: Sequence[int], end: Compaction | None) -> None:
        copies = frozenset(self._copies.intersection(members))
        self.epochs.append(Epoch(len(self.epochs) + 1, array("q", members), end, copies))

    def _members(self) -> list[int]:
        """Return the numbers of the selected entries' messages with edits applied; the last edit of an entry counts."""
        selected = [(place, self.tree.at(place)) for place in self._selected]
        edits = {text_of(entry.value.get("targetId")): place for place, entry in selected if entry.is_edit}
        found: list[int] = []
        for place, entry in selected:
            edit = edits.get(self.tree.path[place])
            numbers = [number for number in (entry.checkpoint, entry.message) if number >= 0]
            found += numbers if edit is None else self._edited(edit, entry, numbers)
        return [number for number in found if self.messages[number].blocks]

    # -- edits

    def _edited(self, place: int, target: TreeEntry, numbers: list[int]) -> list[int]:
        """Return the numbers of the messages sent for `target` under the edit at `place`; `numbers` are its own.

        They are unchanged if pi ignores the edit; empty if the edit removes the entry. The first call appends the
        edited message, later calls return the same number.
        """
        edit = self.tree.at(place)
        if edit.value["replacement"] is None:
            return []
        if place not in self._instead:
            message = self.tree.apply_edit(target, edit)
            if message is None:
                return numbers
            self._instead[place] = len(self.messages)
            self._original[len(self.messages)] = target.message
            self.messages.append(message)
        return [self._instead[place]]

    def _edit(self, place: int, entry: TreeEntry) -> None:
        """Apply an edit. An edit of messages that a response was based on ends an epoch; consecutive edits of the
        same way end only one."""
        line = self.tree.lines[entry.index]
        if fault := _fault(entry.value, self.tree):
            self.warnings.append(LoadWarning(fault, line))
        if "replacement" not in entry.value:
            return
        before = self._members()
        self._selected.append(place)
        after = self._members()
        answers = [at for at, number in enumerate(before) if self.messages[number].role == "assistant"]
        seen = before[: answers[-1] + 1] if answers else []
        if not set(seen).difference(after):
            return
        way: Way = "clearing" if len(before) == len(after) else "removal"
        if self._edited_last != (way, before):
            self._close(before, Compaction("context edit", time=seconds_of(entry.value.get("timestamp")), way=way))
        self._copies |= set(after[: len(seen)]).difference(before)
        self._edited_last = way, after

    # -- compactions

    def _compact(self, place: int, entry: TreeEntry) -> None:
        before, about = self._members(), entry.value
        self._selected = retained = self._retained_places(place, entry)
        stayed = tuple(self.messages[number].id for number in self._members())
        if before or self.epochs:
            tokens = about.get("tokensBefore")
            counted = tokens if type(tokens) is int else None
            summary = self.messages[entry.message]
            trigger = "hook" if about.get("fromHook") is True else ""
            self._close(before, Compaction(trigger, counted, summary.id, summary.time, kept_ids=stayed))
        self._selected = [place, *retained]

    def _retained_places(self, place: int, entry: TreeEntry) -> list[int]:
        """Return the positions that a compaction kept: no system messages, and an older compaction only if pi sent
        it."""
        first = self.tree.retained_from(entry)
        start = next((at for at in range(place) if self.tree.path[at] == first), place)
        older = self._sends_older(start, place)
        retained: list[int] = []
        for at in range(start, place):
            one = self.tree.at(at)
            is_system = one.message >= 0 and self.messages[one.message].role == "system"
            if older if one.is_compaction else one.is_edit or (one.sent and not is_system):
                retained.append(at)
        return retained

    def _sends_older(self, start: int, place: int) -> bool:
        """Return True if an API error shows that pi sent an older compaction within the kept range.

        Warns of one between a call and its result: pi 0.80.6 to 0.86 sends it there.
        """
        refused = False
        for at in range(start, place):
            split = self._split_pair(start, at, place) if self.tree.at(at).is_compaction else None
            if split is None:
                continue
            call, result, ids = split
            between = f"between the call on line {call} and its result on line {result}"
            answer = self._next_answer(place, ids)
            if isinstance(answer, TreeEntry):
                refused = True
                text = (
                    f"pi sent this older summary {between}, which caused the API error on line "
                    f"{self.tree.lines[answer.index]}; pi 0.87 and later leave it out: update pi, or run cwb repair"
                )
            elif answer == "open":
                text = (
                    f"pi 0.80.6 to 0.86 sends this older summary {between}, which the API refuses; "
                    "pi 0.87 and later leave it out: update pi, or run cwb repair"
                )
            else:
                continue
            self.warnings.append(LoadWarning(text, self.tree.lines[self.tree.at(at).index]))
        return refused

    def _split_pair(self, start: int, at: int, place: int) -> tuple[int, int, set[str]] | None:
        """Return the lines of a call before `at` and of its result after it, and the ids of all such calls; None if
        there are none."""
        called: dict[str, TreeEntry] = {}
        for entry in map(self.tree.at, range(start, at)):
            message = self.messages[entry.message] if entry.sent else None
            if message and message.calls:
                called |= {call.id: entry for call in message.calls}
            for result in message.results if message else ():
                called.pop(result.call_id, None)
        for entry in map(self.tree.at, range(at, place)):
            results = self.messages[entry.message].results if entry.sent else ()
            ids = {result.call_id for result in results}.intersection(called)
            if ids:
                call = called[min(ids)]
                return self.tree.lines[call.index], self.tree.lines[entry.index], ids
        return None

    def _next_answer(self, place: int, ids: set[str]) -> TreeEntry | Literal["open", "over"]:
        """Return the outcome of the context that begins with the compaction at `place`.

        The last response whose error names one of `ids`, if no later response succeeded before the next compaction;
        "open" if neither a successful response nor a compaction follows; else "over".
        """
        found: TreeEntry | Literal["open", "over"] = "open"
        for entry in map(self.tree.at, range(place + 1, len(self.tree.path))):
            if entry.is_compaction:
                return "over" if found == "open" else found
            if entry.failed and any(id in entry.failed for id in ids):
                found = entry
            elif entry.sent and self.messages[entry.message].role == "assistant":
                found = "over"
        return found


def _fault(edit: Mapping[str, Any], tree: EntryTree) -> str:
    """Describe why an edit has no effect or an unexpected one, "" if it is valid."""
    replacement = edit.get("replacement")
    if "replacement" not in edit:
        return "edits an entry and has no `replacement`, so pi cannot open the session; ignored"
    if text_of(edit.get("targetId")) not in tree.entries:
        return "edits an entry that is not in the file"
    if replacement is not None and not isinstance(dict_of(replacement).get("content"), str | list):
        return "its replacement has no `content`, so pi sends the edited message empty"
    return ""
