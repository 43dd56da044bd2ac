"""Render messages for a request: whole, or cut to a size limit with a marker in the gap.

Only messages that can appear are rendered, so that planning 60 000 messages costs O(size limit).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from msgspec import Struct

from workbench.compaction.context import Context
from workbench.compaction.fates import Stroke
from workbench.compaction.outcome import Fate
from workbench.compaction.render import PartLimits, RenderedMessage, RoleLabels, labelled, tagged
from workbench.compaction.shape import Shape, newest_per_shape
from workbench.compaction.spans import indexes_of, spans_of
from workbench.session import Message, Span
from workbench.tokens.sizes import visible_chars


class Style(Struct, frozen=True):
    """Rendering of messages: each by `entry_at(index)`, joined by `gap`, between `opening` and `closing`.

    `at_most(span)`: upper bound of the rendered length in characters, without rendering; None if there is no such
    bound. `in_part(span)`: messages rendered incompletely, as (characters shown, characters) by index; used only with
    `at_most`.
    """

    entry_at: Callable[[int], RenderedMessage]
    gap: str
    opening: str
    closing: str
    at_most: Callable[[Span], int] | None = None
    in_part: Callable[[Span], Mapping[int, tuple[int, int]]] = lambda span: {}


class Truncation(Struct, frozen=True):
    """Limit of a text in characters: a longer one becomes its first `first`, `marker`, and its last `last`."""

    limit: int
    first: int
    last: int
    marker: str = "…"


def without_middle(limit: int) -> Truncation:
    """Truncation to `limit` characters including the marker; an odd character goes to the start. 0 or less: empty."""
    end = max(limit - 1, 0) // 2
    return Truncation(limit, max(limit - 1, 0) - end, end) if limit > 0 else Truncation(0, 0, 0, "")


UNBOUNDED = Truncation(1 << 62, 1 << 62, 0)


class Excerpt(Struct, frozen=True):
    """Messages in a request. `spans`: messages of which anything is shown. `in_part`: those shown incompletely, as
    (characters shown, characters) by index. `chars`: approximate length. `cut`: a middle or a beginning is omitted."""

    render: Callable[[], str]
    chars: int
    spans: tuple[Span, ...]
    in_part: Mapping[int, tuple[int, int]]
    cut: bool

    def strokes(self) -> tuple[Stroke, Stroke]:
        """Fates of the messages shown: summarized, seen whole or in part. Other messages get no fate here."""
        parts = spans_of(sorted(self.in_part))
        return Stroke(Fate.SUMMARIZED, self.spans, "all"), Stroke(Fate.SUMMARIZED, parts, "part")


def join_excerpts(first: Excerpt, second: Excerpt) -> Excerpt:
    """Join the excerpts of two requests over different messages."""
    return Excerpt(
        lambda: f"{first.render()}\n{second.render()}",
        first.chars + second.chars,
        (*first.spans, *second.spans),
        {**first.in_part, **second.in_part},
        cut=first.cut or second.cut,
    )


def excerpt(context: Context, spans: Sequence[Span], style: Style, bounds: Truncation) -> Excerpt:
    """Excerpt of the messages `spans`, within `bounds` (marker not counted). Renders them now only if they may need to
    be cut."""
    if style.at_most is not None and sum(map(style.at_most, spans)) <= bounds.limit:
        return _whole_excerpt(context, spans, style)
    front, total = _render_until(indexes_of(spans), style, bounds.limit)
    if total <= bounds.limit:
        text = _join_texts(front, style)
        return _partial_excerpt(lambda: text, len(text), [(index, one.seen, one.of) for index, one in front], cut=False)
    backwards = (index for span in reversed(spans) for index in range(span.stop - 1, span.start - 1, -1))
    back = _render_until(backwards, style, bounds.last)[0] if bounds.last else []
    start = _join_texts(_shortest_prefix(front, style, bounds.first), style)[: bounds.first]
    end = _join_texts(back[::-1], style)[-bounds.last :] if bounds.last else ""
    views: dict[int, tuple[int, int]] = {}
    for entries, room in ((front, bounds.first), (back, bounds.last)):
        for index, one in entries:
            if room <= 0:
                break
            already, _ = views.get(index, (0, 0))
            seen = one.seen if len(one.text) <= room else one.seen * room // len(one.text)
            views[index] = (min(seen + already, one.of), one.of)
            room -= len(one.text) + (len(style.gap) if one.text else 0)
    text = start + bounds.marker + end
    return _partial_excerpt(
        lambda: text, len(text), [(index, *view) for index, view in sorted(views.items())], cut=True
    )


def _whole_excerpt(context: Context, spans: Sequence[Span], style: Style) -> Excerpt:
    chars = context.shape.chars
    parts = {index: view for span in spans for index, view in style.in_part(span).items()}
    return Excerpt(
        lambda: style.gap.join(style.entry_at(index).text for index in indexes_of(spans)),
        sum(chars[span.stop] - chars[span.start] for span in spans) - sum(of - seen for seen, of in parts.values()),
        tuple(spans),
        parts,
        cut=False,
    )


def _partial_excerpt(
    render: Callable[[], str], chars: int, views: Iterable[tuple[int, int, int]], *, cut: bool
) -> Excerpt:
    """Excerpt from `views`: (index, characters shown, characters), ascending. An empty message counts as shown whole; a
    message with nothing shown is not in the excerpt."""
    there = [(index, seen, of) for index, seen, of in views if seen or not of]
    parts = {index: (seen, of) for index, seen, of in there if seen < of}
    return Excerpt(render, chars, tuple(spans_of(index for index, _, _ in there)), parts, cut)


def _render_until(indexes: Iterable[int], style: Style, enough: int) -> tuple[list[tuple[int, RenderedMessage]], int]:
    """Return entries until their joined length exceeds `enough`, and that length."""
    entries: list[tuple[int, RenderedMessage]] = []
    total = -len(style.gap)
    for index in indexes:
        one = style.entry_at(index)
        entries.append((index, one))
        total += len(one.text) + len(style.gap) if one.text else 0
        if total > enough:
            break
    return entries, max(total, 0)


def _shortest_prefix(
    entries: Sequence[tuple[int, RenderedMessage]], style: Style, room: int
) -> Sequence[tuple[int, RenderedMessage]]:
    """Shortest prefix whose joined length reaches `room`, or all entries."""
    total = -len(style.gap)
    for number, (_, one) in enumerate(entries, 1):
        total += len(one.text) + len(style.gap) if one.text else 0
        if total >= room:
            return entries[:number]
    return entries


def _join_texts(entries: Iterable[tuple[int, RenderedMessage]], style: Style) -> str:
    return style.gap.join(one.text for _, one in entries if one.text)


def tagged_style(context: Context, spans: Sequence[Span], message_at: Callable[[int], Message] | None = None) -> Style:
    """Style that renders whole messages in tags. A call whose result is outside `spans` is marked open.
    `message_at(index)` returns a shortened message to render instead; default: the message itself."""
    shape = context.shape
    chars, api = shape.chars, shape.api_chars
    starts = [span.start for span in spans]
    known = _rendered(shape, message_at)

    def is_shown(index: int) -> bool:
        at = bisect_right(starts, index) - 1
        return at >= 0 and index < spans[at].stop

    def entry_at(index: int) -> RenderedMessage:
        partners = shape.partners.get(index, ())
        whole = all(map(is_shown, partners))
        if whole and index in known:
            return known[index]
        message = original = shape.messages[index]
        seen = of = chars[index + 1] - chars[index]
        if message_at is not None and (message := message_at(index)) is not original:
            seen = min(visible_chars(message), of)
        answered = {r.call_id for at in partners if is_shown(at) for r in shape.messages[at].results}
        entry = RenderedMessage(tagged(message, answered), seen, of)
        if whole:
            known[index] = entry
        return entry

    def in_part(span: Span) -> Mapping[int, tuple[int, int]]:
        found: dict[int, tuple[int, int]] = {}
        for index in range(span.start, span.stop) if message_at is not None else ():
            if message_at is not None and (message := message_at(index)) is not shape.messages[index]:
                of = chars[index + 1] - chars[index]
                found[index] = (min(visible_chars(message), of), of)
        return found

    # No block's tags are longer than its JSON; 40 covers those of a message.
    def at_most(span: Span) -> int:
        return api[span.stop] - api[span.start] + 40 * len(span)

    return Style(entry_at, "\n", "<conversation>\n", "\n</conversation>\n", at_most, in_part)


def labelled_style(shape: Shape, labels: RoleLabels, limits: PartLimits) -> Style:
    """Style that renders messages as labelled lines, each part cut to its limit."""
    known = _rendered(shape, (labels, limits))
    messages, chars = shape.messages, shape.chars

    def entry_at(index: int) -> RenderedMessage:
        found = known.get(index)
        if found is None:
            found = known[index] = labelled(messages[index], labels, limits, chars[index + 1] - chars[index])
        return found

    return Style(entry_at, "\n\n", "---\n", "\n---\n")


@newest_per_shape
def _rendered(shape: Shape, style: Hashable) -> dict[int, RenderedMessage]:
    """Cache of rendered messages by index, for one style."""
    return {}
