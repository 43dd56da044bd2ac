"""Result of a compaction: the new messages, the fate of every input message, and the reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Literal, NamedTuple

from msgspec import Struct

from workbench.session import Message, Span


class Fate(Enum):
    """Fate of an input message. If several apply, the first in this list counts."""

    PINNED = "pinned"
    KEPT = "kept"
    COMPRESSED = "compressed"
    SUMMARIZED = "summarized"
    ABRIDGED = "abridged"
    DROPPED = "dropped"

    @property
    def glyph(self) -> str:
        """Character that draws the fate in the bar and the rows."""
        return _GLYPHS[self]


_GLYPHS = {
    Fate.PINNED: "●",
    Fate.KEPT: "▓",
    Fate.COMPRESSED: "▚",
    Fate.SUMMARIZED: "█",
    Fate.ABRIDGED: "▒",
    Fate.DROPPED: "·",
}


class FateSpan(Struct, frozen=True):
    """Input messages `start`..`stop` with the same fate. `saw`: how much of them the summarizer saw; for a message seen
    in part, `SummaryRequest.seen` has the figures."""

    start: int
    stop: int
    fate: Fate
    saw: Literal["all", "part", "nothing"] = "nothing"

    def __len__(self) -> int:
        return self.stop - self.start


class KeptSpan(Struct, frozen=True):
    """Input messages `start`..`stop`, unchanged: the same objects."""

    start: int
    stop: int


class NewMessage(Struct, frozen=True):
    """A new message. `replaces`: the input messages that it replaces, as ascending spans; may be empty."""

    message: Message
    replaces: tuple[Span, ...] = ()


Piece = KeptSpan | NewMessage
Status = Literal["compacted", "fallback", "unchanged", "not_smaller"]


@dataclass(frozen=True, slots=True)
class Rung:
    """One rung that a strategy tried: tokens before and after, and a note about its effect and the reason why the next
    rung ran or did not run."""

    name: str
    before: int
    after: int
    note: str = ""


class Lost(NamedTuple):
    """A rule or open request of the user that a result lacks: id of its message, and its text."""

    message: str
    text: str


@dataclass(frozen=True)
class Outcome:
    """Result of one compaction of `source`. Kept messages are not copied.

    `pieces` are in output order; `fates` are in input order and cover `source` without gap or overlap. `reason`
    explains the status in one sentence. `trace`: sentences with figures.
    """

    status: Status
    reason: str
    source: Sequence[Message]
    pieces: tuple[Piece, ...]
    fates: tuple[FateSpan, ...]
    rungs: tuple[Rung, ...] = ()
    memories: str | None = None
    trace: tuple[str, ...] = ()
    tail: int | None = None
    """Index of the tail's first message; None if the fates show it. They do not if messages dropped by hand lie in the
    tail."""
    lost: tuple[Lost, ...] | None = None
    """Rules and open request that the strategy guarantees but the result lacks; None if it guarantees nothing."""

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """Messages of the new context."""
        out: list[Message] = []
        for piece in self.pieces:
            if isinstance(piece, KeptSpan):
                out.extend(self.source[piece.start : piece.stop])
            else:
                out.append(piece.message)
        return tuple(out)

    @cached_property
    def provenance(self) -> tuple[tuple[Span, ...], ...]:
        """Input messages from which each output message comes."""
        out: list[tuple[Span, ...]] = []
        for piece in self.pieces:
            if isinstance(piece, KeptSpan):
                out.extend((Span(i, i + 1),) for i in range(piece.start, piece.stop))
            else:
                out.append(piece.replaces)
        return tuple(out)

    @cached_property
    def fate_counts(self) -> dict[Fate, int]:
        """Number of input messages by fate."""
        counts = dict.fromkeys(Fate, 0)
        for span in self.fates:
            counts[span.fate] += len(span)
        return counts

    @property
    def summarizes(self) -> bool:
        """True if a summary replaces any message."""
        return any(span.fate is Fate.SUMMARIZED for span in self.fates)

    @cached_property
    def split(self) -> int:
        """Index of the first message of the tail; the number of messages if there is no tail."""
        if self.tail is not None:
            return self.tail
        start = len(self.source)
        for span in reversed(self.fates):
            if span.fate not in (Fate.KEPT, Fate.COMPRESSED, Fate.PINNED):
                break
            if span.fate is not Fate.PINNED:
                start = span.start
        return start

    @cached_property
    def usual_fates(self) -> tuple[Fate, Fate]:
        """Most frequent fate before the split, and from the split on; pins do not count."""
        counts: tuple[dict[Fate, int], dict[Fate, int]] = ({Fate.SUMMARIZED: 0}, {Fate.KEPT: 0})
        for span in self.fates:
            if span.fate is not Fate.PINNED:
                before = max(0, min(span.stop, self.split) - span.start)
                for side, count in zip(counts, (before, len(span) - before), strict=True):
                    side[span.fate] = side.get(span.fate, 0) + count
        above, below = (max(side, key=lambda fate: side[fate]) for side in counts)
        return above, below

    def usual_fate_at(self, index: int) -> Fate:
        """Most frequent fate on the side of the split on which message `index` lies."""
        return self.usual_fates[index >= self.split]

    def fate_at(self, index: int) -> FateSpan:
        """Fate of input message `index`. Raises IndexError outside the input."""
        low, high = 0, len(self.fates)
        while low < high:
            middle = (low + high) // 2
            if self.fates[middle].stop <= index:
                low = middle + 1
            else:
                high = middle
        if low == len(self.fates) or index < self.fates[low].start:
            raise IndexError(index)
        return self.fates[low]


def unchanged(source: Sequence[Message], reason: str, trace: Iterable[str] = ()) -> Outcome:
    """Outcome that changes nothing, with the reason."""
    whole = (KeptSpan(0, len(source)),) if source else ()
    fates = (FateSpan(0, len(source), Fate.KEPT),) if source else ()
    return Outcome("unchanged", reason, source, whole, fates, trace=tuple(trace))


def verdict(status: str, reason: str) -> str:
    """Status and reason in one line; a reason that begins with the status is not repeated."""
    words = status.replace("_", " ")
    return reason if reason.startswith(words) else f"{words}: {reason}"
