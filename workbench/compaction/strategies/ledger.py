"""`ledger`: within a budget, what must not be lost is kept by code and not trusted to a model.

Our own. What goes where:

    before   [system] m1 m2 … mk                          | mk+1 … mn
    after    [system] ledger: entries · narrative  [pins] | mk+1 … mn

The budget holds the whole result. Entries and messages compete for what system messages, pins and the narrative leave
of it, by what a token of each is worth (`compaction/ledger/queue.py`); messages may be shortened. What there is no room
for the ledger counts by kind. There need be no model: the ledger does without a narrative.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from workbench.base.figures import grouped
from workbench.base.secrets import without_secrets
from workbench.base.text import clip_at_sentence, counted
from workbench.compaction import vocabulary
from workbench.compaction.context import Context
from workbench.compaction.fates import Stroke, painted
from workbench.compaction.gauge import Gauge
from workbench.compaction.keeping import head_of, pieces_in_place, pinned_with_pairs, summaries_in_request, with_pairs
from workbench.compaction.ledger.gather import narratives_of, numbering
from workbench.compaction.ledger.lost import lost_from
from workbench.compaction.ledger.plan import LedgerPlan, planned, spans
from workbench.compaction.ledger.room import LedgerTask
from workbench.compaction.ledger.ruler import Ruler, in_characters, in_tokens
from workbench.compaction.lint import lint_prompt
from workbench.compaction.outcome import Fate, NewMessage, Outcome, Piece, Status, unchanged
from workbench.compaction.policy import Needs, setting
from workbench.compaction.render import LABELS, PartLimits
from workbench.compaction.request import (
    Excerpt,
    RequestPrompt,
    ask_for_summary,
    cut_at_sentence,
    labelled_style,
    truncation_for,
)
from workbench.compaction.spans import indexes_of, joined, kept_pieces, spans_of, without
from workbench.compaction.strategy import Compacting, ResultBudget, Strategy, Traits, Trigger
from workbench.compaction.summarizing import PromptPolicy, builtin_text
from workbench.compaction.summary_request import SummaryFailed
from workbench.compaction.triggers import TokenLimits, token_triggers
from workbench.compaction.verdict import with_verdict
from workbench.session import Message, Span, Text

CALL_CHARS = 1_000
"""Of a call's input the model is shown so much."""

CARRIED_PERCENT = 15
"""What earlier summaries may take where no model is asked."""

CHARS_PER_TOKEN = 3
"""Of a narrative: few enough that what is asked for in characters fits its room in tokens."""

SHORTEST_NARRATIVE = 100
"""In fewer characters a model cannot tell anything, and it is not asked."""

NOTHING_SHOWN = Excerpt(lambda: "", 0, (), {}, cut=False)


NARRATIVE: Needs = {"narrative_percent": ...}


class LedgerPolicy(PromptPolicy, TokenLimits):
    """Budget, its shares, and what the model is asked."""

    trigger_window_percent: float = vocabulary.trigger_window_percent(80.0)
    budget_tokens: int = setting(
        0,
        "budget",
        "Most tokens of the result, pins included. 0: use the share of the window.",
        unit="tokens",
        needs={"budget_chars": (0,)},
        ge=0,
    )
    budget_chars: int = setting(
        0,
        "budget",
        "The same limit in characters, for agents that count characters. 0: use tokens.",
        unit="characters",
        ge=0,
    )
    budget_window_percent: float = setting(
        25.0,
        "budget",
        "Budget as a share of the model's window, or of this context if the window is unknown.",
        unit="%",
        needs={"budget_chars": (0,), "budget_tokens": (0,)},
        gt=0,
        le=100,
    )
    narrative_percent: float = setting(
        15.0, "budget", "Most that a narrative by the model may take. 0: no model is used.", unit="%", ge=0, le=90
    )
    prompt: str = vocabulary.prompt(needs=NARRATIVE)
    summary_char_limit: int = vocabulary.summary_char_limit(0, "by its share", needs=NARRATIVE)
    request_char_limit: int = vocabulary.request_char_limit(400_000, needs=NARRATIVE)
    result_char_limit: int = vocabulary.result_char_limit(2_000, needs=NARRATIVE)

    builtin_texts: ClassVar = {"prompt": builtin_text("ledger-narrative")}


def triggers(now: Gauge, policy: LedgerPolicy) -> tuple[Trigger, ...]:
    """Tokens, however they are given."""
    return token_triggers(now, policy)


def compact(context: Context, policy: LedgerPolicy, trace: list[str]) -> Compacting:
    """See the module's docstring. A narrative that fails is done without: status `fallback`."""
    shape = context.shape
    budget, ruler = budget_of(context, policy).most, ruler_of(context, policy)
    if context.split_at is None and ruler.span(0, len(context)) <= budget:
        return unchanged(context.messages, "nothing to compact: everything fits the budget", trace)
    kept_summaries = shape.summaries if policy.earlier_summary == "keep" else ()
    always = with_pairs(shape, {*shape.own_system, *kept_summaries}.difference(_earlier_ledger(context)))
    always |= pinned_with_pairs(context)
    if ruler.each(sealed := _sealed(context)) <= budget // 2:
        always |= with_pairs(shape, sealed)
    ground = LedgerTask(context, ruler, always, policy.language, _split(context))
    told = without_secrets(narratives_of(context, _carried(context, policy)))
    failed, shown = "", NOTHING_SHOWN
    share = int((policy.narrative_percent or CARRIED_PERCENT) * max(budget - ruler.each(always), 0) / 100)
    share_chars = share * (CHARS_PER_TOKEN if ruler.unit == "tokens" else 1)
    max_chars = min(share_chars, policy.summary_char_limit or share_chars)
    narrative = clip_at_sentence(told, max_chars)
    if policy.narrative_percent and share_chars >= SHORTEST_NARRATIVE:
        fresh, carried, _ = _gone(context, policy, planned(ground, budget - share))
    else:
        fresh = []
    if fresh:
        prompt = RequestPrompt(
            "narrative of the head",
            policy.asks(max_chars=str(max_chars)),
            narratives_of(context, carried),
            carry_on=policy.earlier_summary == "extend",
            language=policy.language,
        )
        style = labelled_style(
            shape, LABELS[policy.language], PartLimits(1 << 30, CALL_CHARS, policy.result_char_limit)
        )
        bounds = truncation_for(policy.request_char_limit, prompt, style)
        settings = replace(policy.request, form="narrative", max_chars=max_chars)
        answer = yield from ask_for_summary(context, fresh, prompt, style, bounds, settings, trace)
        if isinstance(answer, SummaryFailed):
            failed = f"no new narrative: {answer}"
        else:
            narrative, shown = cut_at_sentence(answer[0].strip(), max_chars), answer[1]
    plan = planned(ground, budget, narrative)
    if shown is NOTHING_SHOWN:
        plan = _told_further(ground, budget, plan, narrative, told)
    fresh, carried, gone = _gone(context, policy, plan)
    if not fresh and not (plan.said and plan.shorter) and ruler.each(carried) <= plan.ledger_takes:
        return _without_ledger(context, plan, budget, ruler, trace)
    gone = gone or spans_of(sorted(plan.shorter))
    trace += _told(context, plan, budget, ruler)
    newest = context.messages[gone[-1].stop - 1]
    ledger = Message(f"summary-{newest.id}", "user", (Text(plan.text),), kind="summary", time=newest.time)
    behind = spans(plan, len(context))
    front = _front(context, plan)
    rest = (
        piece for span in without(behind, range(front)) for piece in pieces_in_place(span, _within(plan.shorter, span))
    )
    pieces: tuple[Piece, ...] = (*kept_pieces([Span(0, front)]), NewMessage(ledger, tuple(gone)), *rest)
    sources = {one.at for one in plan.said if one.at >= 0}
    strokes = [
        Stroke(Fate.ABRIDGED, spans_of(sorted(sources.union(_earlier_ledger(context))))),
        *shown.strokes(),
        Stroke(Fate.SUMMARIZED, spans_of(carried), "all"),
        Stroke(Fate.KEPT, [Span(0, shape.lead), *behind]),
        Stroke(Fate.COMPRESSED, spans_of(sorted(plan.shorter)), "part"),
        Stroke(Fate.PINNED, spans_of(sorted(pinned_with_pairs(context)))),
    ]
    fates = painted(len(context), strokes)
    status: Status = "fallback" if failed else "compacted"
    return _judged(context, Outcome(status, failed, context.messages, pieces, fates, trace=tuple(trace), tail=plan.cut))


def _judged(context: Context, draft: Outcome) -> Outcome:
    """The verdict on a draft, with the rules that it lacks although the ledger undertakes to keep them."""
    outcome = with_verdict(context, draft)
    return replace(outcome, lost=lost_from(context, outcome))


def _told_further(ground: LedgerTask, budget: int, plan: LedgerPlan, narrative: str, told: str) -> LedgerPlan:
    """A plan in which nothing else waits for room, with as much of what earlier summaries tell as the rest holds."""
    for _ in range(3):
        spare = (budget - plan.takes) * (CHARS_PER_TOKEN if ground.ruler.unit == "tokens" else 1)
        if not plan.is_whole or spare < SHORTEST_NARRATIVE or len(narrative) >= len(told):
            break
        narrative = clip_at_sentence(told, len(narrative) + spare)
        plan = planned(ground, budget, narrative)
    return plan


def _front(context: Context, plan: LedgerPlan) -> int:
    """How many messages stand before the ledger: the instructions, and what a tool puts behind them (its environment)
    as far as it stays as it is. A tool that goes on looks for that in front."""
    staying = {*indexes_of(spans(plan, len(context)))}.difference(plan.shorter)
    front = context.shape.lead
    while front in staying and context.messages[front].kind == "meta":
        front += 1
    return front


def _sealed(context: Context) -> frozenset[int]:
    """The earlier summaries that nobody but their provider can read: no words of theirs can be carried on."""
    messages = context.messages
    return frozenset(
        index
        for index in context.shape.summaries
        if messages[index].role != "assistant" and not messages[index].text.strip()
    )


def _split(context: Context) -> int | None:
    """Where the tail begins by hand: the next place that tears no tool pair."""
    if context.split_at is None:
        return None
    ideal, torn = max(context.shape.index_of[context.split_at], context.shape.lead), context.shape.open_across
    return next((cut for cut in range(ideal, len(context)) if not torn[cut]), len(context))


def _carried(context: Context, policy: LedgerPolicy) -> list[int]:
    """The earlier summaries whose text is carried on."""
    earlier = {*summaries_in_request(context, context.shape.summaries, policy.earlier_summary)}
    return sorted(earlier.union(_earlier_ledger(context) if policy.earlier_summary in ("nest", "extend") else ()))


def _gone(context: Context, policy: LedgerPolicy, plan: LedgerPlan) -> tuple[list[Span], list[int], list[Span]]:
    """What of the messages a plan tells anew, the earlier summaries whose text it carries on, and all that the ledger
    stands for."""
    head, earlier = head_of(context, plan.cut, policy.earlier_summary), _earlier_ledger(context)
    fresh = without(without(head.fresh, earlier), plan.staying)
    carried = [index for index in _carried(context, policy) if index < plan.cut and index not in plan.staying]
    return fresh, carried, joined(fresh, {*carried, *earlier})


def _told(context: Context, plan: LedgerPlan, budget: int, ruler: Ruler) -> Iterator[str]:
    """What the trace says of a plan."""
    lines, messages = len(plan.said), len(context) - plan.cut + len(plan.staying)
    yield (
        f"budget {grouped(budget)} {ruler.unit}: ledger {grouped(plan.ledger_takes)} with "
        f"{counted(lines, 'entry')}, plus {counted(messages, 'message')}, {len(plan.shorter)} of them shortened"
    )
    if plan.left_out:
        yield f"omitted, over the budget: {', '.join((f'{count} {group}' for group, count in plan.left_out))}"
    yield from _told_over(plan.takes - budget, ruler)


def _told_over(over: int, ruler: Ruler) -> Iterator[str]:
    if over > 0:
        yield f"{grouped(over)} {ruler.unit} over the budget: kept messages and user requests need that much"


def _within(shorter: Mapping[int, Message], span: Span) -> dict[int, Message]:
    return {index: message for index, message in shorter.items() if span.start <= index < span.stop}


def _without_ledger(context: Context, plan: LedgerPlan, budget: int, ruler: Ruler, trace: list[str]) -> Outcome:
    """The outcome where nothing is there that a ledger could stand for."""
    if not plan.shorter:
        return unchanged(context.messages, "nothing to compact: every message before the tail is kept", trace)
    pieces = pieces_in_place(Span(0, len(context)), plan.shorter)
    strokes = [
        Stroke(Fate.KEPT, [Span(0, len(context))]),
        Stroke(Fate.COMPRESSED, spans_of(sorted(plan.shorter)), "part"),
        Stroke(Fate.PINNED, spans_of(sorted(pinned_with_pairs(context)))),
    ]
    trace.append(f"{counted(len(plan.shorter), 'message')} shortened to fit")
    trace += _told_over(plan.takes - plan.ledger_takes - budget, ruler)
    fates = painted(len(context), strokes)
    return _judged(context, Outcome("compacted", "", context.messages, tuple(pieces), fates, trace=tuple(trace)))


def ruler_of(context: Context, policy: LedgerPolicy) -> Ruler:
    return in_characters(context) if policy.budget_chars else in_tokens(context)


def budget_of(context: Context, policy: LedgerPolicy) -> ResultBudget:
    """The one given, in characters before tokens; else a share of the window."""
    whole = context.window or context.upto(len(context)).tokens
    most = policy.budget_chars or policy.budget_tokens or int(whole * policy.budget_window_percent / 100)
    return ResultBudget(most, ruler_of(context, policy).unit)


def _earlier_ledger(context: Context) -> frozenset[int]:
    """The index of an earlier ledger. Its entries go into the new one, so it never stays beside it."""
    index = numbering(context.shape).ledger
    return frozenset() if index is None else frozenset([index])


STRATEGY = Strategy(
    id="ledger",
    title="Ledger",
    about=(
        "Lists rules, requests, files, commands, errors and names with their sources, within a budget. No model needed."
    ),
    traits=Traits(method="facts found by code"),
    policy_type=LedgerPolicy,
    triggers=triggers,
    compact=compact,
    prompts={"ledger-narrative": "prompt"},
    lint=lambda policy: lint_prompt(policy.asks()),
    budget=budget_of,
    offline_settings={"narrative_percent": 0},
)
