"""The bench: the one screen that does the work. Draws a `Bench` and turns keys into the steps of `workbench.bench`."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Grid, Vertical
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static, Tab, Tabs
from textual.worker import Worker, get_current_worker

from workbench import bench as steps
from workbench.analysis.growth import to_count
from workbench.bench import Bench
from workbench.compaction.checks import Check, check
from workbench.compaction.layout import Layout
from workbench.session import Span
from workbench.tokens import Counter
from workbench.tui.counting import count_in_slices
from workbench.tui.details import TABS
from workbench.tui.failures import failure_of
from workbench.tui.history import History
from workbench.tui.middle.pager import Pager
from workbench.tui.plain import figure
from workbench.tui.rows import Groups
from workbench.tui.screens.bench_compare import Comparing
from workbench.tui.screens.bench_facts import Minding
from workbench.tui.screens.bench_find import Finding
from workbench.tui.screens.bench_follow import Following
from workbench.tui.screens.bench_home import Remembering
from workbench.tui.screens.bench_keys import BINDINGS, PANE_KEYS, PANES
from workbench.tui.screens.bench_live import Living
from workbench.tui.screens.bench_plan import Planning
from workbench.tui.screens.bench_policy import PolicyActions
from workbench.tui.screens.bench_run import Running
from workbench.tui.screens.bench_shape import Shaping
from workbench.tui.screens.bench_text import Reading
from workbench.tui.screens.bench_why import Explaining
from workbench.tui.screens.help import ABOUT_BENCH
from workbench.tui.statuses import opening_words
from workbench.tui.widgets.budget_bar import BudgetBar
from workbench.tui.widgets.find_bar import FindBar
from workbench.tui.widgets.growth_line import GrowthLine
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.policy_form import PolicyForm
from workbench.tui.widgets.rounds_list import RoundsList
from workbench.tui.widgets.text_view import TextView, wrap

NARROW, HUGE = 110, 170
BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-narrow"), (NARROW, "-wide"), (HUGE, "-huge")]
"""Columns from which the panes stand side by side, and from which the policy has a column of its own."""

LINES: list[tuple[int, str]] | None = [(0, "-low"), (30, "-tall")]
"""Lines from which there is room for the growth of the context."""

SETTLE_S = 0.05
"""How long the cursor rests before the middle is filled."""


class BenchScreen(
    Explaining,
    Running,
    Shaping,
    Reading,
    Comparing,
    Minding,
    Finding,
    PolicyActions,
    Planning,
    Following,
    Living,
    Remembering,
    Screen[None],
):
    HELP = ABOUT_BENCH
    CSS_PATH = "bench.tcss"
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    VERTICAL_BREAKPOINTS = LINES
    AUTO_FOCUS = "#rounds"
    BINDINGS = BINDINGS

    @dataclass
    class Counted(Message):
        """More tokens are counted: new figures for an epoch."""

        epoch: int
        layout: Layout
        groups: Groups
        done: int
        total: int

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, BenchScreen.Counted)

    def __init__(self, bench: Bench, counter: Counter, groups: Groups) -> None:
        super().__init__()
        self.history = History(bench)
        self.counter = counter
        self.groups = groups
        self.tab = "message"
        self.pane = "rounds"
        self.checks: tuple[Check, ...] | None = None
        self.counting: tuple[int, int] | None = (0, len(bench.messages))
        self.running = ""
        self.said = opening_words(bench)
        self._possible: tuple[bool | None, ...] = ()

    @property
    def bench(self) -> Bench:
        return self.history.present

    def compose(self) -> ComposeResult:
        yield Static(id="title")
        yield BudgetBar(id="budget")
        yield GrowthLine(id="growth")
        with Grid(id="panes"):
            yield RoundsList(id="rounds")
            with Vertical(id="middle"):
                yield Tabs(*(Tab(title, id=f"tab-{name}") for name, title in PANES.items()), active="tab-rounds")
                yield Pager(id="text")
            yield PolicyForm(id="policy")
        yield FindBar(id="find")
        yield Static(id="status")
        yield KeysLine()

    def on_mount(self) -> None:
        self.query_one(Tabs).can_focus = False
        self.add_class("-show-rounds")
        self.draw()
        self.call_after_refresh(self._after_first_paint)

    async def _after_first_paint(self) -> None:
        await self._show_policy()
        self.count()
        self.show_growth()

    # --- drawing ----------------------------------------------------------------------------------------------------

    @work(exclusive=True, group="middle", exit_on_error=False)
    async def fill_middle(self) -> None:
        """Fill the middle when the cursor has rested; made and wrapped in a thread."""
        await asyncio.sleep(SETTLE_S)
        view = self.query_one(TextView)
        tab, width = self.tab, view.wrap_width
        source = self.seen(width)
        parts = tuple(await asyncio.to_thread(TABS[tab], source))
        wrapped = await asyncio.to_thread(wrap, parts, width)
        view.put(parts, wrapped, (tab, source.index if tab == "message" else None, self.bench.epoch))

    @on(Pager.Rewrap)
    def _rewrap(self) -> None:
        self.fill_middle()

    @work(exclusive=True, group="checks", exit_on_error=False)
    async def run_checks(self) -> None:
        await asyncio.sleep(SETTLE_S * 3)
        bench = self.bench
        checks = await asyncio.to_thread(check, bench.context, bench.outcome, bench.strategy, bench.policy)
        if bench is self.bench:
            self.checks = checks
            self._draw_words()
            if self.tab == "checks":
                self.fill_middle()

    def _index(self) -> int:
        return max(0, min(self.query_one(RoundsList).index, len(self.bench.messages) - 1))

    # --- steps ------------------------------------------------------------------------------------------------------

    def explain(self, sentence: str) -> None:
        self.notify(sentence, severity="warning", markup=False)

    def action_pin(self) -> None:
        messages = self.bench.messages
        if not messages:
            return
        span = self.query_one(RoundsList).span
        inside = range(span.start, min(span.stop, len(messages)))
        index = next((i for i in inside if messages[i].starts_round), min(span.start, len(messages) - 1))
        id = messages[index].id
        word = "let go" if id in self.bench.pins else "pinned"
        self.step(lambda: steps.toggle_pin(self.bench, id), said=f"{word} message {figure(index + 1)}")

    def action_split_here(self) -> None:
        if self.bench.messages:
            id = self.bench.messages[self._index()].id
            self.step(lambda: steps.split_at(self.bench, id))

    def action_unsplit(self) -> None:
        self.step(lambda: steps.split_at(self.bench, None))

    async def action_undo(self) -> None:
        if self.drop_pending():
            await self._show_policy()
        else:
            await self._travel(self.history.undone())

    async def action_redo(self) -> None:
        self.drop_pending()
        await self._travel(self.history.redone())

    async def _travel(self, history: History) -> None:
        if history is not self.history:
            self.workers.cancel_group(self, "run")
            self.history, self.said = history, ""
            self.draw()
            await self._show_policy()

    @work(exclusive=True, group="epoch", exit_on_error=False)
    async def action_epoch(self, by: int) -> None:
        number = self.bench.epoch + by
        if not 1 <= number <= len(self.bench.session.epochs):
            return

        def other() -> tuple[Bench, Groups]:
            bench = steps.at_epoch(self.bench, number, self.counter)
            bench.context.outcome_size(bench.plan.outcome)
            return bench, Groups(bench.layout)

        bench, self.groups = await asyncio.to_thread(other)
        self.counting = (0, len(bench.messages))
        self.step(lambda: bench)
        self.count()

    # --- long work --------------------------------------------------------------------------------------------------

    def count(self) -> None:
        """Count the epoch's tokens, what is on screen first; figures appear at most four times a second."""
        # What is on screen is asked here: a thread must not have the screen laid out.
        self.count_from(self.query_one(RoundsList).visible_messages())

    @work(thread=True, exclusive=True, group="count", exit_on_error=False, description="count")
    def count_from(self, first: Span) -> None:
        worker, bench = get_current_worker(), self.bench

        def tell(layout: Layout, done: int, total: int) -> None:
            self.post_message(self.Counted(bench.epoch, layout, Groups(layout), done, total))

        if count_in_slices(bench, self.counter, first, tell, lambda: worker.is_cancelled):
            self.counter.count_all(to_count(bench.session), lambda done, of: None, lambda: worker.is_cancelled)
            self.call_later(self.show_growth)

    @on(Counted)
    def _counted(self, event: Counted) -> None:
        self.counting = None if event.done >= event.total else (event.done, event.total)
        self.history = self.history.relaid(event.epoch, event.layout)
        if event.epoch == self.bench.epoch:
            self.groups = event.groups
            self.draw()

    @work(exclusive=True, group="run", exit_on_error=False)
    async def action_run(self) -> None:
        """Run the compaction with the offline summarizer; the bench stays usable and untouched until it is done."""
        from workbench.summarizers.driver import Event, RequestsMade, StepTaken, run
        from workbench.summarizers.extractive import extractive
        from workbench.summarizers.summarizer import awaited

        def told(event: Event) -> None:
            match event:
                case StepTaken(step):
                    self.running = f"running: {step.name}"
                case RequestsMade(requests, first):
                    self.running = f"running: summary {first + 1}–{first + len(requests)}, extractive"
                case _:
                    return
            self._draw_words()

        bench = self.bench
        self.running = "running"
        self._draw_words()
        self._grey()
        try:
            done = await run(bench.compacting(), awaited(extractive), on_event=told)
        except asyncio.CancelledError:
            self.said = "cancelled; nothing was changed"
            raise
        finally:
            self.running = ""
            self._draw_words()
            self._grey()
        self.history, self.said = self.history.then(steps.committed(bench, done)), ""
        if self.tab == "message":
            self.show_tab("node")
        self.draw()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self.notify(failure, severity="error", markup=False)
            if event.worker.group == "count":
                self.counting = None
            if event.worker.group == "checks":
                self.checks = ()
            self._draw_words()

    def action_leave(self) -> None:
        if self.running:
            self.workers.cancel_group(self, "run")
        elif self.focused is not self.query_one(RoundsList):
            self.show_pane("rounds")
        elif self.finding:
            self.clear_finding()
        elif self.counting:
            self.workers.cancel_group(self, "count")
            self.counting = None
            self.said = "counting stopped: figures marked ~ are estimates"
            self._draw_words()

    # --- panes ------------------------------------------------------------------------------------------------------

    def action_pane(self, name: str) -> None:
        self.show_pane(name)

    def show_pane(self, name: str) -> None:
        """Go to a pane; on a narrow screen that is what makes it visible."""
        self.show_tab(name)
        self.pane = name
        self._show_place()
        self._activate()
        self.call_after_refresh(self._focus_pane, self._place)

    @property
    def _place(self) -> str:
        return self.pane if self.pane in ("rounds", "policy") else "middle"

    def _show_place(self) -> None:
        """Where only one place is seen at a time, say which. Elsewhere it would style every widget anew for nothing."""
        if self._narrow:
            for each in ("rounds", "middle", "policy"):
                self.set_class(each == self._place, f"-show-{each}")

    def show_tab(self, name: str) -> None:
        """Fill the middle with a tab, wherever the focus is."""
        if name in TABS and name != self.tab:
            self.tab = name
            self.fill_middle()
            self._activate()

    def _activate(self) -> None:
        """Mark the tab that is shown: the pane on a narrow screen, the middle's on a wide one."""
        active = f"tab-{self.pane if self._narrow else self.tab}"
        tabs = self.query_one(Tabs)
        if tabs.active != active:
            tabs.active = active

    @property
    def _narrow(self) -> bool:
        return self.size.width < NARROW

    def _focus_pane(self, place: str) -> None:
        if place == "policy":
            first = next(iter(self.query("#fields FieldRow")), None)
            (first or self.query_one("#preset")).focus()
        else:
            self.query_one("#text" if place == "middle" else "#rounds").focus()

    @on(Tabs.TabActivated)
    def _tab_chosen(self, event: Tabs.TabActivated) -> None:
        # What is active now counts: by the time the event arrives, a key may have gone elsewhere.
        name = event.tabs.active.removeprefix("tab-")
        if name and name not in (self.pane if self._narrow else self.tab,):
            self.show_pane(name)

    @on(RoundsList.Moved)
    def _moved(self) -> None:
        if self.tab == "message":
            self.fill_middle()

    @on(RoundsList.Read)
    def _read(self) -> None:
        self.show_pane("message")

    def on_resize(self) -> None:
        for name, title in PANES.items():
            label = f"{PANE_KEYS[name]} {title}" if self.size.width >= HUGE else title
            self.query_one(f"#tab-{name}", Tab).label = label
        self._show_place()
        self._activate()

    # --- other screens ----------------------------------------------------------------------------------------------

    def action_export(self) -> None:
        from workbench.tui.screens.export import ExportScreen

        self.app.push_screen(ExportScreen(self.bench))

    def _grey(self) -> None:
        """Draw the footer anew, but only when something can be done that could not be done before, or the reverse."""
        possible = tuple(
            self.check_action(action, ()) for action in ("undo", "redo", "move_split", "unsplit", "pin", "run", "leave")
        )
        if possible != self._possible:
            self._possible = possible
            self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Grey what cannot be done now."""
        if self.why_not(action, parameters):
            return None
        match action:
            case "run":
                possible = not self.running
            case "leave":
                # Hidden, not grey, where there is nothing to leave.
                return bool(self.running or self.counting or self.finding or not isinstance(self.focused, RoundsList))
            case _:
                return True
        return True if possible else None
