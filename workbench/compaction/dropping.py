"""Dropping from the oldest: how much must go to reach a target, and what the context looks like without it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain

from workbench.compaction.context import Context
from workbench.compaction.fates import Stroke, painted
from workbench.compaction.keeping import before_unread, may_open, pinned_with_pairs, with_pairs
from workbench.compaction.outcome import Fate, NewMessage, Outcome, Piece
from workbench.compaction.spans import kept_pieces, spans_of, without
from workbench.session import Message, Span, Text


@dataclass(frozen=True)
class Oldest:
    """A context seen from its old end. `exempt` are ascending indexes that stay wherever the cut is, pairs whole.

    A cut before message c drops messages lead..c but the exempt ones.
    """

    context: Context
    exempt: Sequence[int]

    @property
    def lead(self) -> int:
        return self.context.shape.lead

    @cached_property
    def _exempt_tokens(self) -> list[int]:
        tokens = self.context.layout.sizes.tokens
        return list(accumulate((tokens[index] for index in self.exempt), initial=0))

    def messages_left(self, cut: int) -> int:
        """Messages that a cut leaves, the leading system messages not counted."""
        return len(self.context) - cut + self._exempt_before(cut)

    def tokens_left(self, cut: int) -> int:
        """Tokens of the whole context that a cut leaves, overhead included."""
        sums = self.context.layout.tokens
        spared = self._exempt_tokens[bisect_left(self.exempt, cut)] - self._exempt_tokens[self._in_front]
        return self.context.total.tokens - (sums[cut] - sums[self.lead]) + spared

    def _exempt_before(self, cut: int) -> int:
        return bisect_left(self.exempt, cut) - self._in_front

    @cached_property
    def _in_front(self) -> int:
        return bisect_left(self.exempt, self.lead)

    def first_cut(self, left: Callable[[int], int], target: int) -> int:
        """The smallest cut that leaves at most `target` by `left`, between any two messages."""
        return self.lead + bisect_left(range(self.lead, len(self.context) + 1), True, key=lambda c: left(c) <= target)

    def whole_cut(self, ideal: int) -> int:
        """The next cut from `ideal` on that tears no tool pair, leaves what the agent has not read yet, and more than
        system messages; the last such before it if none follows."""
        torn, messages = self.context.shape.open_across, self.context.messages
        spoken = (c for c in range(len(messages) - 1, self.lead - 1, -1) if not messages[c].is_own_system)
        last = min(next(spoken, self.lead), before_unread(self.context.shape))
        later = next((c for c in range(max(ideal, self.lead), last + 1) if not torn[c]), None)
        if later is not None:
            return later
        return next((c for c in range(min(ideal, last), self.lead - 1, -1) if not torn[c]), self.lead)


@dataclass(frozen=True, slots=True)
class Marker:
    """A message that says that others were dropped. `always` false: only where the agent would else speak first."""

    text: str
    always: bool


def drop_oldest(old: Oldest, cut: int, marker: Marker) -> Outcome:
    """The context without what the cut drops; status `compacted`, not yet judged. The cut must tear no pair.

    The marker stands in front of what is left, after an exempt message that may begin.
    """
    context, messages = old.context, old.context.messages
    lead, pins = old.lead, pinned_with_pairs(context)
    spared = [index for index in old.exempt if lead <= index < cut]
    gone = without([Span(lead, cut)], spared)
    begins = may_open(context, chain(spared, range(cut, len(context))))
    pieces: list[Piece] = [*kept_pieces([Span(0, lead)])]
    if gone and (marker.always or not begins):
        name = f"dropped-{messages[gone[-1].stop - 1].id}"
        made = NewMessage(Message(name, "user", (Text(marker.text),), kind="meta"), tuple(gone))
        ahead = _before_marker(context, spared, gone[0].start) if begins else []
        pieces += [*kept_pieces(spans_of(ahead)), made, *kept_pieces(spans_of(spared[len(ahead) :]))]
    else:
        pieces += kept_pieces(spans_of(spared))
    pieces += kept_pieces([Span(cut, len(context))])
    strokes = [
        Stroke(Fate.KEPT, [Span(0, lead), *spans_of(spared), Span(cut, len(context))]),
        Stroke(Fate.PINNED, spans_of(sorted(pins))),
    ]
    return Outcome("compacted", "", messages, tuple(pieces), painted(len(context), strokes))


def _before_marker(context: Context, spared: Sequence[int], place: int) -> list[int]:
    """What is spared before `place`, up to a call whose result stands behind it: a marker never parts the two."""
    partners = context.shape.partners
    parted = next((i for i in spared if any(partner >= place for partner in partners.get(i, ()))), place)
    return [index for index in spared if index < min(place, parted)]


def exempt_of(context: Context, indexes: Iterable[int]) -> list[int]:
    """Ascending: these messages with their pairs, the session's own system messages, and the pins."""
    return sorted(with_pairs(context.shape, [*indexes, *context.shape.own_system]) | pinned_with_pairs(context))
