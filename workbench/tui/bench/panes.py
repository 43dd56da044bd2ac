"""The panes of the bench: each draws what it shows of the view, and only when that is another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.text import Text
from textual.markup import escape
from textual.widget import Widget
from textual.widgets import Static

from workbench.analysis.timeline import compacted_at
from workbench.base.text import counted
from workbench.bench import Bench
from workbench.compaction.layers import layers_after
from workbench.tokens.sizes import Basis, Size
from workbench.tui.bars import Budget, Told
from workbench.tui.bench.store import View, other_fates
from workbench.tui.lines import Drawn
from workbench.tui.plain import plain, several
from workbench.tui.policy_words import split_line, split_words
from workbench.tui.status_lines import status_text, title_text
from workbench.tui.widgets.budget_bar import BudgetBar
from workbench.tui.widgets.cut_text import CutText
from workbench.tui.widgets.epochs_line import EpochsLine
from workbench.tui.widgets.find_bar import FindBar
from workbench.tui.widgets.growth_line import GrowthLine
from workbench.tui.widgets.policy_form import PolicyForm
from workbench.tui.widgets.rounds_list import RoundsList
from workbench.tui.widgets.watched_lines import WatchedLines, Watching

if TYPE_CHECKING:
    from workbench.analysis.bills import Gap

NAMED = 3
"""So many calls that the context does not explain are told on the bar, one by one."""


def other(was: View | None, now: View, *names: str) -> bool:
    """Whether one of these fields of the view is another than it was."""
    return was is None or any(getattr(was, name) is not getattr(now, name) for name in names)


def draw_title(title: Static, was: View | None, now: View) -> None:
    if other(was, now, "shown", "counting", "reading"):
        title.update(title_text(now.shown, now.counting, now.reading), layout=False)
        title.tooltip = Text(f"tokens are counted by {now.shown.layout.sizes.meter.method}")


def draw_status(status: Static, was: View | None, now: View) -> None:
    if other(was, now, "shown", "tried", "checks", "running", "said"):
        status.update(status_text(now.shown, now.checks, now.running, now.said), layout=False)


def draw_budget(bar: BudgetBar, was: View | None, now: View) -> None:
    if other(was, now, "shown", "tried", "bills", "receipt", "received", "stretches"):
        bench, plan, outcome = now.shown, now.shown.plan, now.shown.outcome
        gaps = now.bills.gaps_in(bench.epoch) if now.bills else ()
        after, compacts = size_after(bench), outcome.status != "unchanged"
        parts = bench.strategy.layers(bench.context, outcome)
        bar.about = "\n".join(_about_budget(bench, gaps))
        left = layers_after(bench.context, outcome) if compacts else ()
        told = Told(now.receipt, now.received is now.shown) if now.receipt and compacts else None
        done = bench.result is not None
        limit, agents = bench.opened.limit, compacted_at(now.stretches, bench.epoch)
        bar.show(Budget(parts, left, plan.before, after, limit, plan.triggers, done, gaps, told, agents))


def size_after(bench: Bench) -> Size:
    """The size of what a compaction leaves; an estimate while its summaries are, whatever its figures stand on."""
    after, is_run = bench.context.outcome_size(bench.outcome), bench.result is not None or bench.is_tried
    return after if is_run or not bench.plan.requests else replace(after, basis=Basis.ESTIMATE)


def _about_budget(bench: Bench, gaps: Sequence[Gap]) -> Iterator[str]:
    yield f"Context window: {bench.opened.limit or 'unknown; ctrl+w sets it'}"
    if bench.result is None:
        made = "of a run with extractive summaries" if bench.is_tried else "the summary's size is estimated"
        yield f"After: a preview, {made}; r makes it stand."
    yield from map(str, gaps[:NAMED])
    if len(gaps) > NAMED:
        yield f"Nor {counted(len(gaps) - NAMED, 'other call')}; `cwb inspect --health` names each."


def draw_epochs(line: EpochsLine, was: View | None, now: View) -> None:
    if other(was, now, "stretches") or line.epoch != now.bench.epoch:
        line.show(now.stretches, now.bench.epoch)


def draw_growth(line: GrowthLine, was: View | None, now: View) -> None:
    line.stand_at(now.bench.epoch)
    if other(was, now, "growth"):
        line.show(now.growth)


def draw_verdict(line: CutText, was: View | None, now: View) -> None:
    if other(was, now, "verdict"):
        # Until it is known it has two lines, of which a short one gives one back: everything below is laid out anew.
        line.set_class(bool(now.verdict), "-told")
        line.update(Text(plain(now.verdict)), layout=bool(now.verdict))
        line.tooltip = Text(f"{plain(now.verdict)}\nO says more.") if now.verdict else None


def draw_watched(lines: WatchedLines, was: View | None, now: View) -> None:
    if other(was, now, "shown", "stands", "ways"):
        ways = now.ways if now.ways and now.ways.bench is now.shown else None
        lines.show(Watching(now.bench.watched, now.stands, now.stood is now.shown, ways=ways))


def draw_rounds(rounds: RoundsList, was: View | None, now: View) -> None:
    bench, found = now.shown, now.finding
    if other_fates(was, now):
        rounds.show(Drawn(now.groups, bench.outcome, bench.pins, bench.strategy.movable, split_line(bench)))
        count = len(bench.layout.shape.rounds.rounds)
        held = f"{several(count, 'round')} · {several(len(bench.layout.messages), 'message')}"
        _entitle(rounds, held)
    elif was is not None and now.bench is not was.bench:
        rounds.show_pins(now.bench.pins)
    if was is None:
        return
    if found.arrangement is not was.finding.arrangement:
        rounds.relist(found.arrangement)
    if found.sought is not was.finding.sought or found.hits is not was.finding.hits:
        rounds.mark(found.sought, found.hits)


def draw_found(bar: FindBar, was: View | None, now: View) -> None:
    if was is not None and now.finding.words != was.finding.words:
        bar.say(now.finding.words)


def draw_triggers(form: PolicyForm, was: View | None, now: View) -> None:
    if other(was, now, "shown", "tried", "remark"):
        bench = now.shown
        words = filter(None, (split_words(bench), now.remark))
        _entitle(form, bench.strategy.title)
        form.show_triggers(bench.plan.triggers, tuple(words), bench.doubts)


def _entitle(pane: Widget, title: str) -> None:
    """Setting a title repaints the pane, so only when it changes."""
    if pane.border_title != (escaped := escape(title)):
        pane.border_title = escaped
