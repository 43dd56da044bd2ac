"""The bench takes steps and draws them: a key is answered at once, the plan of a long session comes from a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import work
from textual.markup import escape
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from workbench import bench as steps
from workbench.base.errors import BadInput
from workbench.bench import Bench
from workbench.compaction.checks import Check
from workbench.tui.history import History
from workbench.tui.lines import Drawn
from workbench.tui.plain import figure
from workbench.tui.policy_words import split_line
from workbench.tui.rows import Groups
from workbench.tui.statuses import status_text, title_text
from workbench.tui.widgets.budget_bar import Budget, BudgetBar
from workbench.tui.widgets.policy_form import PolicyForm
from workbench.tui.widgets.rounds_list import RoundsList

AT_ONCE = 1_000
"""Messages up to which a plan surely fits a frame, under any strategy, and is made where the key is answered."""


def is_planned(bench: Bench) -> bool:
    """Whether the bench's plan is made already."""
    return bench.is_planned


def planned(bench: Bench) -> None:
    """Make what drawing a bench needs: seconds, at worst, for a long session."""
    bench.context.outcome_size(bench.outcome)
    _ = bench.plan
    bench.strategy.layers(bench.context, bench.outcome)


class Planning(Screen[None]):
    """Mixed into the bench. What is drawn is always a bench whose plan is made: `shown`, which is the present one but
    for the moments in which that is still being planned."""

    history: History
    shown: Bench | None = None
    _planning: bool = False
    _by: int = 0
    """By how much the split is to move once it is known where it lies."""

    if TYPE_CHECKING:
        groups: Groups
        checks: tuple[Check, ...] | None
        counting: tuple[int, int] | None
        running: str
        said: str

        @property
        def bench(self) -> Bench: ...
        def explain(self, sentence: str) -> None: ...
        def show_triggers(self) -> None: ...
        def find_again(self) -> None: ...
        def fill_middle(self) -> object: ...
        def run_checks(self) -> object: ...
        def remember(self) -> None: ...
        def _grey(self) -> None: ...

    # --- steps ------------------------------------------------------------------------------------------------------

    def step(self, make: Callable[[], Bench], key: str = "", said: str = "") -> None:
        """Take a step of the bench; a refused one is explained and changes nothing."""
        try:
            bench = make()
        except BadInput as refused:
            self.explain(str(refused))
            return
        if bench is not self.bench:
            self.workers.cancel_group(self, "run")
            self.history, self.said = self.history.then(bench, key), said
            self.draw()

    def action_move_split(self, by: int) -> None:
        """Move the split from where the plan has it; before the plan is there, when it is."""
        self._by += by
        if self._drawable:
            by, self._by = self._by, 0
            self.step(lambda: steps.move_split(self.bench, by), key="split")

    # --- drawing ----------------------------------------------------------------------------------------------------

    @property
    def _drawable(self) -> bool:
        return is_planned(self.bench) or len(self.bench.layout.messages) <= AT_ONCE

    def draw(self) -> None:
        """Draw the present bench. Where its plan is still to be made and may take longer than a frame: what needs none
        at once, the rest when a thread has made it."""
        self.checks = None
        if self._drawable:
            self._draw_plan(self.bench)
        else:
            self.query_one(RoundsList).show_pins(self.bench.pins)
            if not self._planning:
                self._planning = True
                self.make_plan()
        self._draw_words()
        self._grey()
        self.remember()

    @work(group="plan", exit_on_error=False)
    async def make_plan(self) -> None:
        """Plan in a thread what is present, one after another: of many keys in a row, only the last is drawn."""
        try:
            while not is_planned(bench := self.bench):
                await asyncio.to_thread(planned, bench)
        finally:
            self._planning = False
        self.draw()
        if self._by:
            self.action_move_split(0)

    def _draw_plan(self, bench: Bench) -> None:
        self.shown = bench
        self.groups = self._groups()
        plan, outcome = bench.plan, bench.outcome
        rounds, form = self.query_one(RoundsList), self.query_one(PolicyForm)
        rounds.show(Drawn(self.groups, outcome, bench.pins, bench.strategy.movable, split_line(bench)))
        after = bench.context.outcome_size(outcome)
        compacts = outcome.status != "unchanged"
        parts = bench.strategy.layers(bench.context, outcome)
        budget = Budget(parts, plan.before, after, bench.window, plan.triggers, compacts)
        self.query_one(BudgetBar).show(budget)
        count = len(bench.layout.shape.rounds.rounds)
        held = f"{figure(count)} round{'s' * (count != 1)} · {figure(len(bench.layout.messages))} messages"
        _entitle(rounds, held)
        _entitle(form, bench.strategy.title)
        self.show_triggers()
        self.find_again()
        self.fill_middle()
        self.run_checks()

    def _groups(self) -> Groups:
        layout = self.bench.layout
        return self.groups if self.groups.layout is layout else Groups(layout)

    def _draw_words(self) -> None:
        bench = self.shown or self.bench
        self.query_one("#title", Static).update(title_text(bench, self.counting), layout=False)
        status = status_text(bench, self.checks, self.running, self.said)
        self.query_one("#status", Static).update(status, layout=False)


def _entitle(pane: Widget, title: str) -> None:
    """Setting a title repaints the pane, so only when it changes."""
    if pane.border_title != (escaped := escape(title)):
        pane.border_title = escaped
