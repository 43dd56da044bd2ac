"""Truncations that neither the history nor its folder records: a fall of the billed prompts shows each.

When a prompt is too long Cline leaves out its oldest messages behind the first request and its answer, up to an answer.
Which ones is written nowhere where the index of tasks is not at hand; those are taken whose absence fits the bill best.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.formats.absurd import all_characters
from workbench.session import Compaction, Epoch, LoadWarning, Message

FALL_TOKENS, FALL_SHARE = 5_000, 0.75
"""A prompt that is smaller than the one before by more than so many tokens, and than this share of it, lacks messages
that the other had."""

KEPT = 2
"""The first request and its answer, which every truncation keeps."""


@dataclass(frozen=True, slots=True)
class _Bill:
    """Tokens billed for the messages before message `place`."""

    place: int
    tokens: int


def at_falls(whole: Epoch, messages: Sequence[Message]) -> tuple[list[Epoch], list[LoadWarning]]:
    """The epochs that `whole`, the complete history, falls into at the falls of its bills, and a warning that names the
    first; `whole` alone where no bill falls."""
    bills = [_Bill(at, messages[member].bill) for at, member in enumerate(whole.members) if messages[member].bill]
    falls = [(before, after) for before, after in pairwise(bills) if _is_fall(before.tokens, after.tokens)]
    if not falls:
        return [whole], []
    chars = [0, *accumulate(all_characters(messages[member]) for member in whole.members)]
    rate, overhead = _fitted(bills, chars, falls)
    epochs: list[Epoch] = []
    gone = KEPT

    def add(stop: int, ended_by: Compaction | None) -> None:
        members = [*whole.members[:KEPT], *whole.members[gone:stop]]
        epochs.append(Epoch(whole.number + len(epochs), members, ended_by, window=whole.window))

    for before, after in falls:
        ends = [end for end in _ends(messages, whole, after.place) if end > gone]
        if not ends:
            continue
        left = (after.tokens - overhead) / rate - chars[KEPT]
        end = min(ends, key=lambda place: abs(chars[after.place] - chars[place] - left))
        add(after.place, Compaction("truncation", before.tokens, way="removal"))
        gone = end
    add(len(whole.members), None)
    first, second = falls[0]
    text = (
        f"billed prompts shrink {counted(len(falls), 'time')}, first from {grouped(first.tokens)} to "
        f"{grouped(second.tokens)} tokens: the agent dropped older messages without a record; which ones "
        "is inferred from usage"
    )
    return epochs, [LoadWarning(text)]


def _is_fall(before: int, after: int) -> bool:
    return before - after > FALL_TOKENS and after < FALL_SHARE * before


def _fitted(bills: Sequence[_Bill], chars: Sequence[int], falls: Sequence[tuple[_Bill, _Bill]]) -> tuple[float, float]:
    """Tokens per character of the stretches between bills that did not fall, and what the first bill has beyond the
    characters before it."""
    fell = {after.place for _, after in falls}
    steps = [(one, two) for one, two in pairwise(bills) if two.place not in fell and two.tokens > one.tokens]
    read = sum(chars[two.place] - chars[one.place] for one, two in steps)
    rate = sum(two.tokens - one.tokens for one, two in steps) / read if read else 0.25
    return rate, max(0.0, bills[0].tokens - rate * chars[bills[0].place])


def _ends(messages: Sequence[Message], whole: Epoch, stop: int) -> Iterator[int]:
    """Yield the places before `stop` at which a truncation may end: after an assistant message."""
    for place in range(KEPT + 1, stop):
        if messages[whole.members[place - 1]].role == "assistant":
            yield place
