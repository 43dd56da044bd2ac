"""Cut a context between two exchanges into head and tail, by size in characters, and limit the part of the head that
the summarizer gets."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.compaction.context import Context
from workbench.compaction.invariants import pinned_with_pairs
from workbench.compaction.shape import Shape
from workbench.compaction.spans import merge_adjacent
from workbench.session import Message, Span, ToolUse


@dataclass(frozen=True, slots=True)
class ExchangeHistory:
    """Exchanges of a context that count as history: their numbers, ascending, and their sizes in `api_chars`."""

    exchanges: Sequence[int]
    sizes: Sequence[int]


def current_exchanges(
    versions: Sequence[int | None], *, current: int, enabled: bool, side_by_side: bool = False
) -> tuple[int, ...]:
    """Return the numbers of the exchanges that count as history. Summaries of other versions than `current` do not.

    The newest summary of the current version replaces all exchanges before it, unless summaries are kept
    `side_by_side`. Not `enabled`: every exchange counts that is no summary. `versions`: summary version of each
    exchange, None for one that is no summary.
    """
    if not enabled:
        return tuple(i for i, version in enumerate(versions) if version is None)
    newest = next((i for i in range(len(versions) - 1, -1, -1) if versions[i] == current and not side_by_side), 0)
    return tuple(i for i in range(newest, len(versions)) if versions[i] in (None, current))


def history_of(context: Context, *, version: int, enabled: bool, side_by_side: bool = False) -> ExchangeHistory:
    """Return the history of a context, see `current_exchanges`. `version` is the current one; summaries that record no
    version count as current."""
    shape = context.shape
    if not shape.summaries:
        return ExchangeHistory(range(len(shape.exchanges)), shape.exchange_sizes)
    versions: list[int | None] = [None] * len(shape.exchanges)
    for index in shape.summaries:
        recorded = context.summary_versions.get(context.messages[index].id, version)
        versions[shape.exchange_index(index + 1) - 1] = recorded
    numbers = current_exchanges(versions, current=version, enabled=enabled, side_by_side=side_by_side)
    return ExchangeHistory(numbers, [shape.exchange_sizes[number] for number in numbers])


def replaced_size(context: Context, *, version: int, enabled: bool) -> int:
    """Return the size in `api_chars` of stored messages that the context no longer has because earlier summaries
    replaced them. 0 without earlier summaries, and if one of `version` is in force."""
    shape = context.shape
    ids = (context.messages[index].id for index in shape.summaries)
    counts = enabled and any(context.summary_versions.get(id, version) == version for id in ids)
    return context.stored_history.size_outside(shape) if shape.summaries and not counts else 0


@dataclass
class HistorySize:
    """Running size of the history in `api_chars`, message by message.

    `recorded`: summary versions by message id. `replaced`: size at the beginning, see `replaced_size`. `_closed`: size
    of the complete exchanges. `_open`: size of the last exchange, which may grow. `_summary`: version of the summary in
    it, None without one.
    """

    recorded: Mapping[str, int]
    version: int
    enabled: bool
    side_by_side: bool = False
    replaced: int = 0
    _closed: int = field(init=False)
    _open: int = 0
    _summary: int | None = None
    _begun: bool = False

    def __post_init__(self) -> None:
        self._closed = self.replaced

    def add(self, message: Message, chars: int, tokens: int) -> None:
        """Add a message. An answer ends an exchange. A summary begins a new one, which only an answer that is
        a summary as well joins."""
        if not self._begun and message.is_own_system:
            return
        self._begun = True
        summary, answers = message.is_summary, message.role == "assistant"
        if (summary and not answers) or (self._summary is not None and not (summary and answers)):
            self._close()
        self._open += chars
        if summary:
            self._summary = self.recorded.get(message.id, self.version)
        if answers:
            self._close()

    @property
    def value(self) -> int:
        """Size of the history so far, in characters of compact JSON."""
        counts = self.enabled and self._summary == self.version
        if self._summary is None or (counts and self.side_by_side):
            return self._closed + self._open
        # A summary of this version replaces what came before it; one of another is left out.
        return self._open if counts else self._closed

    def _close(self) -> None:
        self._closed, self._open, self._summary = self.value, 0, None


def head_length(sizes: Sequence[int], tail_chars: int, min_tail: int) -> int:
    """Return the number of oldest exchanges that become the head.

    The tail takes exchanges, from the newest back, as long as its size with the exchange stays below `tail_chars`, or
    it has fewer than `min_tail` exchanges. The first one that it does not take is the newest of the head.
    """
    total = kept = 0
    for size in reversed(sizes):
        if not (total + size < tail_chars or kept < min_tail):
            break
        total += size
        kept += 1
    return len(sizes) - kept


def guarded_start(sizes: Sequence[int], limit: int) -> int:
    """Return the index of the first exchange of the head that the summarizer gets.

    The head is divided into n segments of at most `limit / 3` characters; an exchange that does not fit begins the next
    segment, so that an oversize first exchange leaves the first segment empty. With fewer than 4 segments the
    summarizer gets all (0), else segment `2·⌊(n−2)/2⌋` and those after it, counted from 0.
    """
    starts = [0]
    current = 0
    for index, size in enumerate(sizes):
        # 3 · size against the limit: thirds of a number of characters need no fraction.
        if 3 * (current + size) > limit:
            starts.append(index)
            current = 0
        current += size
    if len(starts) < 4:
        return 0
    return starts[2 * ((len(starts) - 2) // 2)]


@dataclass(frozen=True, slots=True)
class CutSettings:
    """Settings of the cut; see `head_length` and `guarded_start`."""

    tail_chars: int
    min_tail: int
    guard_chars: int


@dataclass(frozen=True, slots=True)
class ExchangeCut:
    """A cut, by message index.

    `head`: messages that the summary replaces. `shown`: those of them that the summarizer gets. `last`: the head's last
    exchange. `tail`: first message of the tail. `earlier`: summaries in the head. `pins`: pins with their pairs,
    anywhere.
    """

    head: tuple[Span, ...]
    shown: tuple[Span, ...]
    last: Span
    tail: int
    earlier: tuple[int, ...]
    pins: frozenset[int]


def cut_exchanges(
    context: Context, history: ExchangeHistory, numbers: CutSettings, trace: list[str]
) -> ExchangeCut | str:
    """Return the cut, or the reason why there is nothing to compact. Appends its steps, in words, to `trace`."""
    shape, exchanges, sizes = context.shape, history.exchanges, history.sizes
    ideal = min(_head_length(context, history, numbers, trace), _answered_exchanges(shape, exchanges))
    length = _before_late_results(shape, exchanges, ideal, trace)
    if length == 0:
        return "the head is empty"
    trace.append(
        f"head: {counted(length, 'exchange')}, {grouped(sum(sizes[:length]))} characters; "
        f"tail: {counted(len(exchanges) - length, 'exchange')}, {grouped(sum(sizes[length:]))} characters"
    )
    head = exchanges[:length]
    old = {shape.exchange_index(i + 1) - 1 for i in shape.summaries}
    fresh = [number for number in head if number not in old] if old else head
    if not fresh:
        return "the head holds only an earlier summary"
    pins = pinned_with_pairs(context)
    spans = _message_spans(shape, fresh)
    fresh_sizes = [size for number, size in zip(head, sizes, strict=False) if number not in old]
    skipped = guarded_start(fresh_sizes, numbers.guard_chars)
    if skipped:
        trace.append(f"guard: the oldest {skipped} of {len(fresh)} exchanges are not sent to the summarizer")
    return ExchangeCut(
        head=spans,
        shown=_message_spans(shape, fresh[skipped:]),
        last=shape.exchanges[fresh[-1]],
        tail=_tail_start(shape, exchanges, length),
        earlier=tuple(i for i in shape.summaries if shape.exchange_index(i + 1) - 1 in head),
        pins=pins,
    )


def _head_length(context: Context, history: ExchangeHistory, numbers: CutSettings, trace: list[str]) -> int:
    """Return the number of exchanges in the head, from a split set by hand or from the settings."""
    shape = context.shape
    if context.split_at is not None:
        first_tail = max(shape.exchange_index(shape.index_of[context.split_at] + 1) - 1, 0)
        trace.append(f"manual split before exchange {first_tail + 1}")
        return bisect_left(history.exchanges, first_tail)
    trace.append(
        f"tail by size: below {grouped(numbers.tail_chars)} characters, "
        f"at least {counted(numbers.min_tail, 'exchange')}"
    )
    return head_length(history.sizes, numbers.tail_chars, numbers.min_tail)


def _answered_exchanges(shape: Shape, exchanges: Sequence[int]) -> int:
    """Return the number of answered exchanges. An unanswered one is never in the head."""
    if not shape.unread:
        return len(exchanges)
    return bisect_left(exchanges, shape.exchange_index(shape.unread[0] + 1) - 1)


def _before_late_results(shape: Shape, exchanges: Sequence[int], length: int, trace: list[str]) -> int:
    """Return the number of exchanges of the head after shortening it, so that no call is separated from its result.
    Only the head's last exchange may have calls with results in the tail, and these must be in the tail's first
    exchange: such calls are written again after the summary, next to their results."""
    ideal = length
    while length and not _answered_at_once(shape, exchanges, length):
        length -= 1
    if length < ideal:
        trace.append(f"moved back by {counted(ideal - length, 'exchange')}: a result comes after the next exchange")
    return length


def _answered_at_once(shape: Shape, exchanges: Sequence[int], length: int) -> bool:
    tail = _tail_start(shape, exchanges, length)
    if not shape.open_across[tail]:
        return True
    last, following = shape.exchanges[exchanges[length - 1]], shape.exchanges[exchanges[length]]
    results = [at for index in range(last.start, last.stop) for at in shape.partners.get(index, ()) if at >= tail]
    return max(results, default=0) < following.stop and shape.open_across[tail] == len(open_calls(shape, last, tail))


def open_calls(shape: Shape, span: Span, tail: int) -> tuple[tuple[int, ToolUse], ...]:
    """Calls of messages `span` whose results are in the tail, each with its message's index."""
    return tuple(
        (index, call)
        for index in range(span.start, span.stop)
        for call in shape.messages[index].calls
        if any(
            at >= tail and any(result.call_id == call.id for result in shape.messages[at].results)
            for at in shape.partners.get(index, ())
        )
    )


def _tail_start(shape: Shape, exchanges: Sequence[int], length: int) -> int:
    return shape.exchanges[exchanges[length]].start if length < len(exchanges) else len(shape.messages)


def _message_spans(shape: Shape, numbers: Sequence[int]) -> tuple[Span, ...]:
    """Return the exchanges with these ascending numbers as spans of messages; adjacent spans are joined."""
    exchanges = shape.exchanges
    if numbers and numbers[-1] - numbers[0] + 1 == len(numbers):
        return (Span(exchanges[numbers[0]].start, exchanges[numbers[-1]].stop),)
    return tuple(merge_adjacent(exchanges[number] for number in numbers))
