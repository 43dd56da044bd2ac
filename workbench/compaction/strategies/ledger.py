"""`ledger`: within a budget, what must not be lost is kept by code and not trusted to a model.

Our own. What goes where:

    before   [system] m1 m2 … mk                          | mk+1 … mn
    after    [system] ledger: entries · narrative  [pins] | mk+1 … mn

The budget holds the whole result. Of what system messages and pins leave of it, the ledger may take one share and the
narrative another; the tail is as long as the rest allows. What the user wants (standing instructions, the first and the
open request) may take the room of narrative and tail too. What there is no room for gives way by importance, and the
ledger says what that was. There need be no model: the ledger does without a narrative.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.compaction import vocabulary
from workbench.compaction.context import Context
from workbench.compaction.fates import Stroke, painted
from workbench.compaction.gauge import Gauge
from workbench.compaction.keeping import head_of, in_place, pinned_with_pairs, with_pairs
from workbench.compaction.ledger.draft import Draft
from workbench.compaction.ledger.gather import narratives_of, numbering
from workbench.compaction.ledger.room import CARRIED_PERCENT, plan_within, shares_of
from workbench.compaction.ledger.ruler import Ruler, in_characters, in_tokens
from workbench.compaction.ledger.unread import Unread
from workbench.compaction.lint import lint_prompt
from workbench.compaction.outcome import Fate, Outcome, Piece, Status, unchanged
from workbench.compaction.policy import Needs, setting
from workbench.compaction.render import LABELS, Limits
from workbench.compaction.request import Asked, Excerpt, labelled_style, summarized, within
from workbench.compaction.spans import each, joined, kept, without
from workbench.compaction.strategy import Budget, Compacting, Strategy, SummaryFailed, Traits, Trigger, judged
from workbench.compaction.summarizing import Prompted, shipped
from workbench.compaction.triggers import TokenLimits, token_triggers
from workbench.session import Span

CALL_CHARS = 1_000
"""Of a call's input the model is shown so much."""

SHORTEST_NARRATIVE = 100
"""In fewer characters a model cannot tell anything, and it is not asked."""

NOTHING_SHOWN = Excerpt(lambda: "", 0, (), {}, cut=False)


NARRATIVE: Needs = {"narrative_percent": ...}


class LedgerPolicy(Prompted, TokenLimits):
    """Budget, its shares, and what the model is asked."""

    trigger_window_percent: float = vocabulary.trigger_window_percent(80.0)
    budget_tokens: int = setting(
        0,
        "budget",
        "The messages of the result have at most so many tokens, pins included. 0: by the share of the window.",
        unit="tokens",
        needs={"budget_chars": (0,)},
        ge=0,
    )
    budget_chars: int = setting(
        0, "budget", "The same in characters, for agents that count those. 0: in tokens.", unit="characters", ge=0
    )
    budget_window_percent: float = setting(
        25.0,
        "budget",
        "The budget as a share of the model's window; of the present context where the window is not known.",
        unit="%",
        needs={"budget_chars": (0,), "budget_tokens": (0,)},
        gt=0,
        le=100,
    )
    ledger_percent: float = setting(
        40.0,
        "budget",
        "What the ledger may take of what system messages and pins leave. What it does not need is the tail's.",
        unit="%",
        ge=0,
        le=100,
    )
    narrative_percent: float = setting(
        15.0, "budget", "What a narrative by the model may take of it. 0: no model is asked.", unit="%", ge=0, le=90
    )
    prompt: str = vocabulary.prompt(needs=NARRATIVE)
    summary_char_limit: int = vocabulary.summary_char_limit(0, "by its share", needs=NARRATIVE)
    request_char_limit: int = vocabulary.request_char_limit(400_000, needs=NARRATIVE)
    result_char_limit: int = vocabulary.result_char_limit(2_000, needs=NARRATIVE)

    worded: ClassVar = {"prompt": shipped("ledger-narrative")}


def triggers(now: Gauge, policy: LedgerPolicy) -> tuple[Trigger, ...]:
    """Tokens, however they are given."""
    return token_triggers(now, policy)


def compact(context: Context, policy: LedgerPolicy, trace: list[str]) -> Compacting:
    """See the module's docstring. A narrative that fails is done without: status `fallback`."""
    always = frozenset(with_pairs(context.shape, context.shape.own_system)) | pinned_with_pairs(context)
    budget, ruler = budget_of(context, policy).most, ruler_of(context, policy)
    for_narrative = policy.narrative_percent or (CARRIED_PERCENT if context.shape.summaries else 0)
    shares = shares_of(context, ruler, budget, sorted(always), policy.ledger_percent, for_narrative)
    if context.split_at is None and ruler.span(0, len(context)) <= budget:
        return unchanged(context.messages, "nothing to compact: all of it fits the budget", trace)
    plan = plan_within(context, shares, sorted(always), policy.language)
    cut, unread = plan.cut, plan.unread
    head = head_of(context, cut, policy.earlier_summary)
    earlier = _earlier_ledger(context, cut)
    staying = tuple(sorted((head.kept | {index for index in unread.indexes if index < cut}) - earlier))
    fresh = without(head.fresh, earlier)
    trace += _told(unread)
    if not without(fresh, staying):
        return _only_shortened(context, unread, trace)
    carried = sorted({*head.carried, *(earlier if policy.earlier_summary in ("nest", "extend") else ())})

    max_chars = min(shares.narrative_chars, policy.summary_char_limit or shares.narrative_chars)
    told, failed = narratives_of(context, carried), ""
    shown = NOTHING_SHOWN
    narrative = told
    if policy.narrative_percent and shares.narrative_chars >= SHORTEST_NARRATIVE:
        asked = Asked(
            "narrative of the head",
            policy.asks(max_chars=str(max_chars)),
            told,
            carry_on=policy.earlier_summary == "extend",
            language=policy.language,
        )
        style = labelled_style(
            context.shape, LABELS[policy.language], Limits(1 << 30, CALL_CHARS, policy.result_char_limit)
        )
        bounds = within(policy.request_char_limit, asked, style)
        settings = replace(policy.request, max_chars=max_chars)
        answer = yield from summarized(context, fresh, asked, style, bounds, settings, trace)
        if isinstance(answer, SummaryFailed):
            failed = f"without a new narrative: {answer}"
        else:
            narrative, shown = answer
    gone = joined(without(fresh, staying), {*carried, *earlier})
    besides = ruler.span(cut, len(context)) + ruler.each((*range(context.shape.lead), *staying))
    besides += unread.takes - ruler.each(unread.indexes)
    draft = Draft(context, shares, plan, staying, besides, tuple(gone), policy.language)
    made, entries, line = draft.made(narrative.strip())
    trace += line
    behind = [*each(staying), Span(cut, len(context))]
    rest = (piece for span in behind for piece in in_place(span, unread.within(span)))
    pieces: tuple[Piece, ...] = (*kept([Span(0, context.shape.lead)]), made, *rest)
    strokes = [
        Stroke(Fate.ABRIDGED, each(sorted({*earlier, *(one.at for one in entries if 0 <= one.at < cut)}))),
        *shown.strokes(),
        Stroke(Fate.SUMMARIZED, each(carried), "all"),
        Stroke(Fate.KEPT, [Span(0, context.shape.lead), *each(staying), Span(cut, len(context))]),
        Stroke(Fate.COMPRESSED, each(sorted(unread.shorter)), "part"),
        Stroke(Fate.PINNED, each(sorted(head.pins))),
    ]
    fates = painted(len(context), strokes)
    status: Status = "fallback" if failed else "compacted"
    return judged(context, Outcome(status, failed, context.messages, pieces, fates, trace=tuple(trace), tail=cut))


def _told(unread: Unread) -> list[str]:
    """What the trace says of texts that had to be shortened."""
    count = len(unread.shorter)
    what = f"{counted(count, 'message')} that the agent has not read yet"
    return [f"{what}: shortened to fit, to {grouped(unread.takes)} with what they answer"] if count else []


def _only_shortened(context: Context, unread: Unread, trace: list[str]) -> Outcome:
    """The outcome where nothing is there that a ledger could stand for."""
    if not unread.shorter:
        return unchanged(context.messages, "nothing to compact: every message before the tail stays", trace)
    pieces = in_place(Span(0, len(context)), unread.shorter)
    strokes = [
        Stroke(Fate.KEPT, [Span(0, len(context))]),
        Stroke(Fate.COMPRESSED, each(sorted(unread.shorter)), "part"),
        Stroke(Fate.PINNED, each(sorted(pinned_with_pairs(context)))),
    ]
    fates = painted(len(context), strokes)
    return judged(context, Outcome("compacted", "", context.messages, tuple(pieces), fates, trace=tuple(trace)))


def ruler_of(context: Context, policy: LedgerPolicy) -> Ruler:
    return in_characters(context) if policy.budget_chars else in_tokens(context)


def budget_of(context: Context, policy: LedgerPolicy) -> Budget:
    """The one given, in characters before tokens; else a share of the window."""
    whole = context.window or context.upto(len(context)).tokens
    most = policy.budget_chars or policy.budget_tokens or int(whole * policy.budget_window_percent / 100)
    return Budget(most, ruler_of(context, policy).unit)


def _earlier_ledger(context: Context, cut: int) -> frozenset[int]:
    """The index of an earlier ledger before `cut`. Its entries go into the new one, so it never stays beside it."""
    index = numbering(context.shape).ledger
    return frozenset() if index is None or index >= cut else frozenset([index])


STRATEGY = Strategy(
    id="ledger",
    title="Ledger",
    about="Within a budget, instructions, requests, files, commands, errors and names kept by code, with their source.",
    traits=Traits(method="facts found by code"),
    policy_type=LedgerPolicy,
    triggers=triggers,
    when_due=compact,
    prompts={"ledger-narrative": "prompt"},
    lint=lambda policy: lint_prompt(policy.asks()),
    budget=budget_of,
    unasked={"narrative_percent": 0},
)
