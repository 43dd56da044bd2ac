"""Replace groups of messages by one summary each: the requests, and the outcome after the answers.

Each summary takes the place of the first message that it replaces, never before a first request that stays. A group
whose summary fails stays unchanged.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass

from workbench.compaction.context import Context
from workbench.compaction.excerpt import Excerpt, excerpt, tagged_style
from workbench.compaction.fates import Stroke, painted
from workbench.compaction.invariants import pinned_with_pairs
from workbench.compaction.language import Language
from workbench.compaction.outcome import Fate, KeptSpan, NewMessage, Outcome, Piece
from workbench.compaction.progressive.retained import extras_for, first_request_index
from workbench.compaction.progressive.rungs import MessageGroup, RungPlan
from workbench.compaction.prompts import fill
from workbench.compaction.request import RequestPrompt, as_text, clean_answer, request_for, truncation_for
from workbench.compaction.spans import joined, kept_pieces, spans_of
from workbench.compaction.summary_extras import SummaryExtras, summary_alone
from workbench.compaction.summary_request import Answer, Requests, RequestSettings, SummaryFailed, SummaryRequest
from workbench.compaction.summary_template import summaries_in_request
from workbench.compaction.vocabulary import EarlierSummary
from workbench.session import Message, Span, Text

Replacing = Generator[Requests, tuple[Answer, ...] | None, Outcome | SummaryFailed]


@dataclass(frozen=True, slots=True)
class SummaryWording:
    """Prompt and template of summaries. A limit of 0 is no limit; `template` has {summary} and {retained}."""

    prompt: str
    template: str
    language: Language
    max_chars: int
    hard_limit: int


@dataclass(frozen=True, slots=True)
class Replacement:
    """Group with its messages as `spans`, and the earlier summaries that its summary replaces (`consumed`); the request
    contains the text of those in `nested`."""

    group: MessageGroup
    spans: tuple[Span, ...]
    consumed: tuple[int, ...]
    nested: tuple[int, ...]
    prompt: RequestPrompt
    shown: Excerpt
    request: SummaryRequest


def replace_groups(
    context: Context,
    cut: RungPlan,
    *,
    keep: Collection[int],
    more: SummaryExtras,
    non_interactive: bool,
    choice: Callable[[int], EarlierSummary],
    wording: SummaryWording,
    exact: bool,
) -> Replacing:
    """Request all summaries of the plan at once, and return the outcome, or the failure if every one failed.

    `choice(i)`: treatment of the earlier summary at `i`; those in `keep` stay. The last group's summary carries the
    extras `more`; see `extras_for`.
    """
    waiting = _replacements(context, cut, keep, choice, wording, exact)
    answers = (yield tuple(one.request for one in waiting)) or (SummaryFailed("error", "no answer"),) * len(waiting)
    trace: list[str] = []
    done: list[tuple[Replacement, str]] = []
    failure = SummaryFailed("error", "no answer")
    for one, answer in zip(waiting, answers, strict=True):
        summary = clean_answer(answer, wording.max_chars, trace)
        if isinstance(summary, SummaryFailed):
            failure = summary
            trace.append(f"{one.group.purpose}: its {len(one.group.indexes)} messages are kept: {failure}")
        else:
            done.append((one, one.prompt.with_previous(summary)))
    if not done:
        return failure
    texts = [
        extras_for(
            context,
            one.group.indexes,
            one.consumed,
            more if one is done[-1][0] else SummaryExtras(),
            oldest=one is done[0][0],
            non_interactive=non_interactive,
        )
        for one, _ in done
    ]
    return _outcome(context, done, texts, wording.template, trace)


def _replacements(
    context: Context,
    cut: RungPlan,
    keep: Collection[int],
    choice: Callable[[int], EarlierSummary],
    wording: SummaryWording,
    exact: bool,
) -> list[Replacement]:
    found: list[Replacement] = []
    open_summaries = [index for index in context.shape.summaries if index not in keep and choice(index) != "keep"]
    for group in cut.groups:
        consumed = tuple(index for index in open_summaries if index < group.indexes[-1])
        open_summaries = open_summaries[len(consumed) :]
        nested = tuple(i for i in consumed if summaries_in_request(context, (i,), choice(i)))
        previous = "\n\n".join(summary_alone(context.messages[index].text) for index in nested)
        carry_on = any(choice(index) == "extend" for index in nested)
        prompt = RequestPrompt(group.purpose, wording.prompt, previous, carry_on, wording.language)
        spans = spans_of(group.indexes)
        style = tagged_style(context, spans)
        shown = excerpt(context, spans, style, truncation_for(wording.hard_limit, prompt, style))
        settings = RequestSettings(language=wording.language, max_chars=wording.max_chars)
        request = request_for(context, prompt, as_text(prompt, style, shown), shown, settings, exact=exact)
        found.append(Replacement(group, tuple(spans), consumed, nested, prompt, shown, request))
    return found


def _outcome(
    context: Context,
    done: Sequence[tuple[Replacement, str]],
    texts: Sequence[SummaryExtras],
    template: str,
    trace: Sequence[str],
) -> Outcome:
    replaced = set[int]().union(*(part for one, _ in done for part in (one.group.indexes, one.consumed)))
    kept = frozenset(range(len(context))) - replaced
    new_by_place: dict[int, list[NewMessage]] = {}
    for (one, summary), carried in zip(done, texts, strict=True):
        filled = fill(template, {"summary": summary, "retained": carried.back}).strip()
        text = f"{carried.front}\n\n{filled}" if carried.front else filled
        newest = context.messages[one.group.indexes[-1]]
        message = Message(f"summary-{newest.id}", "user", (Text(text),), kind="summary", time=newest.time)
        replaces = tuple(joined(one.spans, one.nested))
        new_by_place.setdefault(_place(context, one, kept), []).append(NewMessage(message, replaces))
    return Outcome(
        "compacted",
        "",
        context.messages,
        tuple(_pieces(kept, new_by_place)),
        painted(len(context), _strokes(context, done)),
        trace=tuple(trace),
    )


def _place(context: Context, one: Replacement, kept: Collection[int]) -> int:
    """Index before which the summary of `one` is placed; never between a kept call and its results."""
    at = min((one.group.indexes[0], *one.consumed))
    request = first_request_index(context)
    if request is not None and request in kept:
        older = (index for index in range(request) if index in kept)
        if all(context.messages[index].is_own_system for index in older):
            at = max(at, request + 1)
    partners = context.shape.partners
    for index in range(at, len(context)):
        if index in kept:
            if not any(call < at and call in kept for call in partners.get(index, ())):
                break
            at = index + 1
    return at


def _pieces(kept: Iterable[int], new_by_place: Mapping[int, Sequence[NewMessage]]) -> Iterable[Piece]:
    """Kept messages, with every new message at its place."""
    places = deque(sorted(new_by_place))
    for span in spans_of(sorted(kept)):
        start = span.start
        while places and places[0] < span.stop:
            place = places.popleft()
            yield from kept_pieces([Span(start, place)])
            yield from new_by_place[place]
            start = max(start, place)
        yield KeptSpan(start, span.stop)
    for place in places:
        yield from new_by_place[place]


def _strokes(context: Context, done: Sequence[tuple[Replacement, str]]) -> Iterable[Stroke]:
    """Fates of all messages. Messages of a group that no request shows, and earlier summaries that are not nested, are
    dropped."""
    yield Stroke(Fate.KEPT, (Span(0, len(context)),))
    yield Stroke(Fate.PINNED, spans_of(sorted(pinned_with_pairs(context))))
    for one, _ in done:
        yield Stroke(Fate.DROPPED, joined(one.spans, one.consumed))
        yield Stroke(Fate.SUMMARIZED, spans_of(one.nested), "all")
        yield from one.shown.strokes()
