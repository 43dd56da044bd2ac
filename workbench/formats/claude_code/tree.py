"""Which lines of a Claude Code session are its live branch.

Every line with a uuid is a link of the chain, progress and system lines too. A plain walk from the newest line to the
root would lose parallel tool results, whose parent is their own call's line; so the walk
only finds out which messages belong, whole messages and the results of their calls are added, and a file that was never
rewound is taken in file order.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from workbench.session import LoadWarning, Message


@dataclass(slots=True)
class Tree:
    """The links of a file in parallel lists: main lines only, sub-agents' apart.

    `messages[i]` is the number of the message that link i is part of, -1 for none.
    """

    uuids: list[str] = field(default_factory=list)
    parents: list[str | None] = field(default_factory=list)
    messages: array[int] = field(default_factory=lambda: array("q"))
    lines: array[int] = field(default_factory=lambda: array("Q"))
    turns: bytearray = field(default_factory=bytearray)
    sides: bytearray = field(default_factory=bytearray)
    by_uuid: dict[str, int] = field(default_factory=dict)
    anchors: dict[str, str] = field(default_factory=dict)
    """By the last line that a boundary keeps the line behind which it stands: what follows may name the kept one as its
    parent, and the loader goes on at the boundary."""

    def add(self, uuid: str, parent: str | None, message: int | None, line: int, *, side: bool, turn: bool) -> None:
        """Add the next link in file order. `turn`: whether it is a user's or an assistant's line that says anything."""
        self.by_uuid[uuid] = len(self.parents)
        self.uuids.append(uuid)
        self.parents.append(parent)
        self.messages.append(-1 if message is None else message)
        self.lines.append(line)
        self.sides.append(side)
        self.turns.append(turn)


def branch_of(tree: Tree, messages: Sequence[Message], main: Sequence[int]) -> tuple[list[int], list[LoadWarning]]:
    """The live branch out of the messages `main` (those that are not a sub-agent's), in file order."""
    warnings: list[LoadWarning] = []
    if not _is_linked(tree):
        if len(main) > 2:
            warnings.append(LoadWarning("its lines are not linked to each other; taken in the order of the file"))
        return list(main), warnings
    live = _walk(tree, warnings)
    if live.issuperset(main):
        return list(main), warnings
    calls = {call.id for number in live for call in messages[number].calls}
    for number in main:
        if number not in live and any(result.call_id in calls for result in messages[number].results):
            live.add(number)
    live |= _beside(tree, messages, live)
    return [number for number in main if number in live], warnings


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


def _is_linked(tree: Tree) -> bool:
    """Whether most lines know their parent: hand-made files and a sub-agent's compaction run do not."""
    roots = len([parent for parent in tree.parents if parent is None or parent not in tree.by_uuid])
    return bool(tree.parents) and roots * 2 <= len(tree.parents)


def _walk(tree: Tree, warnings: list[LoadWarning]) -> set[int]:
    """The messages from the newest turn up to the root.

    Where a parent is missing (a broken line, a file cut out of a longer one) the walk goes on at the line before.
    """
    only_side = all(tree.sides)
    at = _newest_turn(tree, only_side)
    live = {tree.messages[link] for link in _behind(tree, at) if tree.messages[link] >= 0}
    seen = bytearray(len(tree.parents))
    while at >= 0 and not seen[at]:
        seen[at] = 1
        if tree.messages[at] >= 0:
            live.add(tree.messages[at])
        parent = tree.parents[at]
        if parent is None:
            break
        anchor = tree.by_uuid.get(tree.anchors.get(parent, ""), -1)
        above = anchor if 0 <= anchor < at and not seen[anchor] else tree.by_uuid.get(parent, -1)
        if above < 0 or seen[above]:
            above = _line_before(tree, at, only_side)
            if above >= 0:
                warnings.append(LoadWarning("its parent is missing; the line before is taken for it", tree.lines[at]))
        at = above
    return live


def _behind(tree: Tree, turn: int) -> list[int]:
    """The lines that hang at the newest turn: what the tool will send with the next one."""
    uuids = set(tree.uuids[turn : turn + 1])
    behind: list[int] = []
    for at in range(turn + 1, len(tree.parents)):
        if tree.parents[at] in uuids:
            behind.append(at)
            uuids.add(tree.uuids[at])
    return behind


def _newest_turn(tree: Tree, only_side: bool) -> int:
    for at in range(len(tree.parents) - 1, -1, -1):
        if tree.turns[at] and (only_side or not tree.sides[at]):
            return at
    return -1


def _line_before(tree: Tree, at: int, only_side: bool) -> int:
    at -= 1
    while at >= 0 and tree.sides[at] and not only_side:
        at -= 1
    return at
