"""Panes of the bench: draw each from the view when its fields changed, and show, mark and focus one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.text import Text
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Tabs

from workbench.analysis.timeline import size_when_compacted
from workbench.base.text import counted
from workbench.bench import Bench
from workbench.compaction.layers import layers_after
from workbench.tokens.sizes import Basis, Size, usage_words
from workbench.tui.bars import ContextBars
from workbench.tui.bench.store import BenchView, Listener, other_fates
from workbench.tui.middle.pager import Pager
from workbench.tui.plan_words import split_line, split_words, state_text, status_text, title_end, title_text
from workbench.tui.round_lines import RoundsDrawing
from workbench.tui.widgets.budget_bar import BudgetBar
from workbench.tui.widgets.cut_text import TwoEnds
from workbench.tui.widgets.epochs_line import EpochsLine
from workbench.tui.widgets.find_bar import FindBar
from workbench.tui.widgets.headline import Headline, HeadlineView, plans_of
from workbench.tui.widgets.policy_form import PolicyForm, PresetLine
from workbench.tui.widgets.rounds_list import RoundsList
from workbench.tui.widgets.watched_lines import WatchedLines, Watching

if TYPE_CHECKING:
    from workbench.analysis.usage_check import Gap

PLANNING = Text("planning…", no_wrap=True)
"""Status shown until the first plan is made."""

NAMED = 3
"""Most gaps (calls with usage that the context does not explain) that the tooltip lists."""


def has_changed(was: BenchView | None, now: BenchView, *names: str) -> bool:
    """True if one of these fields of the view changed."""
    return was is None or any(getattr(was, name) is not getattr(now, name) for name in names)


def listeners(screen: Screen[Any]) -> Iterator[Listener]:
    """Yield a listener for each pane that draws it from the view."""
    yield partial(draw_rounds, screen.query_one(RoundsList))
    yield partial(draw_epochs, screen.query_one(EpochsLine))
    yield partial(draw_budget, screen.query_one(BudgetBar))
    yield partial(draw_triggers, screen.query_one(PolicyForm))
    yield partial(draw_headline, screen.query_one(HeadlineView))
    yield partial(draw_watched, screen.query_one(WatchedLines))
    yield partial(draw_found, screen.query_one(FindBar))
    yield partial(draw_title, screen.query_one("#title", TwoEnds))
    yield partial(draw_status, screen.query_one("#status", TwoEnds))


def draw_title(title: TwoEnds, was: BenchView | None, now: BenchView) -> None:
    if has_changed(was, now, "shown", "counting", "reading", "preset"):
        title.show(title_text(now.shown), title_end(now.bench, now.preset, now.counting, now.reading))
        title.tooltip = Text(f"Tokens are counted by {now.shown.layout.sizes.meter.method}.")


def draw_status(status: TwoEnds, was: BenchView | None, now: BenchView) -> None:
    if has_changed(was, now, "shown", "previewed", "checks", "running", "note"):
        state = state_text(now.shown, now.checks) if now.is_planned else PLANNING
        status.show(status_text(now.running, now.note), state)


def draw_headline(view: HeadlineView, was: BenchView | None, now: BenchView) -> None:
    if has_changed(was, now, "shown", "previewed", "verdict", "assessment"):
        is_fresh = now.assessment is not None and now.assessment.bench is now.shown
        plans = plans_of(now.shown, now.assessment if is_fresh else None) if now.is_planned else ()
        view.show(Headline(now.verdict, plans))


def draw_budget(bar: BudgetBar, was: BenchView | None, now: BenchView) -> None:
    if has_changed(was, now, "shown", "previewed", "usage_check", "epochs") and now.is_planned:
        bench, plan, outcome = now.shown, now.shown.plan, now.shown.outcome
        gaps = now.usage_check.gaps_in(bench.epoch) if now.usage_check else ()
        after, compacts = size_after(bench), outcome.status != "unchanged"
        parts = bench.strategy.view.layers(bench.context, outcome)
        bar.about = "\n".join(_about_budget(bench, gaps))
        left = layers_after(bench.context, outcome) if compacts else ()
        limit, agents = bench.original.limit, size_when_compacted(now.epochs, bench.epoch)
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
        method = "by the extractive summarizer" if bench.has_offline_run else "with the summary's size estimated"
        yield f"After: a preview, {method}; r runs it."
    yield from map(str, gaps[:NAMED])
    if len(gaps) > NAMED:
        yield f"{counted(len(gaps) - NAMED, 'other call')} likewise; `cwb inspect --health` names each."


def draw_epochs(line: EpochsLine, was: BenchView | None, now: BenchView) -> None:
    if has_changed(was, now, "epochs") or line.epoch != now.bench.epoch:
        line.show(now.epochs, now.bench.epoch)


def draw_watched(lines: WatchedLines, was: BenchView | None, now: BenchView) -> None:
    if has_changed(was, now, "shown", "rule_states", "fixes"):
        fixes = now.fixes if now.fixes and now.fixes.bench is now.shown else None
        lines.show(Watching(now.bench.watched, now.rule_states, now.rule_states_bench is now.shown, fixes=fixes))


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
    if has_changed(was, now, "shown", "previewed", "remark") and now.is_planned:
        bench = now.shown
        words = filter(None, (split_words(bench), now.remark))
        form.show_triggers(bench.plan.triggers, tuple(words), bench.prompt_problems)


# --- places: which pane is visible and has the focus ------------------------------------------------------------------


PLACES = ("rounds", "middle", "policy")

NARROW, HUGE = 110, 230
BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-narrow"), (NARROW, "-wide"), (HUGE, "-huge")]
"""Columns from which the places are side by side, and from which the settings have a column of their own."""

LINES: list[tuple[int, str]] | None = [(0, "-lowest"), (20, "-low"), (30, "-tall"), (66, "-highest")]
"""Lines from which there is room for the headline above an open form, for blank lines around it, and for the preset's
full description."""


def place_of(view: BenchView) -> str:
    return view.pane if view.pane in PLACES else "middle"


def tab_of(screen: Screen[Any], view: BenchView) -> str:
    """Marked tab: a narrow screen has one for each pane, a wide one for the content of the middle."""
    return view.pane if screen.size.width < NARROW else view.tab


def is_in_list(screen: Screen[Any]) -> bool:
    return isinstance(screen.focused, RoundsList)


def show_place(screen: Screen[Any], view: BenchView) -> None:
    """Set the classes that select the visible place on a narrow screen. The settings cover the other places while they
    are in use."""
    at = place_of(view)
    shown = {f"-show-{each}": each == at for each in PLACES} if screen.size.width < NARROW else {}
    screen.update_classes({"-sheet": at == "policy", **shown})


def mark_tab(screen: Screen[Any], view: BenchView) -> None:
    """Mark the tab of the visible pane. The tabs post no message about it: it could arrive at another width and be
    mistaken for the user's choice."""
    tabs, active = screen.query_one(Tabs), f"tab-{tab_of(screen, view)}"
    if tabs.active != active:
        with tabs.prevent(Tabs.TabActivated):
            tabs.active = active


def focus_place(screen: Screen[Any], view: BenchView) -> None:
    match place_of(view):
        case "rounds":
            screen.query_one(RoundsList).focus()
        case "middle":
            screen.query_one(Pager).focus()
        case "policy":
            # Not into a field: a digit that selects a pane would be typed there.
            form = screen.query_one(PolicyForm)
            if not form.has_focus_within:
                form.query_one(PresetLine).focus()


def pane_of_focus(screen: Screen[Any], focused: Widget, view: BenchView) -> str:
    """Pane that a click or tab led to, "" if the view's place is unchanged."""
    if screen.query_one(PolicyForm) in focused.ancestors:
        return "" if place_of(view) == "policy" else "policy"
    if place_of(view) != "policy":
        return ""
    return "rounds" if isinstance(focused, RoundsList) else view.tab if isinstance(focused, Pager) else ""


def widen(screen: Screen[Any]) -> None:
    """Give the middle the complete screen, or its own place again."""
    pager = screen.query_one(Pager)
    if screen.maximized is not None:
        screen.minimize()
    else:
        # Before the others are hidden: a hidden widget passes its focus to the next, a settings field.
        pager.focus()
        screen.maximize(pager, container=False)
    screen.call_after_refresh(pager.on_resize)  # Textual sends no Resize for this.
