"""Requests to a summarizer: the prompt, an earlier summary if any, and the messages within a size limit.

    one text          prompt · earlier summary? · the messages: all of them, or two ends with a marker between
    as messages       system prompt · tools · the messages, the oldest omitted when over the limit · prompt

A message that does not appear in the request was not summarized; the strategy decides its fate. Only messages that can
appear are rendered, so that planning 60 000 messages costs O(size limit).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from msgspec import Struct

from workbench.base.figures import grouped
from workbench.base.secrets import without_secrets
from workbench.base.text import clip_at_sentence, counted
from workbench.compaction.context import Context
from workbench.compaction.conversation import ASK, AsMessages, MessagesBody, RequestBody, TextBody, follow_up
from workbench.compaction.fates import Stroke
from workbench.compaction.language import Language
from workbench.compaction.outcome import Fate
from workbench.compaction.render import PartLimits, RenderedMessage, RoleLabels, labelled, tagged
from workbench.compaction.shape import Shape, newest_per_shape
from workbench.compaction.spans import indexes_of, spans_of
from workbench.compaction.summary_request import Answer, Requests, RequestSettings, SummaryFailed, SummaryRequest
from workbench.compaction.summary_tags import without_summary_tags
from workbench.session import Message, Span
from workbench.tokens.sizes import visible_chars

NEST: dict[Language, str] = {
    "en": "An earlier summary of what came before. Work what still holds of it into the new summary.",
    "zh": "此前内容的较早摘要。请将其中仍然有效的内容写入新的摘要。",
}
EXTEND: dict[Language, str] = {
    "en": "An earlier summary of what came before. It is carried on word for word: summarize only what came after it.",
    "zh": "此前内容的较早摘要，它会逐字保留：只需概括其后的内容。",
}


class RequestPrompt(Struct, frozen=True):
    """Text of a request around its messages.

    `previous`: text of an earlier summary, "" for none. `carry_on`: `previous` is kept word for word before the new
    summary, instead of being merged into it. `second_look`: follow-up question about the answer, "" for none; the
    answer to it replaces the first answer.
    """

    purpose: str
    text: str
    previous: str = ""
    carry_on: bool = False
    language: Language = "en"
    second_look: str = ""

    @property
    def opening(self) -> str:
        """Text before the messages, in a request of one text."""
        if not self.previous:
            return f"{self.text}\n\n"
        how = (EXTEND if self.carry_on else NEST)[self.language]
        return f"{self.text}\n\n{how}\n<earlier_summary>\n{self.previous}\n</earlier_summary>\n\n"

    @property
    def closing(self) -> str:
        """Last user message of a request made of the messages themselves, which include any earlier summary."""
        carry_on = self.carry_on and self.previous
        return f"{self.text}\n\n{EXTEND[self.language]}" if carry_on else self.text

    def with_previous(self, summary: str) -> str:
        """The new summary, after the earlier one with its secrets masked if `carry_on`."""
        return f"{without_secrets(self.previous)}\n\n{summary}" if self.carry_on and self.previous else summary


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


class ConversationStyle(Struct, frozen=True):
    """Request made of the messages before `stop`, without `left_out`, in the form `shape`. `limit`: characters of
    messages and prompt, 0 for no limit."""

    shape: AsMessages
    stop: int
    left_out: frozenset[int]
    limit: int


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


def both(first: Excerpt, second: Excerpt) -> Excerpt:
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


def truncation_for(hard_limit: int, prompt: RequestPrompt, style: Style) -> Truncation:
    """Truncation of the messages that keeps the whole request within `hard_limit` characters; 0: no limit."""
    if not hard_limit:
        return UNBOUNDED
    return without_middle(hard_limit - len(prompt.opening) - len(style.opening) - len(style.closing))


def as_text(prompt: RequestPrompt, style: Style, shown: Excerpt) -> TextBody:
    """Request body of one text: prompt, then messages."""
    return TextBody(lambda: f"{prompt.opening}{style.opening}{shown.render()}{style.closing}")


def request_for(
    context: Context,
    prompt: RequestPrompt,
    body: RequestBody,
    shown: Excerpt,
    settings: RequestSettings,
    *,
    exact: bool = True,
) -> SummaryRequest:
    """Request about the messages in `shown`. `exact`: false if the request depends on an answer that was only
    estimated."""
    messages: list[Message] = []
    for span in shown.spans:
        messages.extend(context.messages[span.start : span.stop])
    ends = list(accumulate(map(len, shown.spans)))
    chars = context.shape.chars

    def seen(position: int) -> tuple[int, int]:
        number = bisect_right(ends, position)
        index = shown.spans[number].stop - (ends[number] - position)
        of = chars[index + 1] - chars[index]
        return shown.in_part.get(index, (of, of))

    return SummaryRequest(
        prompt.purpose,
        messages,
        prompt.text,
        body,
        previous=prompt.previous,
        chars=shown.chars,
        seen=seen,
        masking=context.shape.masking,
        exact=exact,
        **vars(settings),
    )


def conversation_request(
    context: Context, spans: Sequence[Span], prompt: RequestPrompt, until: ConversationStyle
) -> tuple[MessagesBody, Excerpt]:
    """Request body made of the messages themselves, and the excerpt of `spans` in it.

    Over the limit (in characters of compact JSON), the oldest messages are omitted, up to a place that splits no tool
    pair: a conversation cannot be cut in the middle. System messages and earlier summaries are always included.
    """
    shape, chars, api = context.shape, context.shape.chars, context.shape.api_chars
    over = api[until.stop] + len(prompt.closing) - (until.limit or UNBOUNDED.limit)
    start = bisect_left(range(until.stop), over, shape.lead, key=api.__getitem__)
    while start < until.stop and shape.open_across[start]:
        start += 1
    standing = {*shape.own_system, *shape.summaries}
    apart = {index for index in until.left_out if index not in shape.partners}
    there = [i for i in range(until.stop) if (i >= start or i in standing) and i not in apart]
    shown = tuple(Span(max(span.start, start), span.stop) for span in spans if span.stop > start)
    under = until.shape == "messages_under_prompt"
    body = MessagesBody(
        until.shape,
        prompt.closing if under else context.system,
        context.tools if until.shape == "messages" else (),
        tuple(context.messages[index] for index in there),
        ASK[prompt.language] if under else prompt.closing,
    )
    seen = sum(chars[span.stop] - chars[span.start] for span in shown)
    return body, Excerpt(lambda: body.text, seen, shown, {}, cut=start > shape.lead)


def ask_for_summary(
    context: Context,
    spans: Sequence[Span],
    prompt: RequestPrompt,
    style: Style | ConversationStyle,
    bounds: Truncation,
    settings: RequestSettings,
    trace: list[str],
) -> Generator[Requests, tuple[Answer, ...] | None, tuple[str, Excerpt] | SummaryFailed]:
    """Request a summary of the messages `spans`; return it (with `carry_on` after the earlier summary) and the excerpt.

    `bounds` limits a request of one text. A `ConversationStyle` has its own limit.
    """
    body: RequestBody
    if isinstance(style, ConversationStyle):
        body, shown = conversation_request(context, spans, prompt, style)
        if not shown.spans:
            return SummaryFailed("overflow", f"no message fits into {grouped(style.limit)} characters")
        if shown.cut:
            left_out = sum(map(len, spans)) - sum(map(len, shown.spans))
            trace.append(f"request over its limit: the oldest {counted(left_out, 'message')} not sent")
    else:
        shown = excerpt(context, spans, style, bounds)
        body = as_text(prompt, style, shown)
        if shown.cut:
            ends = f"only the first {grouped(bounds.first)} and last {grouped(bounds.last)} characters"
            trace.append(f"request over its limit: {ends} of the messages sent")
    request = request_for(context, prompt, body, shown, settings)
    answer = yield from ask(request, trace)
    if prompt.second_look and not isinstance(answer, SummaryFailed):
        answer = yield from _ask_again(request, prompt, answer, trace)
    return answer if isinstance(answer, SummaryFailed) else (prompt.with_previous(answer), shown)


def _ask_again(
    request: SummaryRequest, prompt: RequestPrompt, answer: str, trace: list[str]
) -> Generator[Requests, tuple[Answer, ...] | None, str]:
    """Ask the follow-up question; return its answer, or the first answer if it fails."""
    body = follow_up(request.body, answer, prompt.second_look)
    again = replace(request, purpose=f"{request.purpose}, second check", body=body, exact=False)
    better = yield from ask(again, trace)
    if isinstance(better, SummaryFailed):
        trace.append(f"the second check failed, the first summary is used: {better}")
        return answer
    return better


def ask(
    request: SummaryRequest, trace: list[str]
) -> Generator[Requests, tuple[Answer, ...] | None, str | SummaryFailed]:
    """Send one request and return its answer, cleaned by `clean_answer`."""
    (answer,) = (yield (request,)) or (SummaryFailed("error", "no answer"),)
    return clean_answer(answer, request.max_chars, trace)


def cut_at_sentence(summary: str, limit: int) -> str:
    """Cut a summary to `limit` characters at the end of a sentence. Secrets are masked first, because a secret cut in
    two is no longer recognized."""
    return summary if len(summary) <= limit else clip_at_sentence(without_secrets(summary), limit)


def clean_answer(answer: Answer, limit: int, trace: list[str]) -> str | SummaryFailed:
    """Summary text without its outer tags, cut to `limit` characters (0: no limit) with a line in `trace`. Returns the
    failure of a failed answer, and a failure for an empty one."""
    if isinstance(answer, SummaryFailed):
        return answer
    summary = without_summary_tags(answer.text)
    if limit and len(summary) > limit:
        trace.append(f"the summary's {grouped(len(summary))} characters were cut to {grouped(limit)}")
        return cut_at_sentence(summary, limit)
    return summary or SummaryFailed("empty", "the answer has no text")
