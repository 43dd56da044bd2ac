"""Manual edits of a plan: messages dropped or shortened before the strategy sees the context.

The strategy works on the edited context, and its outcome is composed with the edits, so that fates and checks cover
both. Without effective edits, the strategy works on the context itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from msgspec import Struct

from workbench.base.figures import grouped
from workbench.base.text import clip_middle, counted, plural
from workbench.compaction.compose import SourceMap, composed
from workbench.compaction.context import Context, Layout
from workbench.compaction.fates import Stroke, painted
from workbench.compaction.invariants import must_stay, pinned_with_pairs, with_pairs
from workbench.compaction.outcome import Fate, KeptSpan, Outcome, Rung, unchanged
from workbench.compaction.policy import Policy
from workbench.compaction.shape import Shape, per_shape
from workbench.compaction.spans import pieces_in_place, spans_of
from workbench.compaction.strategy import Compacting, Strategy
from workbench.session import Block, Message, Span, Text, ToolResult
from workbench.session.masked import cut_blocks

SHORT_CHARS = 1_000
"""Characters to which the texts and tool results of a shortened message are cut in the middle."""


class Edits(Struct, frozen=True):
    """Ids of messages to drop and to shorten. A message in both is dropped; pins win over either."""

    dropped: frozenset[str] = frozenset()
    shortened: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.dropped or self.shortened)


UNEDITED = Edits()


def shortened_message(message: Message) -> Message:
    """Cut every text and tool result over `SHORT_CHARS` in the middle, with secrets masked; return the same object if
    none is longer.

    Id, calls, media and thinking are kept; `source` is removed, because no record has the new text.
    """
    blocks = cut_blocks(message, _short)
    if all(new is old for new, old in zip(blocks, message.blocks, strict=True)):
        return message
    return replace(message, blocks=blocks, source=())


def _short(block: Block) -> Block:
    match block:
        case Text(text) if len(text) > SHORT_CHARS:
            return Text(clip_middle(text, SHORT_CHARS))
        case ToolResult(_, content) if any(isinstance(p, Text) and len(p.text) > SHORT_CHARS for p in content):
            return replace(
                block,
                content=tuple(
                    Text(clip_middle(part.text, SHORT_CHARS)) if isinstance(part, Text) else part for part in content
                ),
            )
    return block


def reach(context: Context, edits: Edits) -> tuple[frozenset[int], frozenset[int]]:
    """Return the indexes of messages to drop, with complete tool pairs, and of messages to shorten.

    Pins with their pairs and the session's own system messages are not edited. Unknown ids are ignored.
    """
    shape = context.shape
    safe = must_stay(context)
    dropped = with_pairs(shape, _indexes_of(shape, edits.dropped)) - safe
    return dropped, frozenset(_indexes_of(shape, edits.shortened)) - dropped - safe


def _indexes_of(shape: Shape, ids: Iterable[str]) -> list[int]:
    return [shape.index_of[id] for id in ids if id in shape.index_of]


def apply_edits(context: Context, edits: Edits) -> Outcome:
    """Return the outcome of the edits alone: "unchanged" if all their messages are pinned or already short."""
    dropped, shortened = reach(context, edits)
    messages = context.messages
    new = {i: short for i in shortened if (short := shortened_message(messages[i])) is not messages[i]}
    if not dropped and not new:
        return unchanged(messages, "the edits change nothing: their messages are pinned or already short")
    pieces = pieces_in_place(Span(0, len(messages)), new, dropped)
    strokes = (
        Stroke(Fate.KEPT, (Span(0, len(messages)),)),
        Stroke(Fate.PINNED, spans_of(sorted(pinned_with_pairs(context)))),
        Stroke(Fate.COMPRESSED, spans_of(sorted(new)), "part"),
        Stroke(Fate.DROPPED, spans_of(sorted(dropped))),
    )
    draft = Outcome(
        "compacted", _describe_edits(dropped, new), messages, tuple(pieces), painted(len(messages), strokes)
    )
    before, after = context.total.tokens, context.outcome_size(draft).tokens
    line = f"manual edit: {draft.reason}: {grouped(before)} → {grouped(after)} tokens"
    return replace(draft, rungs=(Rung("manual edit", before, after, draft.reason),), trace=(line,))


def _describe_edits(dropped: Collection[int], shortened: Collection[int]) -> str:
    parts = (
        f"{named(indexes)} {what}" for indexes, what in ((dropped, "dropped"), (shortened, "shortened")) if indexes
    )
    return ", ".join(parts)


def named(indexes: Collection[int]) -> str:
    """Return messages by number from 1, `messages 4–5, 9`; for more than four spans, only their count."""
    spans, count = spans_of(sorted(indexes)), len(indexes)
    if len(spans) > 4:
        return counted(count, "message")
    several = (f"{s.start + 1}–{s.stop}" if len(s) > 1 else str(s.start + 1) for s in spans)
    return f"{plural(count, 'message')} {', '.join(several)}"


def context_after_edits(context: Context, edits: Edits) -> Context:
    """Return the context that the strategy gets: the edited messages with their pins, and the split at the nearest
    remaining message; `context` itself if the edits change nothing."""
    first = _effective_edits(context, edits)
    return context if first is None else _edited_context(context, first)


def compacting(context: Context, edits: Edits, strategy: Strategy[Any], policy: Policy) -> Compacting:
    """Run the strategy on `context` as edited. The outcome is one of `context`: its fates cover every message.

    If the strategy changes nothing, a manual run applies the edits alone; any other run changes nothing.
    """
    first = _effective_edits(context, edits)
    if first is None:
        return (yield from strategy.run(context, policy))
    second = yield from strategy.run(_edited_context(context, first), policy)
    both = composed(first, second)
    tail = SourceMap(first).index(second.split) if second.split else 0
    if second.status == "unchanged" and not context.manual:
        return unchanged(context.messages, second.reason, both.trace)
    if second.status == "unchanged":
        return replace(
            both, status="compacted", reason=f"manual edits only, {first.reason}; {second.reason}", tail=tail
        )
    return replace(both, reason=f"manual edits, {first.reason}; then {second.reason}", tail=tail)


def _effective_edits(context: Context, edits: Edits) -> Outcome | None:
    """Return the outcome of the edits; None if they change nothing."""
    if not edits:
        return None
    first = apply_edits(context, edits)
    return None if first.status == "unchanged" else first


def _edited_context(context: Context, first: Outcome) -> Context:
    layout = _layout(context, first)
    pins = frozenset(id for id in context.pins if id in layout.shape.index_of)
    return context.with_(
        layout=layout,
        pins=pins,
        split_at=nearest(context.shape, layout.shape, context.split_at),
        first_context=_first_context(context, layout.shape),
    )


def _first_context(context: Context, after: Shape) -> Shape:
    """Return the session's first context with its first request as edited. Return it without messages if the request is
    dropped: no other request takes its place."""
    opening = context.opening
    request = next((message for message in opening.messages if message.starts_round), None)
    before = None if request is None else _message_with_request(context, request)
    if before is None:
        return opening
    if before.id not in after.index_of:
        return Shape(())
    edited = after.messages[after.index_of[before.id]]
    return opening if edited is before else Shape([edited if one is request else one for one in opening.messages])


def _message_with_request(context: Context, request: Message) -> Message | None:
    """Return the message of the context with the id of `request`, else the first one with its text, else None."""
    at = context.shape.index_of.get(request.id)
    if at is not None:
        return context.messages[at]
    return next((one for one in context.messages if one.starts_round and one.user_text == request.user_text), None)


def nearest(before: Shape, after: Shape, id: str | None) -> str | None:
    """Return `id` if `after` has it, else the id of the next message that `after` has, else of the last one before;
    None if it has none. An id that `before` lacks, and None, are returned as they are."""
    if id is None or id in after.index_of or id not in before.index_of:
        return id
    at = before.index_of[id]
    others = (*range(at + 1, len(before.messages)), *range(at - 1, -1, -1))
    return next((there for i in others if (there := before.messages[i].id) in after.index_of), None)


def _layout(context: Context, first: Outcome) -> Layout:
    """Return the layout of the edited context. The newest one is cached: it depends on the edits and the sizes, not on
    split, pins or policy."""
    known = _last_layout(context.shape)
    key = tuple(piece if isinstance(piece, KeptSpan) else piece.replaces for piece in first.pieces)
    sizes = context.layout.sizes
    if key not in known:
        known.clear()
        known[key] = (sizes, context.from_outcome(first).layout)
    made_for, layout = known[key]
    if made_for is not sizes:
        layout = Layout(layout.shape, context.from_outcome(first).layout.sizes)
        known[key] = (sizes, layout)
    return layout


@per_shape
def _last_layout(shape: Shape) -> dict[tuple[KeptSpan | tuple[Span, ...], ...], tuple[object, Layout]]:
    return {}
