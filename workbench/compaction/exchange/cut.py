"""Cut a context between exchanges: its history, head and tail by characters, and the segments that limit the
request."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.compaction.context import Context
from workbench.compaction.keeping import pinned_with_pairs
from workbench.compaction.shape import Shape
from workbench.compaction.spans import merge_adjacent
from workbench.session import Message, Span, ToolUse


@dataclass(frozen=True, slots=True)
class ExchangeHistory:
    """Exchanges of a context that count as history: ascending numbers, and their sizes."""

    exchanges: Sequence[int]
    sizes: Sequence[int]


def current_exchanges(
    versions: Sequence[int | None], *, current: int, enabled: bool, side_by_side: bool = False
) -> tuple[int, ...]:
    """Numbers of exchanges that count, without those that an earlier summary replaced. Summaries kept `side_by_side`
    replace nothing.

    `versions`: summary version of each exchange, None for one that is no summary.
    """
    if not enabled:
        return tuple(i for i, version in enumerate(versions) if version is None)
    newest = next((i for i in range(len(versions) - 1, -1, -1) if versions[i] == current and not side_by_side), 0)
    return tuple(i for i in range(newest, len(versions)) if versions[i] in (None, current))


def history_of(context: Context, *, version: int, enabled: bool, side_by_side: bool = False) -> ExchangeHistory:
    """History of a context, see `current_exchanges`; a summary without a recorded version has this `version`."""
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
    """Size in `api_chars` of what earlier summaries replaced and no other message has; 0 if one of them is of this
    version, or there is none."""
    shape = context.shape
    ids = (context.messages[index].id for index in shape.summaries)
    counts = enabled and any(context.summary_versions.get(id, version) == version for id in ids)
    return context.past.size_outside(shape) if shape.summaries and not counts else 0


@dataclass
class HistorySize:
    """Size of the history as a running sum, message by message.

    `replaced`: size of what earlier summaries of the context replaced, if none of them is of this version; then the
    whole stored history counts. `_closed`: size of the complete exchanges. `_open`: size of the last one, which may
    grow, and `_summary` the version of its summary, None without one.
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
        """Add a message. A request is everything up to the next answer; a summary is an exchange of its own, with the
        summary that answers it."""
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
    """Number of oldest exchanges that become the head.

    From the newest: an exchange goes to the tail while `total + size < tail_chars` or the tail has fewer than
    `min_tail`; `total` grows either way, so the first exchange of the head ends the walk.
    """
    total = kept = 0
    for size in reversed(sizes):
        if not (total + size < tail_chars or kept < min_tail):
            break
        total += size
        kept += 1
    return len(sizes) - kept


def guarded_start(sizes: Sequence[int], limit: int) -> int:
    """First exchange of the head that the summarizer gets.

    A segment has at most `limit / 3`; an exchange that would exceed it starts a new one (an oversize first exchange
    leaves the first segment empty). Fewer than 4 segments: 0. Else the start of segment `2·⌊(n−2)/2⌋`.
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
    """The cut, or the reason why there is nothing to compact. Appends to `trace`."""
    shape, exchanges, sizes = context.shape, history.exchanges, history.sizes
    ideal = min(_head_length(context, history, numbers, trace), _read(shape, exchanges))
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
    spans = _spans(shape, fresh)
    fresh_sizes = [size for number, size in zip(head, sizes, strict=False) if number not in old]
    skipped = guarded_start(fresh_sizes, numbers.guard_chars)
    if skipped:
        trace.append(f"guard: the oldest {skipped} of {len(fresh)} exchanges are not sent to the summarizer")
    return ExchangeCut(
        head=spans,
        shown=_spans(shape, fresh[skipped:]),
        last=shape.exchanges[fresh[-1]],
        tail=_tail(shape, exchanges, length),
        earlier=tuple(i for i in shape.summaries if shape.exchange_index(i + 1) - 1 in head),
        pins=pins,
    )


def _head_length(context: Context, history: ExchangeHistory, numbers: CutSettings, trace: list[str]) -> int:
    """Number of exchanges in the head, from a split set by hand or from the policy."""
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


def _read(shape: Shape, exchanges: Sequence[int]) -> int:
    """Number of answered exchanges: the unanswered one is never in the head."""
    if not shape.unread:
        return len(exchanges)
    return bisect_left(exchanges, shape.exchange_index(shape.unread[0] + 1) - 1)


def _before_late_results(shape: Shape, exchanges: Sequence[int], length: int, trace: list[str]) -> int:
    """Shorten the head until the only calls answered in the tail are those of its last exchange, answered at once:
    these move to the node. A call with a later result would be separated from it."""
    ideal = length
    while length and not _answered_at_once(shape, exchanges, length):
        length -= 1
    if length < ideal:
        trace.append(f"moved back by {ideal - length} exchanges: a call's result comes later than the next exchange")
    return length


def _answered_at_once(shape: Shape, exchanges: Sequence[int], length: int) -> bool:
    tail = _tail(shape, exchanges, length)
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


def _tail(shape: Shape, exchanges: Sequence[int], length: int) -> int:
    return shape.exchanges[exchanges[length]].start if length < len(exchanges) else len(shape.messages)


def _spans(shape: Shape, numbers: Sequence[int]) -> tuple[Span, ...]:
    """Exchanges, by ascending numbers, as spans of messages; adjacent ones are joined."""
    exchanges = shape.exchanges
    if numbers and numbers[-1] - numbers[0] + 1 == len(numbers):
        return (Span(exchanges[numbers[0]].start, exchanges[numbers[-1]].stop),)
    return tuple(merge_adjacent(exchanges[number] for number in numbers))
