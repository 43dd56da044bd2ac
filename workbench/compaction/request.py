"""Requests to a summarizer: the prompt, an earlier summary if any, and the messages within a size limit.

    one text          prompt · earlier summary? · the messages: all of them, or two ends with a marker between
    as messages       system prompt · tools · the messages, the oldest omitted when over the limit · prompt

A message that does not appear in the request was not summarized; the strategy decides its fate.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Generator, Sequence
from dataclasses import replace
from itertools import accumulate

from msgspec import Struct

from workbench.base.figures import grouped
from workbench.base.secrets import without_secrets
from workbench.base.text import clip_at_sentence, counted
from workbench.compaction.context import Context
from workbench.compaction.excerpt import (
    UNBOUNDED,
    Excerpt,
    Style,
    Truncation,
    excerpt,
    without_middle,
)
from workbench.compaction.language import Language
from workbench.compaction.summary_request import (
    ASK,
    Answer,
    AsMessages,
    MessagesBody,
    RequestBody,
    Requests,
    RequestSettings,
    SummaryFailed,
    SummaryRequest,
    TextBody,
    follow_up,
)
from workbench.compaction.summary_template import without_summary_tags
from workbench.session import Message, Span

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


class ConversationStyle(Struct, frozen=True):
    """Request with the messages before `stop`, except `left_out`, in the form `shape`. `limit`: characters of
    messages and prompt, 0 for no limit."""

    shape: AsMessages
    stop: int
    left_out: frozenset[int]
    limit: int


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
    context: Context, spans: Sequence[Span], prompt: RequestPrompt, style: ConversationStyle
) -> tuple[MessagesBody, Excerpt]:
    """Request body made of the messages themselves, and the excerpt of `spans` in it.

    Over the limit (in characters of compact JSON), the oldest messages are omitted, up to a place that splits no tool
    pair: a conversation cannot be cut in the middle. System messages and earlier summaries are always included.
    """
    shape, chars, api = context.shape, context.shape.chars, context.shape.api_chars
    over = api[style.stop] + len(prompt.closing) - (style.limit or UNBOUNDED.limit)
    start = bisect_left(range(style.stop), over, shape.lead, key=api.__getitem__)
    while start < style.stop and shape.open_across[start]:
        start += 1
    always = {*shape.own_system, *shape.summaries}
    apart = {index for index in style.left_out if index not in shape.partners}
    there = [i for i in range(style.stop) if (i >= start or i in always) and i not in apart]
    shown = tuple(Span(max(span.start, start), span.stop) for span in spans if span.stop > start)
    under = style.shape == "messages_under_prompt"
    body = MessagesBody(
        style.shape,
        prompt.closing if under else context.system,
        context.tools if style.shape == "messages" else (),
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
