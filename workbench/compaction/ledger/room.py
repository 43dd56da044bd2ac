"""What a budget has room for: whose share is how large, where the tail begins, which entries fit.

Tokens and characters are measured alike, so that an agent may count in either.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from workbench.compaction.context import Context
from workbench.compaction.ledger.gather import Noted, noted
from workbench.compaction.ledger.text import Ledger, line_of, written
from workbench.compaction.shape import Shape, per_shape
from workbench.session import Message, pairs_of
from workbench.tokens.sizes import visible_chars


@dataclass(frozen=True, slots=True)
class Ruler:
    """How a budget is measured: `sums` are the context's messages as prefix sums."""

    unit: Literal["tokens", "characters"]
    sums: array[int]
    of_text: Callable[[str], int]
    of_message: Callable[[Message], int]

    def span(self, start: int, stop: int) -> int:
        return self.sums[stop] - self.sums[start]

    def each(self, indexes: Iterable[int]) -> int:
        return sum(self.span(index, index + 1) for index in indexes)


def in_tokens(context: Context) -> Ruler:
    """Messages by the figures they have in the context, new text by its meter."""
    meter = context.layout.sizes.meter
    return Ruler("tokens", context.layout.tokens, meter.text_tokens, meter.tokens)


def in_characters(context: Context) -> Ruler:
    return Ruler("characters", context.shape.chars, len, visible_chars)


def fitting(entries: Iterable[Noted], ruler: Ruler, room: int, binding_room: int) -> tuple[tuple[Noted, ...], int]:
    """What fits of `entries`, and how much it takes. They come by importance; one that is too long is left out and the
    next is tried. Binding ones may take `binding_room`, the others what is left of `room`."""
    chosen: list[Noted] = []
    taken = misses = 0
    for one in entries:
        cost = cost_of(one, ruler)
        if taken + cost <= (binding_room if one.entry.binding else room):
            chosen.append(one)
            taken += cost
            misses = 0
        elif (misses := misses + 1) > _TRIES and not one.entry.binding:
            break
    return tuple(chosen), taken


def cost_of(one: Noted, ruler: Ruler) -> int:
    """What an entry takes with its line's end."""
    return ruler.of_text(line_of(one.entry)) + 1


_TRIES = 200
"""So many entries in a row that do not fit, and the rest is not tried: of 60 000 messages there may be very many."""


CHARS_PER_TOKEN = 3
"""Of a narrative: few enough that what is asked for in characters fits its room in tokens."""

FRAME_SLACK = 60
"""Room for headings and for the line that says what was left out."""


@dataclass(frozen=True, slots=True)
class Shares:
    """The budget and what of it is whose. `room` is what is left after what stays wherever the cut is and a ledger's
    frame; of it `ledger` and `narrative` are those two's shares."""

    ruler: Ruler
    budget: int
    room: int
    ledger: int
    narrative: int

    @property
    def narrative_chars(self) -> int:
        return self.narrative * (CHARS_PER_TOKEN if self.ruler.unit == "tokens" else 1)


def shares_of(
    context: Context, ruler: Ruler, budget: int, always: Sequence[int], ledger_percent: float, narrative_percent: float
) -> Shares:
    """The shares of `budget`. `always`: the messages that stay wherever the cut is, ascending."""
    frame = ruler.of_text(written(Ledger(10**6, tuple(range(len(always))), ()))) + FRAME_SLACK
    room = max(budget - ruler.each(always) - frame, 0)
    return Shares(ruler, budget, room, int(room * ledger_percent / 100), int(room * narrative_percent / 100))


def cut_within(context: Context, shares: Shares, always: Sequence[int]) -> tuple[int, tuple[Noted, ...]]:
    """Where the tail begins, and what the ledger says of the messages before it. A ledger that needs less than its
    share leaves the rest to the tail, one whose binding entries need more takes it from there."""
    ruler, everything = shares.ruler, noted(context.shape)

    def said_before(cut: int) -> tuple[tuple[Noted, ...], int]:
        said = (one for one in everything if one.first < cut)
        return fitting(said, ruler, shares.ledger, shares.room)

    if context.split_at is not None:
        cut = _whole_cut(context, context.shape.index_of[context.split_at])
        return cut, said_before(cut)[0]
    cut = _tail_within(context, ruler, always, shares.room - shares.ledger - shares.narrative)
    for _ in range(3):
        chosen, taken = said_before(cut)
        moved = _tail_within(context, ruler, always, shares.room - taken - shares.narrative)
        if moved == cut:
            return cut, chosen
        cut = moved
    return cut, said_before(cut)[0]


def _tail_within(context: Context, ruler: Ruler, always: Sequence[int], room: int) -> int:
    """Where the longest tail begins that takes no more than `room`, what stays anyway not counted."""
    ends = list(accumulate((ruler.span(index, index + 1) for index in always), initial=0))

    def takes(cut: int) -> int:
        return ruler.span(cut, len(context)) - (ends[-1] - ends[bisect_left(always, cut)])

    lead = context.shape.lead
    return _whole_cut(context, lead + bisect_left(range(lead, len(context)), True, key=lambda c: takes(c) <= room))


def _whole_cut(context: Context, ideal: int) -> int:
    """The next place from `ideal` on that tears no tool pair; never behind a call that still waits for its result."""
    shape = context.shape
    torn = shape.open_across
    cut = next((c for c in range(max(ideal, shape.lead), len(context)) if not torn[c]), len(context))
    waiting = min(_still_open(shape), default=len(context))
    return next(c for c in range(min(cut, waiting), shape.lead - 1, -1) if c == shape.lead or not torn[c])


@per_shape
def _still_open(shape: Shape) -> tuple[int, ...]:
    """The newest answer, where a call of it has no result yet."""
    calls = [pair.call for pair in pairs_of(shape.messages) if pair.result is None and pair.call is not None]
    newest = next((i for i in range(len(shape.messages) - 1, -1, -1) if shape.messages[i].role == "assistant"), None)
    return tuple(index for index in calls if index == newest)
