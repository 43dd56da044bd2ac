"""What a summarizer is asked: the prompt, an earlier summary if there is one, and what it is shown of the context.

    one text          prompt · earlier summary? · the messages: all of them, or two ends with a marker between
    as messages       system prompt · tools · the messages, the oldest left out where there are too many · prompt

A message of which nothing is shown was not summarized: its fate is for the strategy to say. Only what may
be shown is rendered, so that a plan over 60 000 messages costs what its limit costs.
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
from workbench.compaction.strategy import Answer, Requests, RequestSettings, SummaryFailed, SummaryRequest
from workbench.compaction.text import without_summary_tags
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
    """What a request says beside the messages. `carry_on`: the earlier summary's text stands before the new one's.
    `second_look`: what is asked of the answer, "" for nothing; the second answer then counts."""

    purpose: str
    prompt: str
    previous: str = ""
    carry_on: bool = False
    language: Language = "en"
    second_look: str = ""

    @property
    def before(self) -> str:
        """What stands before the messages."""
        if not self.previous:
            return f"{self.prompt}\n\n"
        how = (EXTEND if self.carry_on else NEST)[self.language]
        return f"{self.prompt}\n\n{how}\n<earlier_summary>\n{self.previous}\n</earlier_summary>\n\n"

    @property
    def last(self) -> str:
        """What is asked after the messages themselves, among which an earlier summary stands."""
        carried_on = self.carry_on and self.previous
        return f"{self.prompt}\n\n{EXTEND[self.language]}" if carried_on else self.prompt

    def carried(self, summary: str) -> str:
        """The new summary, after the earlier one, without its secrets, where that is carried on."""
        return f"{without_secrets(self.previous)}\n\n{summary}" if self.carry_on and self.previous else summary


class Style(Struct, frozen=True):
    """How messages are shown: each by `entry_at(index)`, joined by `gap`, between `opening` and `closing`.

    `at_most(span)` bounds the length of entries and gaps from above without rendering them; None where only rendering
    can tell. With it goes `in_part(span)`: the messages that are not shown whole, as (seen, of) by index.
    """

    entry_at: Callable[[int], RenderedMessage]
    gap: str
    opening: str
    closing: str
    at_most: Callable[[Span], int] | None = None
    in_part: Callable[[Span], Mapping[int, tuple[int, int]]] = lambda span: {}


class ConversationStyle(Struct, frozen=True):
    """The conversation itself is sent, as `shape` says, its messages before `stop` without those `left_out`; at most
    `limit` characters of them and the prompt, 0 for no limit."""

    shape: AsMessages
    stop: int
    left_out: frozenset[int]
    limit: int


class Truncation(Struct, frozen=True):
    """A text over `limit` characters becomes its first `first`, `marker`, and its last `last`."""

    limit: int
    first: int
    last: int
    marker: str = "…"


def without_middle(limit: int) -> Truncation:
    """At most `limit` characters, the marker counted; the start gets the odd one. 0 and less: nothing."""
    end = max(limit - 1, 0) // 2
    return Truncation(limit, max(limit - 1, 0) - end, end) if limit > 0 else Truncation(0, 0, 0, "")


UNBOUNDED = Truncation(1 << 62, 1 << 62, 0)


class Excerpt(Struct, frozen=True):
    """What is shown: of the messages `spans` all but what `in_part` says, (seen, of) characters by index; of any other
    message nothing. `chars` is about how much it is, `cut` whether a middle is left out."""

    render: Callable[[], str]
    chars: int
    spans: tuple[Span, ...]
    in_part: Mapping[int, tuple[int, int]]
    cut: bool

    def strokes(self) -> tuple[Stroke, Stroke]:
        """The fates of what was shown: summarized, seen whole or in part. What was not is left to other strokes."""
        parts = spans_of(sorted(self.in_part))
        return Stroke(Fate.SUMMARIZED, self.spans, "all"), Stroke(Fate.SUMMARIZED, parts, "part")


def both(first: Excerpt, second: Excerpt) -> Excerpt:
    """What two requests show of different messages."""
    return Excerpt(
        lambda: f"{first.render()}\n{second.render()}",
        first.chars + second.chars,
        (*first.spans, *second.spans),
        {**first.in_part, **second.in_part},
        cut=first.cut or second.cut,
    )


def excerpt(context: Context, spans: Sequence[Span], style: Style, bounds: Truncation) -> Excerpt:
    """The messages `spans` within `bounds` (marker not counted). Rendered now only where it may have to be cut."""
    if style.at_most is not None and sum(map(style.at_most, spans)) <= bounds.limit:
        return _whole(context, spans, style)
    front, total = _gathered(indexes_of(spans), style, bounds.limit)
    if total <= bounds.limit:
        text = _joined(front, style)
        return _shown(lambda: text, len(text), [(index, one.seen, one.of) for index, one in front], cut=False)
    backwards = (index for span in reversed(spans) for index in range(span.stop - 1, span.start - 1, -1))
    back = _gathered(backwards, style, bounds.last)[0] if bounds.last else []
    start = _joined(_reaching(front, style, bounds.first), style)[: bounds.first]
    end = _joined(back[::-1], style)[-bounds.last :] if bounds.last else ""
    views: dict[int, tuple[int, int]] = {}
    for gathered, room in ((front, bounds.first), (back, bounds.last)):
        for index, one in gathered:
            if room <= 0:
                break
            already, _ = views.get(index, (0, 0))
            seen = one.seen if len(one.text) <= room else one.seen * room // len(one.text)
            views[index] = (min(seen + already, one.of), one.of)
            room -= len(one.text) + (len(style.gap) if one.text else 0)
    text = start + bounds.marker + end
    return _shown(lambda: text, len(text), [(index, *view) for index, view in sorted(views.items())], cut=True)


def _whole(context: Context, spans: Sequence[Span], style: Style) -> Excerpt:
    chars = context.shape.chars
    parts = {index: view for span in spans for index, view in style.in_part(span).items()}
    return Excerpt(
        lambda: style.gap.join(style.entry_at(index).text for index in indexes_of(spans)),
        sum(chars[span.stop] - chars[span.start] for span in spans) - sum(of - seen for seen, of in parts.values()),
        tuple(spans),
        parts,
        cut=False,
    )


def _shown(render: Callable[[], str], chars: int, views: Iterable[tuple[int, int, int]], *, cut: bool) -> Excerpt:
    """`views`: index, seen, of; ascending. A message of no characters is shown whole, one of none seen not at all."""
    there = [(index, seen, of) for index, seen, of in views if seen or not of]
    parts = {index: (seen, of) for index, seen, of in there if seen < of}
    return Excerpt(render, chars, tuple(spans_of(index for index, _, _ in there)), parts, cut)


def _gathered(indexes: Iterable[int], style: Style, enough: int) -> tuple[list[tuple[int, RenderedMessage]], int]:
    """Entries until their joined length is over `enough`; that length."""
    gathered: list[tuple[int, RenderedMessage]] = []
    total = -len(style.gap)
    for index in indexes:
        one = style.entry_at(index)
        gathered.append((index, one))
        total += len(one.text) + len(style.gap) if one.text else 0
        if total > enough:
            break
    return gathered, max(total, 0)


def _reaching(
    gathered: Sequence[tuple[int, RenderedMessage]], style: Style, room: int
) -> Sequence[tuple[int, RenderedMessage]]:
    """The first entries whose joined length reaches `room`, all of them where it does not."""
    total = -len(style.gap)
    for number, (_, one) in enumerate(gathered, 1):
        total += len(one.text) + len(style.gap) if one.text else 0
        if total >= room:
            return gathered[:number]
    return gathered


def _joined(gathered: Iterable[tuple[int, RenderedMessage]], style: Style) -> str:
    return style.gap.join(one.text for _, one in gathered if one.text)


def tagged_style(context: Context, spans: Sequence[Span], message_at: Callable[[int], Message] | None = None) -> Style:
    """Messages whole and in tags; a call is open where its result is not among `spans`. `message_at(index)` gives what
    is shown in a message's place, in fewer words; itself by default."""
    shape = context.shape
    chars, api = shape.chars, shape.api_chars
    starts = [span.start for span in spans]
    known = _entries_made(shape, message_at)

    def given(index: int) -> bool:
        at = bisect_right(starts, index) - 1
        return at >= 0 and index < spans[at].stop

    def entry_at(index: int) -> RenderedMessage:
        partners = shape.partners.get(index, ())
        whole = all(map(given, partners))
        if whole and index in known:
            return known[index]
        message = original = shape.messages[index]
        seen = of = chars[index + 1] - chars[index]
        if message_at is not None and (message := message_at(index)) is not original:
            seen = min(visible_chars(message), of)
        answered = {r.call_id for at in partners if given(at) for r in shape.messages[at].results}
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
    """Messages as labelled lines, each part cut to its limit."""
    known = _entries_made(shape, (labels, limits))
    messages, chars = shape.messages, shape.chars

    def entry_at(index: int) -> RenderedMessage:
        found = known.get(index)
        if found is None:
            found = known[index] = labelled(messages[index], labels, limits, chars[index + 1] - chars[index])
        return found

    return Style(entry_at, "\n\n", "---\n", "\n---\n")


@newest_per_shape
def _entries_made(shape: Shape, style: Hashable) -> dict[int, RenderedMessage]:
    """The entries of one style that are rendered already."""
    return {}


def truncation_for(hard_limit: int, asked: RequestPrompt, style: Style) -> Truncation:
    """The bounds that keep a whole request under `hard_limit` characters; 0 is no limit."""
    if not hard_limit:
        return UNBOUNDED
    return without_middle(hard_limit - len(asked.before) - len(style.opening) - len(style.closing))


def as_text(asked: RequestPrompt, style: Style, shown: Excerpt) -> TextBody:
    """The prompt and what is shown of the messages, as one text."""
    return TextBody(lambda: f"{asked.before}{style.opening}{shown.render()}{style.closing}")


def request_for(
    context: Context,
    asked: RequestPrompt,
    body: RequestBody,
    shown: Excerpt,
    settings: RequestSettings,
    *,
    exact: bool = True,
) -> SummaryRequest:
    """The request about the messages of which something is shown."""
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
        asked.purpose,
        messages,
        asked.prompt,
        body,
        previous=asked.previous,
        chars=shown.chars,
        seen=seen,
        masking=context.shape.masking,
        exact=exact,
        **vars(settings),
    )


def conversation_request(
    context: Context, spans: Sequence[Span], asked: RequestPrompt, until: ConversationStyle
) -> tuple[MessagesBody, Excerpt]:
    """The conversation, and what of the messages `spans` it shows.

    Over the limit, in characters of the API's form, the oldest messages are left out, up to the first place at which
    no tool pair is torn: a conversation has no middle that could be cut. System messages and earlier summaries stay.
    """
    shape, chars, api = context.shape, context.shape.chars, context.shape.api_chars
    over = api[until.stop] + len(asked.last) - (until.limit or UNBOUNDED.limit)
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
        asked.last if under else context.system,
        context.tools if until.shape == "messages" else (),
        tuple(context.messages[index] for index in there),
        ASK[asked.language] if under else asked.last,
    )
    seen = sum(chars[span.stop] - chars[span.start] for span in shown)
    return body, Excerpt(lambda: body.text, seen, shown, {}, cut=start > shape.lead)


def ask_for_summary(
    context: Context,
    spans: Sequence[Span],
    asked: RequestPrompt,
    style: Style | ConversationStyle,
    bounds: Truncation,
    settings: RequestSettings,
    trace: list[str],
) -> Generator[Requests, tuple[Answer, ...] | None, tuple[str, Excerpt] | SummaryFailed]:
    """Show the messages `spans` within `bounds`, ask, and give the answer, an earlier summary that is carried on before
    it, with what was shown. The bounds are those of one text."""
    body: RequestBody
    if isinstance(style, ConversationStyle):
        body, shown = conversation_request(context, spans, asked, style)
        if not shown.spans:
            return SummaryFailed("overflow", f"no message fits into {grouped(style.limit)} characters")
        if shown.cut:
            left_out = sum(map(len, spans)) - sum(map(len, shown.spans))
            trace.append(f"request over its limit: the oldest {counted(left_out, 'message')} not sent")
    else:
        shown = excerpt(context, spans, style, bounds)
        body = as_text(asked, style, shown)
        if shown.cut:
            ends = f"only the first {grouped(bounds.first)} and last {grouped(bounds.last)} characters"
            trace.append(f"request over its limit: {ends} of the messages sent")
    request = request_for(context, asked, body, shown, settings)
    answer = yield from ask(request, trace)
    if asked.second_look and not isinstance(answer, SummaryFailed):
        answer = yield from _looked_at_again(request, asked, answer, trace)
    return answer if isinstance(answer, SummaryFailed) else (asked.carried(answer), shown)


def _looked_at_again(
    request: SummaryRequest, asked: RequestPrompt, answer: str, trace: list[str]
) -> Generator[Requests, tuple[Answer, ...] | None, str]:
    """The answer that a second look at the first gives; the first where it gives none."""
    body = follow_up(request.body, answer, asked.second_look)
    again = replace(request, purpose=f"{request.purpose}, second check", body=body, exact=False)
    better = yield from ask(again, trace)
    if isinstance(better, SummaryFailed):
        trace.append(f"the second check failed, the first summary is used: {better}")
        return answer
    return better


def ask(
    request: SummaryRequest, trace: list[str]
) -> Generator[Requests, tuple[Answer, ...] | None, str | SummaryFailed]:
    """Ask one thing, and give the answer fit for use; see `clean_answer`."""
    (answer,) = (yield (request,)) or (SummaryFailed("error", "no answer"),)
    return clean_answer(answer, request.max_chars, trace)


def cut_at_sentence(summary: str, limit: int) -> str:
    """A summary in at most `limit` characters: cut, a secret of it might be told no longer, so it is masked before."""
    return summary if len(summary) <= limit else clip_at_sentence(without_secrets(summary), limit)


def clean_answer(answer: Answer, limit: int, trace: list[str]) -> str | SummaryFailed:
    """A summary without its outer tags, cut to `limit` characters (0: no limit), of which `trace` tells; the failure
    where there is none. A summary of no text is a failure too."""
    if isinstance(answer, SummaryFailed):
        return answer
    summary = without_summary_tags(answer.text)
    if limit and len(summary) > limit:
        trace.append(f"the summary's {grouped(len(summary))} characters were cut to {grouped(limit)}")
        return cut_at_sentence(summary, limit)
    return summary or SummaryFailed("empty", "the answer has no text")
