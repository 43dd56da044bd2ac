"""Branches of a Claude Code session: the tree of its lines, and the messages on the live branch.

Every line with a uuid is a link of the chain, also progress and system lines. A plain walk from the newest line to the
root would lose parallel tool results, whose parent is the line of their call. The walk therefore only selects messages;
complete messages and the results of their calls are added afterwards. A file that was never rewound is read in file
order.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf

from msgspec import Struct

from workbench.base.text import are, counted
from workbench.formats.format import Part
from workbench.session import LoadWarning, Message

RESUMED, JOINED, LINE = "resumed", "joined", "line-"
"""Ids of branches: the resumed branch, the joined branch of all its pieces, and the prefix of a branch that ends at a
line, followed by the line number."""

MAX_BRANCHES = 50
"""Maximum number of listed branches."""

_BRIDGED = 5.0
"""Seconds before a line without its parent in which the loader looks for a substitute (2.1.330)."""

Moment = Callable[[int], float | None]
"""Returns the time of a link in seconds since 1970; None for a link that is never a substitute parent."""


@dataclass(slots=True)
class Tree:
    """The links of a file in parallel lists, in file order.

    `messages`: number of the message that a link is part of, -1 for none.
    `turns`: user or assistant lines with content. `sidechains`: lines of sub-agents.
    `anchors`: the line that a preserved segment follows, by the segment's last line. The next line may name that last
      line as its parent, and the loader continues at the anchor.
    `logical`: boundaries with only a logical parent, where the loader stops.
    """

    uuids: list[str] = field(default_factory=list)
    parents: list[str | None] = field(default_factory=list)
    messages: array[int] = field(default_factory=lambda: array("q"))
    records: array[int] = field(default_factory=lambda: array("Q"))
    lines: array[int] = field(default_factory=lambda: array("Q"))
    turns: bytearray = field(default_factory=bytearray)
    sidechains: bytearray = field(default_factory=bytearray)
    by_uuid: dict[str, int] = field(default_factory=dict)
    anchors: dict[str, str] = field(default_factory=dict)
    logical: set[int] = field(default_factory=set)

    def add(
        self, uuid: str, parent: str | None, message: int | None, record: int, line: int, *, sidechain: bool, turn: bool
    ) -> None:
        """Add the next link in file order. `turn`: a user or assistant line with content."""
        self.by_uuid[uuid] = len(self.parents)
        self.uuids.append(uuid)
        self.parents.append(parent)
        self.messages.append(-1 if message is None else message)
        self.records.append(record)
        self.lines.append(line)
        self.sidechains.append(sidechain)
        self.turns.append(turn)


def branch_of(
    tree: Tree, messages: Sequence[Message], main: Sequence[int], moment: Moment, chosen: str = RESUMED
) -> tuple[list[int], list[LoadWarning]]:
    """Return a branch of the messages `main` (those outside sub-agents) in file order, and warnings. `chosen`: its id.
    All branches but the resumed one continue across every missing parent. Raises KeyError if the named line is not a
    turn."""
    if not _is_linked(tree):
        text = "its lines are not linked; read in file order"
        return list(main), [LoadWarning(text)] if len(main) > 2 else []
    start = _newest_turn(tree) if chosen in (RESUMED, JOINED) else _turn_on(tree, chosen)
    walk = _walk(tree, start, moment, joined=chosen != RESUMED)
    live = _with_results_and_hooks(tree, messages, main, walk.live)
    unloaded = len(main) - len(live)
    if walk.cut < 0 or not unloaded:
        return live, walk.warnings
    reason = f"so Claude Code resumes from here: {counted(unloaded, 'message')} before it {are(unloaded)} not loaded"
    if tree.parents[walk.cut] in tree.by_uuid:
        return live, [*walk.warnings, LoadWarning(f"its parents go in a circle, {reason}", tree.lines[walk.cut])]
    text = f"names a parent that is not in this file, {reason}; --part {JOINED} opens all of them"
    return live, [*walk.warnings, LoadWarning(text, tree.lines[walk.cut])]


def _turn_on(tree: Tree, chosen: str) -> int:
    """Return the turn on the line that a branch id names. Raises KeyError."""
    number = chosen.removeprefix(LINE)
    for at, line in enumerate(tree.lines):
        if str(line) == number and tree.turns[at] and not tree.sidechains[at]:
            return at
    raise KeyError(chosen)


def _with_results_and_hooks(tree: Tree, messages: Sequence[Message], main: Sequence[int], live: set[int]) -> list[int]:
    """Add tool results and hook messages to the messages of a walk; return all in file order."""
    if live.issuperset(main):
        return list(main)
    calls = {call.id for number in live for call in messages[number].calls}
    for number in main:
        if number not in live and any(result.call_id in calls for result in messages[number].results):
            live.add(number)
    live |= _hook_messages(tree, messages, live)
    return [number for number in main if number in live]


def _hook_messages(tree: Tree, messages: Sequence[Message], live: set[int]) -> set[int]:
    """Return hook messages of live calls; their parent is the call, as for its result."""
    found: set[int] = set()
    hanging: set[str] = set()
    for at, parent in enumerate(tree.parents):
        number = tree.messages[tree.by_uuid[parent]] if parent in tree.by_uuid else -1
        called = number >= 0 and number in live and bool(messages[number].calls)
        if tree.turns[at] or tree.sidechains[at] or not (called or parent in hanging):
            continue
        hanging.add(tree.uuids[at])
        if tree.messages[at] >= 0:
            found.add(tree.messages[at])
    return found


def chain_of(tree: Tree, head: str, tail: str) -> list[str]:
    """Return the uuids of the chain from `head` to `tail`, or [] if the parents of `tail` do not lead to `head`."""
    found: dict[str, None] = {}
    at: str | None = tail
    while at is not None and at in tree.by_uuid and at not in found:
        found[at] = None
        if at == head:
            return [*found][::-1]
        at = tree.parents[tree.by_uuid[at]]
    return []


def branches_of(tree: Tree, messages: Sequence[Message], main: Sequence[int], moment: Moment) -> list[Part]:
    """Return the resumed branch, the joined branch, and those that end at a line outside both.

    Returns [] if the resumed branch leads up to a root: then nothing is cut off, and the user abandoned the rest.
    """
    if not _is_linked(tree) or _walk(tree, _newest_turn(tree), moment).cut < 0:
        return []
    resumed, _ = branch_of(tree, messages, main, moment)
    joined, _ = branch_of(tree, messages, main, moment, JOINED)
    if len(joined) == len(resumed):
        return []
    found = [
        Part(RESUMED, "the branch that Claude Code resumes", len(resumed)),
        Part(JOINED, "the same with all its pieces, in file order", len(joined)),
    ]
    continued, seen = bytearray(len(tree.parents)), set(resumed)
    for at in range(len(tree.parents) - 1, -1, -1):
        parent = tree.by_uuid.get(tree.parents[at] or "", -1)
        if parent >= 0 and (tree.turns[at] or continued[at]):
            continued[parent] = 1
        if not tree.turns[at] or tree.sidechains[at] or continued[at] or tree.messages[at] in seen:
            continue
        line = tree.lines[at]
        members, _ = branch_of(tree, messages, main, moment, f"{LINE}{line}")
        seen.update(members)
        found.append(Part(f"{LINE}{line}", f"the branch that ends at line {line}, with all its pieces", len(members)))
        if len(found) > MAX_BRANCHES:
            break
    return found


def _is_linked(tree: Tree) -> bool:
    """Return True if at least half of the lines name their parent; handwritten files do not. In a sub-agent's file only
    parents in the same file count: its compaction names lines of another file."""
    if all(tree.sidechains):
        named = [parent for parent in tree.parents if parent in tree.by_uuid]
    else:
        named = [parent for parent in tree.parents if parent is not None]
    return bool(tree.parents) and len(named) * 2 >= len(tree.parents)


class _Walk(Struct, frozen=True):
    """The messages on a walk up the parents. `cut`: the link without its parent, where the loader stops, or -1."""

    live: set[int]
    cut: int
    warnings: list[LoadWarning]


def _walk(tree: Tree, start: int, moment: Moment, *, joined: bool = False) -> _Walk:
    """Walk from a turn up to the root like the loader (2.1.330). If a parent is missing, continue at the newest line of
    the last `_BRIDGED` seconds, or stop if there is none. `joined`: continue at the line before instead.

    Lines above a boundary are history, which is not loaded; there a missing parent is replaced by the line before.
    """
    only_sidechain = all(tree.sidechains)
    warnings: list[LoadWarning] = []
    at, history, cut = start, joined or only_sidechain, -1
    live = {tree.messages[link] for link in _descendants(tree, at) if tree.messages[link] >= 0}
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
            above = _line_before(tree, at, only_sidechain) if history else _shortly_before(tree, at, seen, moment)
            if above >= 0:
                substitute = "the line before" if history else f"line {tree.lines[above]}, written shortly before"
                warnings.append(LoadWarning(f"its parent is missing; linked to {substitute}", tree.lines[at]))
            elif not history:
                cut = at
        at = above
    return _Walk(live, cut, warnings)


def _shortly_before(tree: Tree, at: int, seen: bytearray, moment: Moment) -> int:
    """Return the newest line at most `_BRIDGED` seconds older, the first of several with equal time; -1 for none."""
    time = moment(at)
    if time is None:
        return -1
    best, newest = -1, -inf
    for other in range(len(tree.parents)):
        if seen[other] or tree.sidechains[other] != tree.sidechains[at]:
            continue
        when = moment(other)
        if when is not None and newest < when <= time:
            best, newest = other, when
    return best if time - newest <= _BRIDGED else -1


def _descendants(tree: Tree, turn: int) -> list[int]:
    """Return the lines after a turn that descend from it: they are sent with the next turn."""
    uuids = set(tree.uuids[turn : turn + 1])
    descendants: list[int] = []
    for at in range(turn + 1, len(tree.parents)):
        if tree.parents[at] in uuids:
            descendants.append(at)
            uuids.add(tree.uuids[at])
    return descendants


def _newest_turn(tree: Tree) -> int:
    only_sidechain = all(tree.sidechains)
    for at in range(len(tree.parents) - 1, -1, -1):
        if tree.turns[at] and (only_sidechain or not tree.sidechains[at]):
            return at
    return -1


def _line_before(tree: Tree, at: int, only_sidechain: bool) -> int:
    at -= 1
    while at >= 0 and tree.sidechains[at] and not only_sidechain:
        at -= 1
    return at
