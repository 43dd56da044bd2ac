"""What a budget has room for: whose share is how large, where the tail begins, which entries fit."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from workbench.compaction.context import Context
from workbench.compaction.keeping import with_pairs
from workbench.compaction.language import Language
from workbench.compaction.ledger.gather import Noted, noted
from workbench.compaction.ledger.ruler import Ruler
from workbench.compaction.ledger.text import Ledger, line_of, written
from workbench.compaction.ledger.unread import Unread, unread_within
from workbench.compaction.shape import Shape, per_shape
from workbench.session import pairs_of


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

CARRIED_PERCENT = 15
"""The narrative's share where no model is asked, but an earlier summary has something to tell."""

FRAME_SLACK = 60
"""Room for headings and for the line that says what was left out."""


@dataclass(frozen=True, slots=True)
class Shares:
    """The budget and what of it is whose. `room` is what is left after what stays wherever the cut is and a ledger's
    frame; of it `ledger` and `narrative` are those two's shares. `binding` is what entries of what the user wants may
    take: the budget but for the frame, however much of it stays anyway."""

    ruler: Ruler
    budget: int
    room: int
    ledger: int
    narrative: int
    binding: int

    @property
    def narrative_chars(self) -> int:
        return self.narrative * (CHARS_PER_TOKEN if self.ruler.unit == "tokens" else 1)


def shares_of(
    context: Context, ruler: Ruler, budget: int, always: Sequence[int], ledger_percent: float, narrative_percent: float
) -> Shares:
    """The shares of `budget`. `always`: the messages that stay wherever the cut is, ascending."""
    frame = ruler.of_text(written(Ledger(10**6, tuple(range(len(always))), ()))) + FRAME_SLACK
    room = max(budget - ruler.each(always) - frame, 0)
    ledger, narrative = int(room * ledger_percent / 100), int(room * narrative_percent / 100)
    return Shares(ruler, budget, room, ledger, narrative, max(budget - frame, 0))


@dataclass(frozen=True, slots=True)
class Plan:
    """Where the tail begins, what the ledger says of the messages before it, and what the agent has not read yet.
    `squeezed`: what stays leaves the chosen entries less than they take."""

    cut: int
    chosen: tuple[Noted, ...]
    unread: Unread
    squeezed: bool


def plan_within(context: Context, shares: Shares, always: Sequence[int], language: Language) -> Plan:
    """What goes where. A ledger that needs less than its share leaves the rest to the tail, one whose binding entries
    need more takes it from there, and where it has nothing left, from what is over the budget; what is not read yet is
    always there, in as few words as its room asks for."""
    ruler, everything = shares.ruler, noted(context.shape)

    def said_before(cut: int) -> tuple[tuple[Noted, ...], int]:
        said = (one for one in everything if one.first < cut)
        return fitting(said, ruler, shares.ledger, shares.binding)

    def planned(cut: int, unread: Unread) -> Plan:
        chosen, taken = said_before(cut)
        return Plan(cut, chosen, unread, shares.room - unread.takes < taken)

    def tail_within(room: int) -> tuple[int, Unread]:
        """The longest tail for this room, what is not read yet in it or beside it."""
        unread = unread_within(context, ruler, room, shares.binding, always, language)
        staying = sorted({*always, *unread.indexes})
        return _tail_within(context, ruler, staying, max(room - unread.takes, 0)), unread

    if context.split_at is not None:
        cut = _whole_cut(context, context.shape.index_of[context.split_at])
        newest = with_pairs(context.shape, context.shape.unread)
        tail = ruler.each({*range(cut, len(context))}.difference(always, newest))
        room = shares.room - said_before(cut)[1] - shares.narrative - tail
        return planned(cut, unread_within(context, ruler, room, shares.binding, always, language))
    cut, unread = tail_within(shares.room - shares.ledger - shares.narrative)
    for _ in range(3):
        moved, unread = tail_within(shares.room - said_before(cut)[1] - shares.narrative)
        if moved == cut:
            break
        cut = moved
    return planned(cut, unread)


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
