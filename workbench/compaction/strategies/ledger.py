"""`ledger`: keep the facts that must not be lost within a budget; code selects them, no model.

The workbench's own. Order of messages:

    before   [system] m1 m2 … mk                          | mk+1 … mn
    after    [system] ledger: entries · narrative  [pins] | mk+1 … mn

The budget limits the whole result. System messages, pins and the narrative come first; entries and messages compete for
the rest by worth per token (`compaction/ledger/queue.py`); messages may be shortened. The ledger counts omitted entries
by kind. No model is needed: the narrative is optional.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from workbench.base.figures import grouped
from workbench.base.secrets import without_secrets
from workbench.base.text import clip_at_sentence, counted
from workbench.compaction import vocabulary
from workbench.compaction.context import Context, Gauge
from workbench.compaction.excerpt import Excerpt, labelled_style
from workbench.compaction.fates import Stroke, painted
from workbench.compaction.head import head_of
from workbench.compaction.invariants import pinned_with_pairs, with_pairs, with_verdict
from workbench.compaction.ledger.gather import OLD, narratives_of, numbering
from workbench.compaction.ledger.lost import lost_from
from workbench.compaction.ledger.plan import LedgerPlan, planned, spans
from workbench.compaction.ledger.queue import USER_PERCENT
from workbench.compaction.ledger.task import LedgerTask, Ruler, in_characters, in_tokens
from workbench.compaction.outcome import Fate, NewMessage, Outcome, Piece, Status, unchanged
from workbench.compaction.policy import Needs, setting
from workbench.compaction.prompt_policies import PromptPolicy, builtin_text
from workbench.compaction.prompts import lint_prompt
from workbench.compaction.render import LABELS, PartLimits
from workbench.compaction.request import RequestPrompt, ask_for_summary, cut_at_sentence, truncation_for
from workbench.compaction.spans import indexes_of, joined, kept_pieces, pieces_in_place, spans_of, without
from workbench.compaction.strategy import Compacting, ResultBudget, Strategy, Traits, Trigger
from workbench.compaction.summary_request import SummaryFailed
from workbench.compaction.summary_template import summaries_in_request
from workbench.compaction.triggers import TokenLimits, token_triggers
from workbench.session import Message, Span, Text

CALL_CHARS = 1_000
"""Characters of a call's input that the model sees."""

CARRIED_PERCENT = 15
"""Share of the free budget for the text of earlier summaries if no model is used."""

CHARS_PER_TOKEN = 3
"""Characters of a narrative per token: few, so that a narrative of the requested length fits its tokens."""

SHORTEST_NARRATIVE = 100
"""Characters below which no narrative is requested."""

NOTHING_SHOWN = Excerpt(lambda: "", 0, (), {}, cut=False)


NARRATIVE: Needs = {"narrative_percent": ...}


class LedgerPolicy(PromptPolicy, TokenLimits):
    """Settings of `ledger`: budget, its shares, and the narrative of the model."""

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
    user_percent: float = setting(
        USER_PERCENT,
        "budget",
        "Share of the room in which the user's sentences come first. Beyond it they compete with everything else.",
        unit="%",
        ge=0,
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
    """Read the token triggers."""
    return token_triggers(now, policy)


def compact(context: Context, policy: LedgerPolicy, trace: list[str]) -> Compacting:
    """Compact as the module describes. If the narrative fails, the ledger has none and the status is `fallback`."""
    shape = context.shape
    budget, ruler = budget_of(context, policy).most, ruler_of(context, policy)
    if context.split_at is None and ruler.span(0, len(context)) <= budget:
        return unchanged(context.messages, "nothing to compact: everything fits the budget", trace)
    kept_summaries = shape.summaries if policy.earlier_summary == "keep" else ()
    always = with_pairs(shape, {*shape.own_system, *kept_summaries}.difference(_earlier_ledger(context)))
    always |= pinned_with_pairs(context)
    if ruler.each(sealed := _sealed(context)) <= budget // 2:
        always |= with_pairs(shape, sealed)
    task = LedgerTask(context, ruler, always, policy.language, policy.user_percent, _split(context))
    earlier = without_secrets(narratives_of(context, _summaries_carried(context, policy)))
    failed, shown = "", NOTHING_SHOWN
    share = int((policy.narrative_percent or CARRIED_PERCENT) * max(budget - ruler.each(always), 0) / 100)
    share_chars = share * (CHARS_PER_TOKEN if ruler.unit == "tokens" else 1)
    max_chars = min(share_chars, policy.summary_char_limit or share_chars)
    narrative = clip_at_sentence(earlier, max_chars)
    if policy.narrative_percent and share_chars >= SHORTEST_NARRATIVE:
        fresh, summaries, _ = _replaced(context, policy, planned(task, budget - share))
    else:
        fresh = []
    if fresh:
        prompt = RequestPrompt(
            "narrative of the head",
            policy.asks(max_chars=str(max_chars)),
            narratives_of(context, summaries),
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
    plan = planned(task, budget, narrative)
    if shown is NOTHING_SHOWN:
        plan = _with_more_narrative(task, budget, plan, narrative, earlier)
    fresh, summaries, replaced = _replaced(context, policy, plan)
    if not fresh and not (plan.entries and plan.shorter) and ruler.each(summaries) <= plan.ledger_takes:
        return _without_ledger(context, plan, budget, ruler, trace)
    replaced = replaced or spans_of(sorted(plan.shorter))
    trace += _trace_plan(context, plan, budget, ruler)
    newest = context.messages[replaced[-1].stop - 1]
    ledger = Message(f"summary-{newest.id}", "user", (Text(plan.text),), kind="summary", time=newest.time)
    tail = spans(plan, len(context))
    front = _front(context, plan)
    rest = (
        piece for span in without(tail, range(front)) for piece in pieces_in_place(span, _in_span(plan.shorter, span))
    )
    pieces: tuple[Piece, ...] = (*kept_pieces([Span(0, front)]), NewMessage(ledger, tuple(replaced)), *rest)
    sources = {one.at for one in plan.entries if one.at >= 0}
    strokes = [
        Stroke(Fate.ABRIDGED, spans_of(sorted(sources.union(_earlier_ledger(context))))),
        *shown.strokes(),
        Stroke(Fate.SUMMARIZED, spans_of(summaries), "all"),
        Stroke(Fate.KEPT, [Span(0, shape.lead), *tail]),
        Stroke(Fate.COMPRESSED, spans_of(sorted(plan.shorter)), "part"),
        Stroke(Fate.PINNED, spans_of(sorted(pinned_with_pairs(context)))),
    ]
    fates = painted(len(context), strokes)
    status: Status = "fallback" if failed else "compacted"
    return _finished(
        context, Outcome(status, failed, context.messages, pieces, fates, trace=tuple(trace), tail=plan.cut)
    )


def _finished(context: Context, draft: Outcome) -> Outcome:
    """Finish a draft, and record rules that it lacks although the ledger guarantees them."""
    outcome = with_verdict(context, draft)
    return replace(outcome, lost=lost_from(context, outcome))


def _with_more_narrative(task: LedgerTask, budget: int, plan: LedgerPlan, narrative: str, earlier: str) -> LedgerPlan:
    """Extend the plan with more text of earlier summaries, if nothing else needs the room."""
    for _ in range(3):
        spare = (budget - plan.takes) * (CHARS_PER_TOKEN if task.ruler.unit == "tokens" else 1)
        if not plan.is_whole or spare < SHORTEST_NARRATIVE or len(narrative) >= len(earlier):
            break
        narrative = clip_at_sentence(earlier, len(narrative) + spare)
        plan = planned(task, budget, narrative)
    return plan


def _front(context: Context, plan: LedgerPlan) -> int:
    """Number of messages before the ledger: instructions, and environment messages after them that stay unchanged.
    Agents look for these at the front when they continue."""
    staying = {*indexes_of(spans(plan, len(context)))}.difference(plan.shorter)
    front = context.shape.lead
    while front in staying and context.messages[front].kind == "meta":
        front += 1
    return front


def _sealed(context: Context) -> frozenset[int]:
    """Indexes of earlier summaries that only their provider can read: their text cannot be carried on."""
    messages = context.messages
    return frozenset(
        index
        for index in context.shape.summaries
        if messages[index].role != "assistant" and not messages[index].text.strip()
    )


def _split(context: Context) -> int | None:
    """Index of the tail's first message if set by hand, moved to the next place that splits no tool pair."""
    if context.split_at is None:
        return None
    ideal, torn = max(context.shape.index_of[context.split_at], context.shape.lead), context.shape.open_across
    return next((cut for cut in range(ideal, len(context)) if not torn[cut]), len(context))


def _summaries_carried(context: Context, policy: LedgerPolicy) -> list[int]:
    """Indexes of earlier summaries whose text is carried on."""
    earlier = {*summaries_in_request(context, context.shape.summaries, policy.earlier_summary)}
    return sorted(earlier.union(_earlier_ledger(context) if policy.earlier_summary in ("nest", "extend") else ()))


def _replaced(context: Context, policy: LedgerPolicy, plan: LedgerPlan) -> tuple[list[Span], list[int], list[Span]]:
    """Messages that the narrative must cover, earlier summaries whose text is carried on, and all messages that the
    ledger replaces."""
    head, earlier = head_of(context, plan.cut, policy.earlier_summary), _earlier_ledger(context)
    fresh = without(without(head.fresh, earlier), plan.staying)
    summaries = [
        index for index in _summaries_carried(context, policy) if index < plan.cut and index not in plan.staying
    ]
    return fresh, summaries, joined(fresh, {*summaries, *earlier})


def _trace_plan(context: Context, plan: LedgerPlan, budget: int, ruler: Ruler) -> Iterator[str]:
    """Trace sentences about a plan."""
    lines, messages = len(plan.entries), len(context) - plan.cut + len(plan.staying)
    yield (
        f"budget {grouped(budget)} {ruler.unit}: ledger {grouped(plan.ledger_takes)} with "
        f"{counted(lines, 'entry')}, plus {counted(messages, 'message')}, {len(plan.shorter)} of them shortened"
    )
    if plan.left_out:
        yield f"omitted, over the budget: {', '.join((f'{count} {group}' for group, count in plan.left_out))}"
    yield from _trace_excess(plan.takes - budget, ruler)


def _trace_excess(over: int, ruler: Ruler) -> Iterator[str]:
    if over > 0:
        yield f"{grouped(over)} {ruler.unit} over the budget: kept messages and user requests need that much"


def _in_span(shorter: Mapping[int, Message], span: Span) -> dict[int, Message]:
    return {index: message for index, message in shorter.items() if span.start <= index < span.stop}


def _without_ledger(context: Context, plan: LedgerPlan, budget: int, ruler: Ruler, trace: list[str]) -> Outcome:
    """Outcome if a ledger would replace nothing."""
    if not plan.shorter:
        return unchanged(context.messages, "nothing to compact: every message before the tail is kept", trace)
    pieces = pieces_in_place(Span(0, len(context)), plan.shorter)
    strokes = [
        Stroke(Fate.KEPT, [Span(0, len(context))]),
        Stroke(Fate.COMPRESSED, spans_of(sorted(plan.shorter)), "part"),
        Stroke(Fate.PINNED, spans_of(sorted(pinned_with_pairs(context)))),
    ]
    trace.append(f"{counted(len(plan.shorter), 'message')} shortened to fit")
    trace += _trace_excess(plan.takes - plan.ledger_takes - budget, ruler)
    fates = painted(len(context), strokes)
    return _finished(context, Outcome("compacted", "", context.messages, tuple(pieces), fates, trace=tuple(trace)))


def ruler_of(context: Context, policy: LedgerPolicy) -> Ruler:
    """Ruler in the unit of the policy's budget."""
    return in_characters(context) if policy.budget_chars else in_tokens(context)


def budget_of(context: Context, policy: LedgerPolicy) -> ResultBudget:
    """Budget of the policy: in characters if set, else in tokens if set, else a share of the window."""
    whole = context.window or context.upto(len(context)).tokens
    most = policy.budget_chars or policy.budget_tokens or int(whole * policy.budget_window_percent / 100)
    return ResultBudget(most, ruler_of(context, policy).unit)


def _earlier_ledger(context: Context) -> frozenset[int]:
    """Index of an earlier ledger, as a set. It is never kept, because its entries go into the new one."""
    index = numbering(context.shape).ledger
    return frozenset() if index == OLD else frozenset([index])


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
