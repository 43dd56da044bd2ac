"""A summary request's text: the prompt, an earlier summary where there is one, and the messages as a transcript."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from workbench.compaction.context import Context
from workbench.compaction.fates import Saw
from workbench.compaction.render import transcript
from workbench.compaction.strategy import SummaryRequest
from workbench.compaction.text import cut_middle
from workbench.session import Span
from workbench.tokens.sizes import visible_chars

NEST = "An earlier summary of what came before. Work what still holds of it into the new summary."
EXTEND = "An earlier summary of what came before. It is carried on word for word: summarize only what came after it."


@dataclass(frozen=True, slots=True)
class Given:
    """What a request is made of, apart from the strategy's own settings of `SummaryRequest`.

    `spans` are the context's messages to be summarized, ascending. `hard_limit` bounds the text; 0 is no bound.
    """

    purpose: str
    prompt: str
    spans: tuple[Span, ...]
    previous: str = ""
    carry_on: bool = False
    hard_limit: int = 0


@dataclass(frozen=True)
class Rendered:
    """A request, and what of the context its summarizer sees.

    `saw(span)` divides a span of context indexes into what is seen in full, in part and not at all.
    """

    request: SummaryRequest
    saw: Callable[[Span], Iterable[tuple[Span, Saw]]]


def render_request(context: Context, given: Given, **settings: object) -> Rendered:
    """The request for `given`; `settings` are further fields of `SummaryRequest`.

    The text is rendered only when somebody reads it, unless it may be over the hard limit: then it is rendered at once,
    because which messages lose their text decides their fates.
    """
    indexes = [i for span in given.spans for i in range(span.start, span.stop)]
    messages = [context.messages[i] for i in indexes]
    sums, api = context.layout.chars, context.layout.api_chars
    chars = sum(sums[span.stop] - sums[span.start] for span in given.spans)
    frame = _frame(given)
    # No block's tags in the transcript are longer than its JSON; 40 covers those of a message.
    at_most = sum(api[span.stop] - api[span.start] for span in given.spans) + 40 * len(messages)
    room = given.hard_limit - sum(map(len, frame)) if given.hard_limit else 0
    if not given.hard_limit or at_most <= room:

        def render() -> str:
            return frame[0] + "\n".join(transcript(messages)) + frame[1]

        def seen(position: int) -> tuple[int, int]:
            size = visible_chars(messages[position])
            return size, size

        request = SummaryRequest(
            given.purpose, messages, given.prompt, render, previous=given.previous, chars=chars, seen=seen, **settings  # type: ignore[arg-type]
        )  # fmt: skip
        return Rendered(request, lambda span: [(span, "all")])

    parts = transcript(messages)
    text = cut_middle("\n".join(parts), max(room, 0))
    views = _views(parts, max(room, 0))
    by_index = dict(zip(indexes, views, strict=True))
    request = SummaryRequest(
        given.purpose, messages, given.prompt, lambda: frame[0] + text + frame[1],
        previous=given.previous, chars=min(chars, room), seen=views.__getitem__, **settings,  # type: ignore[arg-type]
    )  # fmt: skip
    return Rendered(request, lambda span: _divide(span, by_index))


def _frame(given: Given) -> tuple[str, str]:
    """What stands before and after the transcript."""
    before = given.prompt + "\n\n"
    if given.previous:
        before += f"{EXTEND if given.carry_on else NEST}\n<earlier_summary>\n{given.previous}\n</earlier_summary>\n\n"
    return before + "<conversation>\n", "\n</conversation>\n"


def _views(parts: Sequence[str], limit: int) -> list[tuple[int, int]]:
    """For every part of the transcript: (characters that survive the cut in the middle, characters of it)."""
    starts = list(accumulate((len(part) + 1 for part in parts), initial=0))
    total = starts[-1] - 1
    if total <= limit:
        return [(len(part), len(part)) for part in parts]
    end = max(limit - 1, 0) // 2
    start = max(limit - 1, 0) - end
    views = []
    for begin, part in zip(starts, parts, strict=False):
        stop = begin + len(part)
        views.append((max(0, min(stop, start) - begin) + max(0, stop - max(begin, total - end)), len(part)))
    return views


def _divide(span: Span, views: dict[int, tuple[int, int]]) -> list[tuple[Span, Saw]]:
    out: list[tuple[Span, Saw]] = []
    for index in range(span.start, span.stop):
        seen, of = views.get(index, (1, 1))
        saw: Saw = "all" if seen >= of else "part" if seen else "nothing"
        if out and out[-1][1] == saw:
            out[-1] = (Span(out[-1][0].start, index + 1), saw)
        else:
            out.append((Span(index, index + 1), saw))
    return out


def position_in(spans: Sequence[Span], index: int) -> int | None:
    """Where context message `index` stands among a request's messages, None if it is not among them."""
    at = bisect_left([span.stop for span in spans], index + 1)
    if at == len(spans) or index < spans[at].start:
        return None
    return sum(len(span) for span in spans[:at]) + index - spans[at].start
