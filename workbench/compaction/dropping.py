"""Drop the oldest messages: the number to drop for a target, and the context without them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain

from workbench.compaction.context import Context
from workbench.compaction.fates import Stroke, painted
from workbench.compaction.invariants import (
    allowed_cuts,
    before_unread,
    may_open,
    pinned_with_pairs,
)
from workbench.compaction.outcome import Fate, NewMessage, Outcome, Piece
from workbench.compaction.spans import kept_pieces, spans_of, without
from workbench.session import Message, Span, Text


@dataclass(frozen=True)
class Oldest:
    """Context whose oldest messages are dropped. `exempt`: ascending indexes of messages that are always kept, with
    complete pairs.

    A cut c drops the messages from index `lead` to c - 1, except exempt ones.
    """

    context: Context
    exempt: Sequence[int]

    @property
    def lead(self) -> int:
        """Number of leading system messages."""
        return self.context.shape.lead

    @cached_property
    def _exempt_tokens(self) -> list[int]:
        tokens = self.context.layout.sizes.tokens
        return list(accumulate((tokens[index] for index in self.exempt), initial=0))

    def messages_left(self, cut: int) -> int:
        """Number of messages after a cut, without leading system messages."""
        return len(self.context) - cut + self._exempt_before(cut)

    def tokens_left(self, cut: int) -> int:
        """Tokens of the whole context after a cut, overhead included."""
        sums = self.context.layout.tokens
        spared = self._exempt_tokens[bisect_left(self.exempt, cut)] - self._exempt_tokens[self._exempt_in_lead]
        return self.context.total.tokens - (sums[cut] - sums[self.lead]) + spared

    def _exempt_before(self, cut: int) -> int:
        return bisect_left(self.exempt, cut) - self._exempt_in_lead

    @cached_property
    def _exempt_in_lead(self) -> int:
        return bisect_left(self.exempt, self.lead)

    def first_cut(self, left: Callable[[int], int], target: int) -> int:
        """Smallest cut, between any two messages, that leaves at most `target` as measured by `left`."""
        return self.lead + bisect_left(range(self.lead, len(self.context) + 1), True, key=lambda c: left(c) <= target)

    def whole_cut(self, ideal: int) -> int:
        """Next cut from `ideal` that splits no tool pair, keeps unanswered messages, and leaves more than system
        messages; if there is none, the last such cut before it."""
        shape, messages = self.context.shape, self.context.messages
        spoken = (c for c in range(len(messages) - 1, self.lead - 1, -1) if not messages[c].is_own_system)
        last = min(next(spoken, self.lead), before_unread(shape))
        later = allowed_cuts(shape, range(max(ideal, self.lead), last + 1))
        earlier = allowed_cuts(shape, range(min(ideal, last), self.lead - 1, -1))
        return next(chain(later, earlier), self.lead)


@dataclass(frozen=True, slots=True)
class Marker:
    """Message that says that others were dropped. `always`: false to insert it only if the agent would otherwise speak
    first."""

    text: str
    always: bool


def drop_oldest(old: Oldest, cut: int, marker: Marker) -> Outcome:
    """Outcome of a cut, with status `compacted`, not finished by `with_verdict`. The cut must split no pair.

    The marker is placed before the remaining messages, but after an exempt message that may open the conversation.
    """
    context, messages = old.context, old.context.messages
    lead, pins = old.lead, pinned_with_pairs(context)
    spared = [index for index in old.exempt if lead <= index < cut]
    dropped = without([Span(lead, cut)], spared)
    begins = may_open(context, chain(spared, range(cut, len(context))))
    pieces: list[Piece] = [*kept_pieces([Span(0, lead)])]
    if dropped and (marker.always or not begins):
        name = f"dropped-{messages[dropped[-1].stop - 1].id}"
        new = NewMessage(Message(name, "user", (Text(marker.text),), kind="meta"), tuple(dropped))
        ahead = _kept_before_marker(context, spared, dropped[0].start) if begins else []
        pieces += [*kept_pieces(spans_of(ahead)), new, *kept_pieces(spans_of(spared[len(ahead) :]))]
    else:
        pieces += kept_pieces(spans_of(spared))
    pieces += kept_pieces([Span(cut, len(context))])
    strokes = [
        Stroke(Fate.KEPT, [Span(0, lead), *spans_of(spared), Span(cut, len(context))]),
        Stroke(Fate.PINNED, spans_of(sorted(pins))),
    ]
    return Outcome("compacted", "", messages, tuple(pieces), painted(len(context), strokes))


def _kept_before_marker(context: Context, spared: Sequence[int], place: int) -> list[int]:
    """Exempt messages before `place`, up to a call whose result comes after it: a marker never separates the two."""
    partners = context.shape.partners
    parted = next((i for i in spared if any(partner >= place for partner in partners.get(i, ()))), place)
    return [index for index in spared if index < min(place, parted)]
