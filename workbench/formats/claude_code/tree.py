"""Which lines of a Claude Code session are its live branch.

Every line with a uuid is a link of the chain, progress and system lines too. A plain walk from the newest line to the
root would lose parallel tool results, whose parent is their own call's line; so the walk
only finds out which messages belong, whole messages and the results of their calls are added, and a file that was never
rewound is taken in file order.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf

from msgspec import Struct

from workbench.base.text import are, counted
from workbench.session import LoadWarning, Message

RESUMED, JOINED, LINE = "resumed", "joined", "line-"
"""Ids of branches: the one that is resumed, the one of all its pieces, and one that ends at a line, with its number."""

MOST = 50
"""Branches that are listed."""

_BRIDGED = 5.0
"""Seconds before a line in which the loader looks for another one where its parent is missing (2.1.330)."""

Moment = Callable[[int], float | None]
"""Gives the time of a link in seconds, None for one that the loader never takes for a parent."""


class Branch(Struct, frozen=True):
    """A branch of a file, by the id that chooses it."""

    id: str
    title: str
    messages: int


@dataclass(slots=True)
class Tree:
    """The links of a file in parallel lists: main lines only, sub-agents' apart.

    `messages[i]` is the number of the message that link i is part of, -1 for none.
    """

    uuids: list[str] = field(default_factory=list)
    parents: list[str | None] = field(default_factory=list)
    messages: array[int] = field(default_factory=lambda: array("q"))
    records: array[int] = field(default_factory=lambda: array("Q"))
    lines: array[int] = field(default_factory=lambda: array("Q"))
    turns: bytearray = field(default_factory=bytearray)
    sides: bytearray = field(default_factory=bytearray)
    by_uuid: dict[str, int] = field(default_factory=dict)
    anchors: dict[str, str] = field(default_factory=dict)
    """By the last line that a boundary keeps the line behind which it stands: what follows may name the kept one as its
    parent, and the loader goes on at the boundary."""
    logical: set[int] = field(default_factory=set)
    """Boundaries whose parent is named for the record alone: the loader goes no further up."""

    def add(
        self, uuid: str, parent: str | None, message: int | None, record: int, line: int, *, side: bool, turn: bool
    ) -> None:
        """Add the next link in file order. `turn`: whether it is a user's or an assistant's line that says anything."""
        self.by_uuid[uuid] = len(self.parents)
        self.uuids.append(uuid)
        self.parents.append(parent)
        self.messages.append(-1 if message is None else message)
        self.records.append(record)
        self.lines.append(line)
        self.sides.append(side)
        self.turns.append(turn)


def branch_of(
    tree: Tree, messages: Sequence[Message], main: Sequence[int], moment: Moment, chosen: str = RESUMED
) -> tuple[list[int], list[LoadWarning]]:
    """A branch out of the messages `main` (those that are not a sub-agent's), in file order: the one that is resumed,
    or with all its pieces the one `chosen` by its id. Raises KeyError where no turn is on the line that it names."""
    if not _is_linked(tree):
        told = "its lines are not linked; read in file order"
        return list(main), [LoadWarning(told)] if len(main) > 2 else []
    start = _newest_turn(tree) if chosen in (RESUMED, JOINED) else _turn_on(tree, chosen)
    way = _walk(tree, start, moment, joined=chosen != RESUMED)
    live = _whole(tree, messages, main, way.live)
    lost = len(main) - len(live)
    if way.cut < 0 or not lost:
        return live, way.warnings
    told = f"so Claude Code resumes from here: {counted(lost, 'message')} before it {are(lost)} not loaded"
    if tree.parents[way.cut] in tree.by_uuid:
        return live, [*way.warnings, LoadWarning(f"its parents go in a circle, {told}", tree.lines[way.cut])]
    told = f"names a parent that is not in this file, {told}; --part {JOINED} opens all of them"
    return live, [*way.warnings, LoadWarning(told, tree.lines[way.cut])]


def _turn_on(tree: Tree, chosen: str) -> int:
    """The turn on the line that the id of a branch names. Raises KeyError."""
    number = chosen.removeprefix(LINE)
    for at, line in enumerate(tree.lines):
        if str(line) == number and tree.turns[at] and not tree.sides[at]:
            return at
    raise KeyError(chosen)


def _whole(tree: Tree, messages: Sequence[Message], main: Sequence[int], live: set[int]) -> list[int]:
    """The messages of a way, with the results of their calls and what hooks put beside them, in file order."""
    if live.issuperset(main):
        return list(main)
    calls = {call.id for number in live for call in messages[number].calls}
    for number in main:
        if number not in live and any(result.call_id in calls for result in messages[number].results):
            live.add(number)
    live |= _beside(tree, messages, live)
    return [number for number in main if number in live]


def _beside(tree: Tree, messages: Sequence[Message], live: set[int]) -> set[int]:
    """What hooks put beside a live response's call: it hangs at the call, as the call's result does."""
    found: set[int] = set()
    hanging: set[str] = set()
    for at, parent in enumerate(tree.parents):
        number = tree.messages[tree.by_uuid[parent]] if parent in tree.by_uuid else -1
        called = number >= 0 and number in live and bool(messages[number].calls)
        if tree.turns[at] or tree.sides[at] or not (called or parent in hanging):
            continue
        hanging.add(tree.uuids[at])
        if tree.messages[at] >= 0:
            found.add(tree.messages[at])
    return found


def chain_of(tree: Tree, head: str, tail: str) -> list[str]:
    """The lines from `head` down to `tail` by their parents, by uuid; none where the one does not lead to the other."""
    found: dict[str, None] = {}
    at: str | None = tail
    while at is not None and at in tree.by_uuid and at not in found:
        found[at] = None
        if at == head:
            return [*found][::-1]
        at = tree.parents[tree.by_uuid[at]]
    return []


def branches_of(tree: Tree, messages: Sequence[Message], main: Sequence[int], moment: Moment) -> list[Branch]:
    """The branch that is resumed, the one of all its pieces, and those that end at a line which is on neither.

    None where the resumed branch leads up to a line without a parent: then nothing is cut off, and what is on no branch
    was left by the user.
    """
    if not _is_linked(tree) or _walk(tree, _newest_turn(tree), moment).cut < 0:
        return []
    resumed, _ = branch_of(tree, messages, main, moment)
    joined, _ = branch_of(tree, messages, main, moment, JOINED)
    if len(joined) == len(resumed):
        return []
    found = [
        Branch(RESUMED, "the branch that Claude Code resumes", len(resumed)),
        Branch(JOINED, "the same with all its pieces, in file order", len(joined)),
    ]
    continued, seen = bytearray(len(tree.parents)), set(resumed)
    for at in range(len(tree.parents) - 1, -1, -1):
        parent = tree.by_uuid.get(tree.parents[at] or "", -1)
        if parent >= 0 and (tree.turns[at] or continued[at]):
            continued[parent] = 1
        if not tree.turns[at] or tree.sides[at] or continued[at] or tree.messages[at] in seen:
            continue
        line = tree.lines[at]
        members, _ = branch_of(tree, messages, main, moment, f"{LINE}{line}")
        seen.update(members)
        found.append(Branch(f"{LINE}{line}", f"the branch that ends at line {line}, with all its pieces", len(members)))
        if len(found) > MOST:
            break
    return found


def _is_linked(tree: Tree) -> bool:
    """True when at least half of the lines name their parent; hand-made files do not. In a sub-agent's file a parent
    counts only where it is in the file: a sub-agent's compaction names lines of another file."""
    if all(tree.sides):
        named = [parent for parent in tree.parents if parent in tree.by_uuid]
    else:
        named = [parent for parent in tree.parents if parent is not None]
    return bool(tree.parents) and len(named) * 2 >= len(tree.parents)


class _Way(Struct, frozen=True):
    """The messages from a line up to the topmost. `cut` is the line whose parent is missing and above which nothing is
    loaded, -1 where there is none."""

    live: set[int]
    cut: int
    warnings: list[LoadWarning]


def _walk(tree: Tree, start: int, moment: Moment, *, joined: bool = False) -> _Way:
    """The way from a turn up to the root, as the loader goes (2.1.330): where a parent is missing, on to the newest
    line of at most `_BRIDGED` seconds before, else no further. `joined`: on to the line before.

    Above a boundary nothing is loaded: what was before it is history, and whole.
    """
    only_side = all(tree.sides)
    warnings: list[LoadWarning] = []
    at, history, cut = start, joined or only_side, -1
    live = {tree.messages[link] for link in _behind(tree, at) if tree.messages[link] >= 0}
    seen = bytearray(len(tree.parents))
    while at >= 0 and not seen[at]:
        seen[at] = 1
        if tree.messages[at] >= 0:
            live.add(tree.messages[at])
        parent = tree.parents[at]
        if parent is None:
            break
        history = history or at in tree.logical
        anchor = tree.by_uuid.get(tree.anchors.get(parent, ""), -1)
        above = anchor if 0 <= anchor < at and not seen[anchor] else tree.by_uuid.get(parent, -1)
        if above < 0 or seen[above]:
            above = _line_before(tree, at, only_side) if history else _shortly_before(tree, at, seen, moment)
            if above >= 0:
                taken = "the line before" if history else f"line {tree.lines[above]}, written shortly before"
                warnings.append(LoadWarning(f"its parent is missing; linked to {taken}", tree.lines[at]))
            elif not history:
                cut = at
        at = above
    return _Way(live, cut, warnings)


def _shortly_before(tree: Tree, at: int, seen: bytearray, moment: Moment) -> int:
    """The newest line at most `_BRIDGED` seconds before another one; of several of one time the first. -1 for none."""
    time = moment(at)
    if time is None:
        return -1
    best, newest = -1, -inf
    for other in range(len(tree.parents)):
        if seen[other] or tree.sides[other] != tree.sides[at]:
            continue
        when = moment(other)
        if when is not None and newest < when <= time:
            best, newest = other, when
    return best if time - newest <= _BRIDGED else -1


def _behind(tree: Tree, turn: int) -> list[int]:
    """The lines that hang at the newest turn: what the tool will send with the next one."""
    uuids = set(tree.uuids[turn : turn + 1])
    behind: list[int] = []
    for at in range(turn + 1, len(tree.parents)):
        if tree.parents[at] in uuids:
            behind.append(at)
            uuids.add(tree.uuids[at])
    return behind


def _newest_turn(tree: Tree) -> int:
    only_side = all(tree.sides)
    for at in range(len(tree.parents) - 1, -1, -1):
        if tree.turns[at] and (only_side or not tree.sides[at]):
            return at
    return -1


def _line_before(tree: Tree, at: int, only_side: bool) -> int:
    at -= 1
    while at >= 0 and tree.sides[at] and not only_side:
        at -= 1
    return at
