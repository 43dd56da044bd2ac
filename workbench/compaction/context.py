"""What the model would see at one point of a session, as a view that plans are made on."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from workbench.compaction.gauge import Gauge, cache_age_ms
from workbench.compaction.layout import Layout
from workbench.compaction.outcome import KeptSpan, Outcome, Piece
from workbench.compaction.past import Past
from workbench.compaction.shape import Shape
from workbench.formats.roles import Api
from workbench.session import Carried, Message, Tool
from workbench.tokens.anchoring import carried_by, span_basis
from workbench.tokens.sizes import Basis, Size, Sizes, measure
from workbench.tokens.window import Window

SIZES_KEPT = 8
"""Outcomes whose size is remembered with a layout: the one before a step, and what others are compared with."""


@dataclass(frozen=True)
class Context:
    """A context to be compacted, and what the person wants of it. Frozen; cheap to copy with `with_`.

    `pins` are ids of messages to keep verbatim. `split_at` is the id of the first tail message, set by hand; None for
    the strategy's own split. `manual`: a run at the user's command, thresholds count as reached. `limit` is the context
    window and who says so, None when unknown. `at` is when it is looked at, in seconds since the epoch; None for when
    its newest message came. `rules` is the text of the project's rules file.
    """

    layout: Layout
    pins: frozenset[str] = frozenset()
    split_at: str | None = None
    manual: bool = True
    limit: Window | None = None
    at: float | None = None
    model: str | None = None
    system: str = ""
    tools: tuple[Tool, ...] = ()
    memories: str = ""
    rules: str = ""
    transcript: str = ""
    """The name of the session's own file, "" where it is in none."""
    summary_versions: Mapping[str, int] = field(default_factory=dict)
    """Format version of a summary by message id, where its format records one."""
    past: Past = field(default_factory=Past)
    """What the session held before: the stored history, which a compaction does not shorten."""
    first_context: Shape | None = None
    """The session's first context where this is a later one; without messages where that is not known."""
    overflow_error_seen: bool = False
    """Whether the session records that the model refused this context as too long."""
    api: Api | None = None
    """The API that the context goes to, None when unknown."""

    @property
    def window(self) -> int | None:
        """The context window in tokens, None when unknown."""
        return self.limit.tokens if self.limit else None

    @property
    def messages(self) -> Sequence[Message]:
        return self.layout.messages

    @property
    def shape(self) -> Shape:
        return self.layout.shape

    @property
    def opening(self) -> Shape:
        """The session's first context, which may be this one; without messages where it is not known."""
        return self.shape if self.first_context is None else self.first_context

    def beside(self, outcome: Outcome | None = None) -> str:
        """What stands in every prompt beside the messages, as an outcome leaves it."""
        memories = outcome.memories if outcome else None
        return prompted(self.system, self.memories if memories is None else memories)

    @property
    def memory_lines(self) -> list[str]:
        """The agent's memories, oldest first."""
        return memories_in(self.memories)

    @cached_property
    def prompt_tokens(self) -> int:
        """Tokens of the system prompt's text as the session holds it (0 where the format does not record it)."""
        return self.layout.sizes.meter.text_tokens(self.system) if self.system else 0

    @cached_property
    def tool_tokens(self) -> int:
        """Tokens of the tool definitions as the session holds them (0 where the format does not record them)."""
        return sum(self.layout.sizes.meter.text_tokens(tool.schema) for tool in self.tools)

    def unit_starts(self, unit: str) -> Sequence[int]:
        """First message indexes of the units that a strategy cuts between: exchange, round or message."""
        if unit == "exchange":
            return self.layout.shape.exchange_starts
        if unit == "round":
            return self.layout.shape.round_starts
        return range(len(self))

    def outcome_size(self, outcome: Outcome) -> Size:
        """The size of what an outcome would send, overhead included, in O(pieces); the last few are remembered.

        A kept message counts what it counts here, a new one what the meter says: one method on both sides.
        """
        known = self.layout.sized.get(id(outcome.pieces))
        return known[1] if known else self.know_size(outcome.pieces, self._measured(outcome.pieces))

    def know_size(self, pieces: tuple[Piece, ...], size: Size) -> Size:
        """Remember the size of these pieces, for whoever knows it without looking at each."""
        sized = self.layout.sized
        if len(sized) >= SIZES_KEPT:
            sized.clear()
        sized[id(pieces)] = (pieces, size)
        return size

    def _measured(self, pieces: tuple[Piece, ...]) -> Size:
        layout, sizes = self.layout, self.layout.sizes
        tokens, chars, count = sizes.overhead, 0, 0
        doubtful = sizes.overhead_basis is Basis.ESTIMATE
        for piece in pieces:
            if isinstance(piece, KeptSpan):
                tokens += layout.tokens[piece.stop] - layout.tokens[piece.start]
                chars += layout.shape.chars[piece.stop] - layout.shape.chars[piece.start]
                count += piece.stop - piece.start
                doubtful = doubtful or (layout.has_estimates and self._basis(piece.start, piece.stop) is Basis.ESTIMATE)
            else:
                in_place = len(piece.stands_for) == 1 and len(piece.stands_for[0]) == 1
                part = layout.measured(piece.message) if in_place else self.measure((piece.message,))
                tokens, chars, count = tokens + part.tokens, chars + part.chars, count + 1
                doubtful = doubtful or part.basis is Basis.ESTIMATE
        return Size(count, chars, tokens, Basis.ESTIMATE if doubtful else Basis.CALIBRATED)

    def __len__(self) -> int:
        return len(self.layout.messages)

    def with_(self, **changes: object) -> Context:
        """A copy with fields changed; the layout, and with it every sum, is shared."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def upto(self, index: int) -> Size:
        """The size of the first `index` messages, in O(1); overhead not included."""
        return self.size(0, index)

    def size(self, start: int, stop: int) -> Size:
        """The size of messages `start`..`stop`, in O(1)."""
        layout = self.layout
        return Size(
            stop - start,
            layout.shape.chars[stop] - layout.shape.chars[start],
            layout.tokens[stop] - layout.tokens[start],
            self._basis(start, stop),
        )

    @property
    def total(self) -> Size:
        """The whole context as the model is sent it, overhead included: exact where the provider billed just this."""
        whole, sizes = self.upto(len(self)), self.layout.sizes
        exact = 0 < len(self) == sizes.anchored_until
        return Size(whole.messages, whole.chars, whole.tokens + sizes.overhead, Basis.EXACT if exact else whole.basis)

    @property
    def carried(self) -> Carried:
        """What an export of this context says of itself; of a window, only one that no table would say again."""
        limit = self.limit
        window = limit.tokens if limit and limit.source in ("given", "recorded") else None
        return carried_by(self.layout.sizes, self.messages, self.model, window)

    def measure(self, messages: Sequence[Message]) -> Size:
        """The size of any messages, old or new, by the meter."""
        return measure(messages, self.layout.sizes.meter)

    def from_outcome(self, outcome: Outcome) -> Context:
        """The context as it would be after `outcome`, so that a session can go on from it.

        Kept messages keep their figures, new ones get the meter's; pins that are still there stay, a split does not. A
        refusal spoke of the context that was: whatever is in its place has not been refused.
        """
        sizes = self.layout.sizes
        tokens = array("q")
        for piece in outcome.pieces:
            if isinstance(piece, KeptSpan):
                tokens.extend(sizes.tokens[piece.start : piece.stop])
            else:
                tokens.append(sizes.meter.tokens(piece.message))
        after = Sizes(tokens, sizes.meter.basis, sizes.overhead, sizes.overhead_basis, 0, sizes.meter)
        layout = Layout(self.shape.left_by(outcome), after)
        pins = frozenset(id for id in self.pins if id in layout.shape.index_of)
        memories = self.memories if outcome.memories is None else outcome.memories
        refused = self.overflow_error_seen and outcome.status == "unchanged"
        past = Past(self.past, self.messages, len(layout.messages))
        return self.with_(
            layout=layout,
            pins=pins,
            split_at=None,
            at=None,
            memories=memories,
            past=past,
            first_context=self.opening,
            overflow_error_seen=refused,
        )

    def gauge(self) -> Gauge:
        """How full this context is now."""
        layout = self.layout
        request = layout.shape.rounds.current_input
        new = self.size(request.start, request.stop)
        return Gauge(
            messages=len(self),
            lead=layout.shape.lead,
            rounds=len(layout.shape.rounds.rounds),
            events=layout.shape.events,
            chars=layout.shape.api_chars[-1],
            tokens=self.total.tokens,
            last_usage=layout.last_usage,
            input_tokens=new.tokens,
            input_chars=new.chars,
            limit=self.limit,
            marker_seen=layout.shape.marker is not None,
            overflow_error_seen=self.overflow_error_seen,
            cache_age_ms=cache_age_ms(layout.shape.newest_answer, self.messages[-1] if len(self) else None, self.at),
            memory_lines=len(self.memory_lines),
            manual=self.manual,
        )

    def _basis(self, start: int, stop: int) -> Basis:
        return span_basis(self.layout.sizes, self.layout.billed, start, stop)


def prompted(system: str, memories: str) -> str:
    """The system prompt with the agent's memories."""
    return "\n".join(filter(None, (system, memories)))


def memories_in(text: str) -> list[str]:
    """An agent's memories, one a line, oldest first; blank lines are none."""
    return [line for line in text.split("\n") if line.strip()]
