"""Context that the model would see at one point of a session, on which plans are made; its sizes (`Layout`), and the
sums from which triggers are read (`Gauge`)."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from types import MappingProxyType
from typing import NamedTuple, Protocol

from workbench.compaction.outcome import KeptSpan, Outcome, Piece
from workbench.compaction.shape import Shape
from workbench.compaction.stored_history import StoredHistory
from workbench.formats.roles import Api
from workbench.session import ExportNote, Message, Tool
from workbench.tokens.anchoring import billed_points, export_note_of, span_basis
from workbench.tokens.sizes import Basis, Size, Sizes, measure
from workbench.tokens.window import Window


class Layout:
    """Shape and sizes of a context. Neither changes: other figures for the same messages need another layout of the
    same shape, so no outdated sum can remain."""

    def __init__(self, shape: Shape, sizes: Sizes) -> None:
        self.shape = shape
        self.sizes = sizes
        self.messages = shape.messages
        self.sized: dict[int, tuple[tuple[Piece, ...], Size]] = {}
        """Cached sizes of the pieces of some outcomes, by identity; see `Context.outcome_size`."""
        self._measured: dict[int, tuple[Message, Size]] = {}

    @cached_property
    def tokens(self) -> array[int]:
        """Prefix sums of the messages' tokens."""
        return array("q", accumulate(self.sizes.tokens, initial=0))

    @cached_property
    def has_estimates(self) -> bool:
        """True if any message's figure is an estimate."""
        basis = self.sizes.basis
        return basis is Basis.ESTIMATE if isinstance(basis, Basis) else Basis.ESTIMATE in basis

    def measured(self, message: Message) -> Size:
        """Size of a new message, cached: a strategy that changes 20 000 results in place returns the same new messages
        in every plan."""
        known = self._measured.get(id(message))
        if known is None:
            if len(self._measured) >= len(self.messages):
                self._measured.clear()
            known = self._measured[id(message)] = (message, measure((message,), self.sizes.meter))
        return known[1]

    @cached_property
    def billed(self) -> dict[int, int]:
        """Billed tokens at places between messages; see `span_basis`."""
        return billed_points(self.sizes, self.messages)

    @cached_property
    def last_usage(self) -> int | None:
        """Input, cache and output tokens of the newest API call that the sizes are anchored on; None without one. A
        call billed for messages that a compaction has since replaced is not used."""
        anchor = min(self.sizes.anchored_until, len(self.messages) - 1)
        for index in range(anchor, -1, -1) if self.sizes.anchored_until else ():
            message = self.messages[index]
            if message.usage is not None and message.role == "assistant" and message.bill:
                return message.bill + message.usage.output
        return None


class Gauge(NamedTuple):
    """How full a context is at one moment. A replay makes one before each call of a session.

    `lead`: the session's own system messages at the start, counted in `messages`, too. `chars`: size of the history in
    `api_chars` (compact JSON as the model sees it). `tokens`: whole context, overhead included, on the basis of the
    context's sizes. `input_tokens`, `input_chars`: the current input alone, the request without an answer.
    `last_usage`: billed tokens of the last API call, input, cache and output together, None without one. `limit`:
    context window and its source, None if unknown. `cache_age_ms`: see the function. `meters`: the strategy's own sums.
    """

    messages: int = 0
    lead: int = 0
    rounds: int = 0
    events: int = 0
    chars: int = 0
    tokens: int = 0
    last_usage: int | None = None
    input_tokens: int = 0
    input_chars: int = 0
    limit: Window | None = None
    marker_seen: bool = False
    overflow_error_seen: bool = False
    cache_age_ms: int | None = None
    memory_lines: int = 0
    manual: bool = False
    meters: Mapping[str, int] = MappingProxyType({})

    @property
    def window(self) -> int | None:
        """Context window in tokens, None if unknown."""
        return self.limit.tokens if self.limit else None


def cache_age_ms(answer: Message | None, newest: Message | None, at: float | None) -> int | None:
    """Age of the prompt cache in ms: time from the newest `answer`, which read the cache, to `at` (seconds since the
    epoch; None: the time of the `newest` message). None if the answer has no time, or if `at` is None and the answer is
    the newest message."""
    if at is None and newest is not None and newest is not answer:
        at = newest.time
    if at is None or answer is None or answer.time is None:
        return None
    return max(0, round(1000 * (at - answer.time)))


class RunningMeter(Protocol):
    """A strategy's own sum over the messages of a context, from the first to the last.

    A new meter has no messages yet; each message is added once, and `value` can be read after any of them, so that a
    replay stays linear. Use a dataclass: a policy whose new meter equals that of the policy before needs no second pass
    over the context.
    """

    def add(self, message: Message, chars: int, tokens: int) -> None:
        """Add the next message, with its size as compact JSON and in tokens."""

    @property
    def value(self) -> int:
        """The sum so far."""
        ...


def add_messages(meters: Iterable[RunningMeter], layout: Layout, start: int, stop: int) -> None:
    """Add messages `start`..`stop` to the meters."""
    messages, chars, tokens = layout.messages, layout.shape.api_chars, layout.sizes.tokens
    for meter in meters:
        add = meter.add
        for index in range(start, stop):
            add(messages[index], chars[index + 1] - chars[index], tokens[index])


SIZES_KEPT = 8
"""Number of outcomes whose size a layout caches: the one before a step, and those that it is compared with."""


@dataclass(frozen=True)
class Context:
    """A context to compact, and the user's choices for it. Frozen; `with_` makes cheap copies.

    `pins`: ids of messages to keep verbatim. `split_at`: id of the first tail message if set by hand, None for the
    strategy's own split. `manual`: a run at the user's command; thresholds count as reached. `limit`: context window
    and its source, None if unknown. `at`: current time, in seconds since 1970; None for the time of the newest
    message. `rules`: text of the project's rules file.
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
    """Name of the session's own file, "" if it has none."""
    summary_versions: Mapping[str, int] = field(default_factory=dict)
    """Format version of a summary by message id, where its format records one."""
    stored_history: StoredHistory = field(default_factory=StoredHistory)
    """History before this context, as stored; no compaction shortens it."""
    first_context: Shape | None = None
    """The session's first context if this is a later one; without messages if it is unknown."""
    overflow_error_seen: bool = False
    """True if the session records that the API rejected this context as too long."""
    api: Api | None = None
    """API that the context goes to, None if unknown."""

    @property
    def window(self) -> int | None:
        """Context window in tokens, None if unknown."""
        return self.limit.tokens if self.limit else None

    @property
    def messages(self) -> Sequence[Message]:
        """Messages of the context."""
        return self.layout.messages

    @property
    def shape(self) -> Shape:
        """Facts about the messages that do not depend on tokens."""
        return self.layout.shape

    @property
    def opening(self) -> Shape:
        """The session's first context, possibly this one; without messages if it is unknown."""
        return self.shape if self.first_context is None else self.first_context

    def system_text(self, outcome: Outcome | None = None) -> str:
        """System prompt and memories, which every request has in addition to the messages; those after `outcome` if
        given."""
        memories = outcome.memories if outcome else None
        return prompted(self.system, self.memories if memories is None else memories)

    @property
    def memory_lines(self) -> list[str]:
        """The agent's memories, oldest first."""
        return memories_in(self.memories)

    @cached_property
    def prompt_tokens(self) -> int:
        """Tokens of the system prompt in the session; 0 if the format does not record it."""
        return self.layout.sizes.meter.text_tokens(self.system) if self.system else 0

    @cached_property
    def tool_tokens(self) -> int:
        """Tokens of the tool definitions in the session; 0 if the format does not record them."""
        return sum(self.layout.sizes.meter.text_tokens(tool.schema) for tool in self.tools)

    def unit_starts(self, unit: str) -> Sequence[int]:
        """Index of the first message of each unit (exchange, round or message)."""
        if unit == "exchange":
            return self.layout.shape.exchange_starts
        if unit == "round":
            return self.layout.shape.round_starts
        return range(len(self))

    def outcome_size(self, outcome: Outcome) -> Size:
        """Size of the request after an outcome, overhead included, in O(pieces); the last few results are cached.

        Kept messages have their size in this context, and new ones the meter's size.
        """
        known = self.layout.sized.get(id(outcome.pieces))
        return known[1] if known else self.know_size(outcome.pieces, self._measured(outcome.pieces))

    def know_size(self, pieces: tuple[Piece, ...], size: Size) -> Size:
        """Cache the size of these pieces, for callers that know it without measuring."""
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
                in_place = len(piece.replaces) == 1 and len(piece.replaces[0]) == 1
                part = layout.measured(piece.message) if in_place else self.measure((piece.message,))
                tokens, chars, count = tokens + part.tokens, chars + part.chars, count + 1
                doubtful = doubtful or part.basis is Basis.ESTIMATE
        return Size(count, chars, tokens, Basis.ESTIMATE if doubtful else Basis.CALIBRATED)

    def __len__(self) -> int:
        return len(self.layout.messages)

    def with_(self, **changes: object) -> Context:
        """Copy with fields changed; the layout and its sums are shared."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def upto(self, index: int) -> Size:
        """Size of the first `index` messages, in O(1), without overhead."""
        return self.size(0, index)

    def size(self, start: int, stop: int) -> Size:
        """Size of messages `start`..`stop`, in O(1)."""
        layout = self.layout
        return Size(
            stop - start,
            layout.shape.chars[stop] - layout.shape.chars[start],
            layout.tokens[stop] - layout.tokens[start],
            self._basis(start, stop),
        )

    @property
    def total(self) -> Size:
        """Size of the whole context as sent to the model, overhead included; exact if the provider billed exactly this
        context."""
        whole, sizes = self.upto(len(self)), self.layout.sizes
        exact = 0 < len(self) == sizes.anchored_until
        return Size(whole.messages, whole.chars, whole.tokens + sizes.overhead, Basis.EXACT if exact else whole.basis)

    @property
    def export_note(self) -> ExportNote:
        """Size facts about this context for an export to record. The window is included only if the table of models
        does not have it."""
        limit = self.limit
        window = limit.tokens if limit and limit.source in ("given", "recorded") else None
        return export_note_of(self.layout.sizes, self.messages, self.model, window)

    def measure(self, messages: Sequence[Message]) -> Size:
        """Size of any messages, old or new, by the meter."""
        return measure(messages, self.layout.sizes.meter)

    def from_outcome(self, outcome: Outcome) -> Context:
        """Context after `outcome`, from which the session can continue.

        Kept messages keep their figures, new ones get the meter's. Pins on remaining messages are kept; a manual split
        is not. A recorded rejection as too long is dropped unless nothing changed, because it applied to the old
        context.
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
        stored = StoredHistory(self.stored_history, self.messages, len(layout.messages))
        return self.with_(
            layout=layout,
            pins=pins,
            split_at=None,
            at=None,
            memories=memories,
            stored_history=stored,
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
    """System prompt with the agent's memories."""
    return "\n".join(filter(None, (system, memories)))


def memories_in(text: str) -> list[str]:
    """Lines of an agent's memories, oldest first, without blank lines."""
    return [line for line in text.split("\n") if line.strip()]
