"""What a compaction did: the new messages, the fate of every input message, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Literal, NamedTuple

from msgspec import Struct

from workbench.session import Message, Span


class Fate(Enum):
    """What became of an input message. On overlap the first of this list wins."""

    PINNED = "pinned"
    KEPT = "kept"
    COMPRESSED = "compressed"
    SUMMARIZED = "summarized"
    ABRIDGED = "abridged"
    DROPPED = "dropped"

    @property
    def glyph(self) -> str:
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
    """Messages `start`..`stop` of the input that share a fate. `saw` is "all", "part" or "nothing"; what "part"
    means for one message is the request's to say (`SummaryRequest.seen`)."""

    start: int
    stop: int
    fate: Fate
    saw: Literal["all", "part", "nothing"] = "nothing"

    def __len__(self) -> int:
        return self.stop - self.start


class KeptSpan(Struct, frozen=True):
    """Input messages `start`..`stop`, unchanged: byte-identical because they are the same objects."""

    start: int
    stop: int


class NewMessage(Struct, frozen=True):
    """A new message, and the input messages it stands for (spans, in order; empty for a message that stands for
    none)."""

    message: Message
    stands_for: tuple[Span, ...] = ()


Piece = KeptSpan | NewMessage
Status = Literal["compacted", "fallback", "unchanged", "not_smaller"]


@dataclass(frozen=True, slots=True)
class Rung:
    """One step of a strategy: what it did, tokens before and after, and why the next one ran or did not."""

    name: str
    before: int
    after: int
    note: str = ""


class Lost(NamedTuple):
    """A rule of the user, or their open request, that a result lacks: the id of its message, and its text."""

    message: str
    text: str


@dataclass(frozen=True)
class Outcome:
    """The result of one compaction over `source`. Nothing in it is a copy of a kept message.

    `pieces` in output order; `fates` in input order, covering `source` without gap or overlap.
    `reason` says in one sentence why the status is what it is. `trace` is plain sentences with figures.
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
    """Where the tail begins, if the fates alone do not tell: messages dropped by hand may lie in it."""
    lost: tuple[Lost, ...] | None = None
    """Rules and the open request that the strategy undertakes to keep and that the result lacks; None: it undertakes
    nothing."""

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """The new context."""
        out: list[Message] = []
        for piece in self.pieces:
            if isinstance(piece, KeptSpan):
                out.extend(self.source[piece.start : piece.stop])
            else:
                out.append(piece.message)
        return tuple(out)

    @cached_property
    def provenance(self) -> tuple[tuple[Span, ...], ...]:
        """For every output message, the input messages it stands for."""
        out: list[tuple[Span, ...]] = []
        for piece in self.pieces:
            if isinstance(piece, KeptSpan):
                out.extend((Span(i, i + 1),) for i in range(piece.start, piece.stop))
            else:
                out.append(piece.stands_for)
        return tuple(out)

    @cached_property
    def fate_counts(self) -> dict[Fate, int]:
        counts = dict.fromkeys(Fate, 0)
        for span in self.fates:
            counts[span.fate] += len(span)
        return counts

    @property
    def summarizes(self) -> bool:
        """Whether a summary stands for some of the messages."""
        return any(span.fate is Fate.SUMMARIZED for span in self.fates)

    @cached_property
    def split(self) -> int:
        """Index of the first message of the trailing stretch that is kept as it is; the number of messages if none."""
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
    def sides(self) -> tuple[Fate, Fate]:
        """The fate of most messages before the split, and of most from there on; pins are not counted."""
        counts: tuple[dict[Fate, int], dict[Fate, int]] = ({Fate.SUMMARIZED: 0}, {Fate.KEPT: 0})
        for span in self.fates:
            if span.fate is not Fate.PINNED:
                before = max(0, min(span.stop, self.split) - span.start)
                for side, count in zip(counts, (before, len(span) - before), strict=True):
                    side[span.fate] = side.get(span.fate, 0) + count
        above, below = (max(side, key=lambda fate: side[fate]) for side in counts)
        return above, below

    def side_of(self, index: int) -> Fate:
        """The fate of most messages on the side of the split on which message `index` lies."""
        return self.sides[index >= self.split]

    def fate_at(self, index: int) -> FateSpan:
        """The fate of input message `index`. Raises IndexError outside the input."""
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
    """The outcome that changes nothing, with the reason."""
    whole = (KeptSpan(0, len(source)),) if source else ()
    fates = (FateSpan(0, len(source), Fate.KEPT),) if source else ()
    return Outcome("unchanged", reason, source, whole, fates, trace=tuple(trace))


def verdict(status: str, reason: str) -> str:
    """How it went and why, in one line; a reason that begins with the status says it alone."""
    words = status.replace("_", " ")
    return reason if reason.startswith(words) else f"{words}: {reason}"
