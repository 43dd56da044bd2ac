"""Which lines of a Claude Code session are its live branch, and where recorded compactions divide it.

Every line with a uuid is a link of the chain, progress and system lines too. A plain walk from the newest line to the
root would lose parallel tool results, whose parent is their own call's line; so the walk
only finds out which messages belong, whole messages and the results of their calls are added, and a file that was never
rewound is taken in file order.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from workbench.session import Compaction, Epoch, LoadWarning, Message


@dataclass(slots=True)
class Tree:
    """The links of a file in parallel lists: main lines only, sub-agents' apart.

    `messages[i]` is the number of the message that link i is part of, -1 for none.
    """

    parents: list[str | None] = field(default_factory=list)
    messages: array[int] = field(default_factory=lambda: array("q"))
    lines: array[int] = field(default_factory=lambda: array("Q"))
    turns: bytearray = field(default_factory=bytearray)
    sides: bytearray = field(default_factory=bytearray)
    by_uuid: dict[str, int] = field(default_factory=dict)

    def add(self, uuid: str, parent: str | None, message: int | None, line: int, *, side: bool, turn: bool) -> None:
        """Add the next link in file order. `turn`: whether it is a user's or an assistant's line that says anything."""
        self.by_uuid[uuid] = len(self.parents)
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
    calls = {call.id for number in live for call in messages[number].calls}
    for number in main:
        if number not in live and any(result.call_id in calls for result in messages[number].results):
            live.add(number)
    dead = [number for number in main if number not in live]
    if not any(messages[number].role == "assistant" or messages[number].starts_round for number in dead):
        return list(main), warnings
    return [number for number in main if number in live], warnings


def epochs_of(
    messages: Sequence[Message],
    branch: Iterable[int],
    compactions: Mapping[int, Compaction],
    sent: Sequence[bool],
) -> tuple[Epoch, ...]:
    """Divide the branch at its boundaries. A boundary with nothing before it divides nothing."""
    stretches: list[list[int]] = [[]]
    ends: list[Compaction] = []
    for number in branch:
        if number in compactions:
            if stretches[-1] or ends:
                ends.append(compactions[number])
                stretches.append([])
        elif sent[number]:
            stretches[-1].append(number)
    epochs: list[Epoch] = []
    for index, members in enumerate(stretches):
        end = None
        if index < len(ends):
            after = stretches[index + 1]
            summary = next((messages[number].id for number in after if messages[number].kind == "summary"), None)
            end = replace(ends[index], summary=summary)
        epochs.append(Epoch(index + 1, array("q", members), end))
    return tuple(epochs)


def _is_linked(tree: Tree) -> bool:
    """Whether most lines know their parent: hand-made files and a sub-agent's compaction run do not."""
    roots = sum(parent is None or parent not in tree.by_uuid for parent in tree.parents)
    return bool(tree.parents) and roots * 2 <= len(tree.parents)


def _walk(tree: Tree, warnings: list[LoadWarning]) -> set[int]:
    """The messages from the newest turn up to the root.

    Where a parent is missing (a broken line, a file cut out of a longer one) the walk goes on at the line before.
    """
    only_side = all(tree.sides)
    at = _newest_turn(tree, only_side)
    live: set[int] = set()
    seen = bytearray(len(tree.parents))
    while at >= 0 and not seen[at]:
        seen[at] = 1
        if tree.messages[at] >= 0:
            live.add(tree.messages[at])
        parent = tree.parents[at]
        if parent is None:
            break
        above = tree.by_uuid.get(parent, -1)
        if above < 0 or seen[above]:
            above = _line_before(tree, at, only_side)
            if above >= 0:
                warnings.append(LoadWarning("its parent is missing; the line before is taken for it", tree.lines[at]))
        at = above
    return live


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
