"""The contexts of a pi session along its live branch, as pi's own loader builds them.

A compaction is sent first: its system message, its summary, then what it kept. A context edit changes what is sent of
an earlier entry, or leaves it out; the entry stays as it is. pi 0.80.6 to 0.86 also sent an older compaction's summary
where it lies in the kept range; earlier and later versions do not.
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
class Entry:
    """A line of the tree.

    message: number of the message that it holds, -1 for none; checkpoint: that of a compaction's system message.
    value: the decoded line of a compaction or a context edit. sent: the model is sent its message.
    failed: error text of a response that failed, None for any other entry.
    prompted: a system message stands in the context before it, or is it.
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


Edited = Callable[[Entry, Entry], Message | None]
"""Return the message of an entry with the content of an edit; None where pi sends the entry as it is all the same."""


@dataclass(frozen=True, slots=True)
class Tree:
    """The entries by id, the ids from the root to the newest one, the messages by number, the line of each record, and
    the entry from which on a compaction keeps."""

    entries: Mapping[str, Entry]
    way: Sequence[str]
    messages: Sequence[Message]
    lines: Sequence[int]
    retained_from: Callable[[Entry], str]
    edited: Edited

    def at(self, place: int) -> Entry:
        return self.entries[self.way[place]]


@dataclass(slots=True)
class Contexts:
    """The epochs of a tree. `messages` are the file's and, behind all of them, the edited ones.

    `_selected` are the places on the way that the newest context is made of, `_instead` the message that each edit made
    by the place of the edit, `_edited_last` the way and the result of the edit with which the epoch began.
    """

    tree: Tree
    messages: list[Message]
    epochs: list[Epoch] = field(default_factory=list)
    warnings: list[LoadWarning] = field(default_factory=list)
    _selected: list[int] = field(default_factory=list)
    _instead: dict[int, int] = field(default_factory=dict)
    _original: dict[int, int] = field(default_factory=dict)
    _copies: set[int] = field(default_factory=set)
    _edited_last: tuple[Way, list[int]] | None = None

    @classmethod
    def of(cls, tree: Tree) -> Contexts:
        contexts = cls(tree, [*tree.messages])
        for place in range(len(tree.way)):
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
        """The messages, each edited one behind the one that it stands for; and the place of each number there."""
        order = sorted(range(len(self.messages)), key=lambda number: (self._original.get(number, number), number))
        return tuple(self.messages[number] for number in order), {number: at for at, number in enumerate(order)}

    def _close(self, members: Sequence[int], end: Compaction | None) -> None:
        copies = frozenset(self._copies.intersection(members))
        self.epochs.append(Epoch(len(self.epochs) + 1, array("q", members), end, copies))

    def _members(self) -> list[int]:
        """Numbers of the messages of the selected entries, edits applied: of several edits of an entry the last."""
        selected = [(place, self.tree.at(place)) for place in self._selected]
        edits = {text_of(entry.value.get("targetId")): place for place, entry in selected if entry.is_edit}
        found: list[int] = []
        for place, entry in selected:
            edit = edits.get(self.tree.way[place])
            numbers = [number for number in (entry.checkpoint, entry.message) if number >= 0]
            found += numbers if edit is None else self._edited(edit, entry, numbers)
        return [number for number in found if self.messages[number].blocks]

    # -- edits

    def _edited(self, place: int, target: Entry, numbers: list[int]) -> list[int]:
        """Return the numbers of the messages sent for `target` under the edit at `place`; `numbers` are its own.

        They are returned as they are where pi ignores the edit; the list is empty where the edit removes the entry.
        The first call appends the edited message, later calls return the same number.
        """
        edit = self.tree.at(place)
        if edit.value["replacement"] is None:
            return []
        if place not in self._instead:
            message = self.tree.edited(target, edit)
            if message is None:
                return numbers
            self._instead[place] = len(self.messages)
            self._original[len(self.messages)] = target.message
            self.messages.append(message)
        return [self._instead[place]]

    def _edit(self, place: int, entry: Entry) -> None:
        """An edit of what an answer was sent ends an epoch; edits in a row end one."""
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

    def _compact(self, place: int, entry: Entry) -> None:
        before, about = self._members(), entry.value
        self._selected = retained = self._retained_places(place, entry)
        stayed = tuple(self.messages[number].id for number in self._members())
        if before or self.epochs:
            tokens = about.get("tokensBefore")
            counted = tokens if type(tokens) is int else None
            summary = self.messages[entry.message]
            trigger = "hook" if about.get("fromHook") is True else ""
            self._close(before, Compaction(trigger, counted, summary.id, summary.time, kept=stayed))
        self._selected = [place, *retained]

    def _retained_places(self, place: int, entry: Entry) -> list[int]:
        """Places of what a compaction kept: no system message, and an older compaction only where pi sent it."""
        first = self.tree.retained_from(entry)
        start = next((at for at in range(place) if self.tree.way[at] == first), place)
        older = self._sends_older(start, place)
        retained: list[int] = []
        for at in range(start, place):
            one = self.tree.at(at)
            is_system = one.message >= 0 and self.messages[one.message].role == "system"
            if older if one.is_compaction else one.is_edit or (one.sent and not is_system):
                retained.append(at)
        return retained

    def _sends_older(self, start: int, place: int) -> bool:
        """True where a refusal by the API shows that pi sent an older compaction within the kept range.

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
            if isinstance(answer, Entry):
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
        """The lines of a call before `at` and of its result behind it, and the ids of all such calls; None for none."""
        called: dict[str, Entry] = {}
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

    def _next_answer(self, place: int, ids: set[str]) -> Entry | Literal["open", "over"]:
        """Return the result of the context that begins with the compaction at `place`.

        The last response whose error names one of `ids`, where no later response succeeded before the next compaction;
        "open" where neither a successful response nor a compaction follows; else "over".
        """
        found: Entry | Literal["open", "over"] = "open"
        for entry in map(self.tree.at, range(place + 1, len(self.tree.way))):
            if entry.is_compaction:
                return "over" if found == "open" else found
            if entry.failed and any(id in entry.failed for id in ids):
                found = entry
            elif entry.sent and self.messages[entry.message].role == "assistant":
                found = "over"
        return found


def _fault(edit: Mapping[str, Any], tree: Tree) -> str:
    """Why an edit does not do what it seems to, "" where it does."""
    replacement = edit.get("replacement")
    if "replacement" not in edit:
        return "edits an entry and has no `replacement`, so pi cannot open the session; ignored"
    if text_of(edit.get("targetId")) not in tree.entries:
        return "edits an entry that is not in the file"
    if replacement is not None and not isinstance(dict_of(replacement).get("content"), str | list):
        return "its replacement has no `content`, so pi sends the edited message empty"
    return ""
