"""Truncations that neither the history nor its folder records, detected by a fall of the recorded usage.

If a prompt is too long, Cline omits its oldest messages after the first request and its answer, through a later answer.
Without the task index, the omitted messages are not recorded; those whose absence best fits the usage are taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.formats.usage_checks import all_characters
from workbench.session import Compaction, Epoch, LoadWarning, Message

FALL_TOKENS, FALL_SHARE = 5_000, 0.75
"""A prompt that is smaller than the one before by more than this number of tokens, and smaller than this share of it,
lacks messages that the other had."""

ALWAYS_KEPT = 2
"""Number of first messages, the request and its answer, that every truncation keeps."""


@dataclass(frozen=True, slots=True)
class _Call:
    """Call answered by message `place`, with the recorded tokens of its prompt."""

    place: int
    tokens: int


def at_falls(whole: Epoch, messages: Sequence[Message]) -> tuple[list[Epoch], list[LoadWarning]]:
    """Split `whole`, the complete history, into epochs at the falls of its usage; return them, and a warning about the
    first. Without a fall, return only `whole`."""
    calls = [_Call(at, messages[member].bill) for at, member in enumerate(whole.members) if messages[member].bill]
    falls = [(before, after) for before, after in pairwise(calls) if _is_fall(before.tokens, after.tokens)]
    if not falls:
        return [whole], []
    chars = [0, *accumulate(all_characters(messages[member]) for member in whole.members)]
    rate, overhead = _fitted(calls, chars, falls)
    epochs: list[Epoch] = []
    omitted_to = ALWAYS_KEPT

    def add(stop: int, ended_by: Compaction | None) -> None:
        members = [*whole.members[:ALWAYS_KEPT], *whole.members[omitted_to:stop]]
        epochs.append(Epoch(whole.number + len(epochs), members, ended_by, window=whole.window))

    for before, after in falls:
        ends = [end for end in _ends(messages, whole, after.place) if end > omitted_to]
        if not ends:
            continue
        remaining = (after.tokens - overhead) / rate - chars[ALWAYS_KEPT]
        end = min(ends, key=lambda place: abs(chars[after.place] - chars[place] - remaining))
        add(after.place, Compaction("truncation", before.tokens, way="removal"))
        omitted_to = end
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


def _fitted(calls: Sequence[_Call], chars: Sequence[int], falls: Sequence[tuple[_Call, _Call]]) -> tuple[float, float]:
    """Return tokens per character between calls without a fall, and the overhead of the first call beyond its
    characters."""
    fall_places = {after.place for _, after in falls}
    steps = [(one, two) for one, two in pairwise(calls) if two.place not in fall_places and two.tokens > one.tokens]
    read = sum(chars[two.place] - chars[one.place] for one, two in steps)
    rate = sum(two.tokens - one.tokens for one, two in steps) / read if read else 0.25
    return rate, max(0.0, calls[0].tokens - rate * chars[calls[0].place])


def _ends(messages: Sequence[Message], whole: Epoch, stop: int) -> Iterator[int]:
    """Yield the indexes before `stop` at which a truncation may end: after an assistant message."""
    for place in range(ALWAYS_KEPT + 1, stop):
        if messages[whole.members[place - 1]].role == "assistant":
            yield place
