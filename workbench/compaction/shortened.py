"""A context's messages with their tool results compressed, and summary requests made of them.

Made once per layout and limits, whatever the split and the pins.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.compaction.context import Context, Layout
from workbench.compaction.fates import merged
from workbench.compaction.per_layout import per_layout
from workbench.compaction.request import Rendered
from workbench.compaction.tool_results import Limits, compress
from workbench.session import Block, Message, Span, ToolResult, ToolUse, pairs_of
from workbench.tokens.sizes import visible_chars


@dataclass(frozen=True)
class Shortened:
    """`layout` holds the same messages at the same places, those at `changed` (ascending) in fewer words. A changed
    message keeps its id; it has no `source`, for no record holds its new words."""

    layout: Layout
    changed: array[int]

    def changed_in(self, span: Span) -> Sequence[int]:
        return self.changed[bisect_left(self.changed, span.start) : bisect_left(self.changed, span.stop)]


def shortened(layout: Layout, limits: Limits) -> Shortened:
    """Every tool result of `layout` compressed by its tool's kind. O(messages) once, O(1) again for the same limits."""
    made = _last_made(layout)
    if limits not in made:
        made.clear()  # Numbers move while a person turns them: only the newest are worth their memory.
        made[limits] = _shorten(layout, limits)
    return made[limits]


@per_layout
def _last_made(layout: Layout) -> dict[Limits, Shortened]:
    return {}


def _shorten(layout: Layout, limits: Limits) -> Shortened:
    messages = list(layout.messages)
    calls = dict(_calls_by_result(messages))
    changed = array("q")
    for index, message in enumerate(layout.messages):
        if message.role in ("tool", "user") and message.kind != "summary" and message.results:
            blocks = tuple(_block(block, calls.get((index, n)), limits) for n, block in enumerate(message.blocks))
            if any(new is not old for new, old in zip(blocks, message.blocks, strict=True)):
                messages[index] = replace(message, blocks=blocks, source=())
                changed.append(index)
    # Token figures stay those of the words as they were: nothing reads them here.
    return Shortened(Layout(tuple(messages), layout.sizes), changed)


def _block(block: Block, call: ToolUse | None, limits: Limits) -> Block:
    """A result whose call is not there stays: which rule it takes cannot be told."""
    return compress(call, block, limits) if isinstance(block, ToolResult) and call is not None else block


def _calls_by_result(messages: Sequence[Message]) -> Iterator[tuple[tuple[int, int], ToolUse]]:
    """The call of each result block, by message index and block number; ids may repeat, so pairs decide."""
    for pair in pairs_of(messages):
        if pair.call is None or pair.result is None:
            continue
        call = next(call for call in messages[pair.call].calls if call.id == pair.id)
        for number, block in enumerate(messages[pair.result].blocks):
            if isinstance(block, ToolResult) and block.call_id == pair.id:
                yield (pair.result, number), call


def two_ends(spans: Sequence[Span], chars: Sequence[int], limit: int) -> tuple[Span, ...]:
    """The oldest and the newest of the messages that can show at all in a request of `limit` characters that loses its
    middle: a session of 100 MB is not rendered only to be cut. `chars` are prefix sums."""
    start, stop = spans[0].start, spans[-1].stop
    low = bisect_right(chars, chars[start] + limit)
    high = bisect_right(chars, chars[stop] - limit) - 1
    if low >= high:
        return tuple(spans)
    shown = (
        Span(max(span.start, end.start), min(span.stop, end.stop))
        for end in (Span(start, low), Span(high, stop))
        for span in spans
    )
    return tuple(merged(shown))


def about_originals(context: Context, short: Shortened, spans: Sequence[Span], rendered: Rendered) -> Rendered:
    """A request rendered from `short`, as one about the context's own messages `spans`: its text says less of them than
    they hold, and `seen` says how much."""
    indexes = [i for span in spans for i in range(span.start, span.stop)]
    messages = [context.messages[i] for i in indexes]
    inner = rendered.request.seen

    def seen(position: int) -> tuple[int, int]:
        now, of = inner(position) if inner is not None else (0, 0)
        original = messages[position]
        if short.layout.messages[indexes[position]] is original:
            return now, of
        whole = visible_chars(original)
        return min(now, whole), whole

    return replace(rendered, request=replace(rendered.request, messages=messages, seen=seen))
