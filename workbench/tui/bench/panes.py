"""Panes of the bench: each is drawn from the view, only when its fields changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.text import Text

from workbench.analysis.timeline import size_when_compacted
from workbench.base.text import counted
from workbench.bench import Bench
from workbench.compaction.layers import layers_after
from workbench.tokens.sizes import Basis, Size, usage_words
from workbench.tui.bars import ContextBars
from workbench.tui.bench.store import BenchView, other_fates
from workbench.tui.headline import Headline, plans_of
from workbench.tui.lines import RoundsDrawing
from workbench.tui.policy_words import split_line, split_words
from workbench.tui.status_lines import state_text, status_text, title_end, title_text
from workbench.tui.widgets.budget_bar import BudgetBar
from workbench.tui.widgets.epochs_line import EpochsLine
from workbench.tui.widgets.find_bar import FindBar
from workbench.tui.widgets.headline import HeadlineView
from workbench.tui.widgets.policy_form import PolicyForm
from workbench.tui.widgets.rounds_list import RoundsList
from workbench.tui.widgets.two_ends import TwoEnds
from workbench.tui.widgets.watched_lines import WatchedLines, Watching

if TYPE_CHECKING:
    from workbench.analysis.usage_check import Gap

PLANNING = Text("planning…", no_wrap=True)
"""Status shown until the first plan is made."""

NAMED = 3
"""Most calls with usage that the context does not explain in the tooltip's list."""


def other(was: BenchView | None, now: BenchView, *names: str) -> bool:
    """True if one of these fields of the view changed."""
    return was is None or any(getattr(was, name) is not getattr(now, name) for name in names)


def draw_title(title: TwoEnds, was: BenchView | None, now: BenchView) -> None:
    if other(was, now, "shown", "counting", "reading", "preset"):
        title.show(title_text(now.shown), title_end(now.bench, now.preset, now.counting, now.reading))
        title.tooltip = Text(f"Tokens are counted by {now.shown.layout.sizes.meter.method}.")


def draw_status(status: TwoEnds, was: BenchView | None, now: BenchView) -> None:
    if other(was, now, "shown", "tried", "checks", "running", "said"):
        state = state_text(now.shown, now.checks) if now.is_planned else PLANNING
        status.show(status_text(now.running, now.said), state)


def draw_headline(view: HeadlineView, was: BenchView | None, now: BenchView) -> None:
    if other(was, now, "shown", "tried", "verdict", "assessed"):
        is_fresh = now.assessed is not None and now.assessed.bench is now.shown
        plans = plans_of(now.shown, now.assessed if is_fresh else None) if now.is_planned else ()
        view.show(Headline(now.verdict, plans))


def draw_budget(bar: BudgetBar, was: BenchView | None, now: BenchView) -> None:
    if other(was, now, "shown", "tried", "bills", "stretches") and now.is_planned:
        bench, plan, outcome = now.shown, now.shown.plan, now.shown.outcome
        gaps = now.bills.gaps_in(bench.epoch) if now.bills else ()
        after, compacts = size_after(bench), outcome.status != "unchanged"
        parts = bench.strategy.view.layers(bench.context, outcome)
        bar.about = "\n".join(_about_budget(bench, gaps))
        left = layers_after(bench.context, outcome) if compacts else ()
        limit, agents = bench.original.limit, size_when_compacted(now.stretches, bench.epoch)
        bar.show(
            ContextBars(parts, left, plan.before, after, limit, plan.triggers, bench.result is not None, gaps, agents)
        )


def size_after(bench: Bench) -> Size:
    """Size after the compaction; an estimate while its summaries are estimated."""
    after, is_run = bench.context.outcome_size(bench.outcome), bench.result is not None or bench.has_offline_run
    return after if is_run or not bench.plan.requests else replace(after, basis=Basis.ESTIMATE)


def _about_budget(bench: Bench, gaps: Sequence[Gap]) -> Iterator[str]:
    yield f"Context window: {bench.original.limit or 'unknown, 9 sets it'}"
    if parts := usage_words(bench.context.total, bench.layout.last_usage):
        yield f"Now: {bench.context.total} tokens, {parts} the newest call."
    if bench.result is None:
        made = "by the extractive summarizer" if bench.has_offline_run else "with the summary's size estimated"
        yield f"After: a preview, {made}; r runs it."
    yield from map(str, gaps[:NAMED])
    if len(gaps) > NAMED:
        yield f"{counted(len(gaps) - NAMED, 'other call')} likewise; `cwb inspect --health` names each."


def draw_epochs(line: EpochsLine, was: BenchView | None, now: BenchView) -> None:
    if other(was, now, "stretches") or line.epoch != now.bench.epoch:
        line.show(now.stretches, now.bench.epoch)


def draw_watched(lines: WatchedLines, was: BenchView | None, now: BenchView) -> None:
    if other(was, now, "shown", "rule_states", "fixes"):
        ways = now.fixes if now.fixes and now.fixes.bench is now.shown else None
        lines.show(Watching(now.bench.watched, now.rule_states, now.rule_states_bench is now.shown, fixes=ways))


def _drawing(now: BenchView) -> RoundsDrawing:
    bench = now.shown
    if not now.is_planned:
        return RoundsDrawing(now.groups, None, bench.pins)
    return RoundsDrawing(now.groups, bench.outcome, bench.pins, bench.strategy.movable, split_line(bench))


def draw_rounds(rounds: RoundsList, was: BenchView | None, now: BenchView) -> None:
    found = now.finding
    if other_fates(was, now):
        rounds.show(_drawing(now))
    elif was is not None and now.bench is not was.bench:
        rounds.show_pins(now.bench.pins)
    if was is None:
        return
    if found.arrangement is not was.finding.arrangement:
        rounds.relist(found.arrangement)
    if found.search_query is not was.finding.search_query or found.hits is not was.finding.hits:
        rounds.mark(found.search_query, found.hits)


def draw_found(bar: FindBar, was: BenchView | None, now: BenchView) -> None:
    if was is not None and now.finding.words != was.finding.words:
        bar.say(now.finding.words)


def draw_triggers(form: PolicyForm, was: BenchView | None, now: BenchView) -> None:
    if other(was, now, "shown", "tried", "remark") and now.is_planned:
        bench = now.shown
        words = filter(None, (split_words(bench), now.remark))
        form.show_triggers(bench.plan.triggers, tuple(words), bench.doubts)
