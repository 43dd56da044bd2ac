"""Screen that compares variants of the compaction: their ranking, the session simulated under each, and two outcomes
side by side."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from typing import ClassVar, Literal

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import DataTable, Static
from textual.worker import Worker, get_current_worker

from workbench.analysis.course import Course
from workbench.analysis.pictures import sign_of
from workbench.base.errors import BadInput
from workbench.bench import Bench
from workbench.bench.assessment import RECORDED
from workbench.runs.variants import BENCH_LABEL, Variant
from workbench.tokens import Counter
from workbench.tui.background import WorkCancelled, failure_of
from workbench.tui.keys import CLOSE_KEY, HELP_KEY, shared
from workbench.tui.middle.two_outcomes import TwoOutcomes
from workbench.tui.plain import plain, titled
from workbench.tui.ranking import (
    RANK_COLUMNS,
    RankRow,
    column_order,
    column_scales,
    details,
    heading,
    room_over,
    row_cells,
)
from workbench.tui.screens import added_variants
from workbench.tui.screens.run_words import who
from workbench.tui.screens.variant_rows import VariantRows
from workbench.tui.simulations import id_at_call, recorded_course
from workbench.tui.widgets.calls_plot import CallsPlot
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.session_plot import LINES, Lines, SessionPlot
from workbench.tui.widgets.table import TextTable

EVERY_S = 0.25
"""Shortest interval between two drawings of the table: each draws all of it."""

BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-narrow"), (130, "-wide")]
ROWS: list[tuple[int, str]] | None = [(0, "-low"), (34, "-high")]

Two = Literal["", "contexts", "summaries"]
TWO: tuple[Two, ...] = ("", "contexts", "summaries")
"""Views of two outcomes side by side, in the order in which a key shows them; "": the table."""


class CompareScreen(ModalScreen[Variant | str]):
    """Screen whose result is the variant to open on the bench, the id of the message to show there, or None to leave
    the bench as it is."""

    HELP = """\
Each row is a variant: every strategy with its own preset, or (a) all presets; the settings on the bench, where they \
differ from every preset; and the agent's own compaction, where one ended the epoch (an epoch is the part of a \
session between two compactions; { and } on the bench go from one to the next). v adds values of a number, p a \
prompt, m a model; r asks the models, x removes a row. Without a model the summaries are extractive, the session's \
own sentences, and nothing is sent. Your pins, edits and, where a strategy has one, your split apply to all rows.
The best is first: contexts below the trigger of the session's own agent, ordered by the share kept and then by cost; \
then those that are still too large, not usable or unchanged. "tokens after" is the size of the context after the \
compaction, "rules" are the standing rules, "kept" is the share of all facts that are still in the context, "needed" \
the same share of the facts that the session needed again. "cost" is the cost of the summaries: an estimate, or the \
billed amount. It is "paid back" when later calls have saved as much. ◉ are the watched rules in their order. ▲ is the \
best of a column, ▼ the worst. "session" is the cost of all prompts and summaries when the session is simulated, \
"context" its size over the session, red from where a watched rule is lost. s orders by the next column, S reverses \
the order; a click on a heading does the same.
Below is the session simulated from its start with the row under the cursor: the triggers are checked before each \
recorded answer, and where one fires the context is compacted. The answers are assumed to be the same. · is the \
session as recorded, ▼ a compaction of the agent, ○ where a watched rule is lost: w goes there. o draws the lines of \
the marked rows, or of all, then without the recorded line. tab goes to the plot: n is the next compaction, enter the \
message of the call. f shows all figures of the row, with lost facts and the beginning of the summary; on a wide \
screen they are next to the plot. "correct" leaves out facts that are contradicted, "weighted" counts those that are \
used again four times.
space marks rows, d shows two of them side by side: A only the left one keeps it, B only the right one, = both, ~ \
both but in different forms, + new messages; d again shows their summaries. enter opens the row on the bench; undo \
restores the former settings."""
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    VERTICAL_BREAKPOINTS = ROWS
    BINDINGS: ClassVar[list[BindingType]] = [
        shared("open", "choose", "Open", "Open the row on the bench."),
        shared("toggle", "mark", "Mark", "Mark a row, for its line or side by side."),
        shared("beside", "side_by_side", "Side by side", "Two outcomes; again: their summaries."),
        shared("all", "more", "All presets", "Every preset, or each strategy's own.", show=False),
        Binding("v", "numbers", "Vary", id="compare.numbers", tooltip="Add values of a number as rows."),
        Binding("p", "prompt", "Prompt", id="compare.prompt", tooltip="Add a prompt as a row."),
        shared("model", "model", "Model", "Add a summarizer as a row."),
        shared("run", "run", "Ask", "Ask the models of the new rows, all at once.", show=False),
        shared("remove", "remove", "Remove", "Remove a row that was added.", show=False),
        Binding("o", "lines", "Lines", id="compare.lines", tooltip="One line, all lines, or without the recorded one."),
        Binding(
            "w",
            "lost",
            "Where lost",
            id="compare.lost",
            show=False,
            tooltip="To the call where a watched rule is lost.",
        ),
        Binding(
            "f",
            "figures",
            "Figures",
            id="compare.figures",
            show=False,
            tooltip="All figures of the row, or the plot again.",
        ),
        shared("table.sort", "sort", "Order by", "Order by the next column.", show=False),
        Binding("S", "turn", "Turn", id="compare.turn", show=False, tooltip="The worst first, or the best again."),
        shared("next-pane", "app.focus_next", "Plot, list", "Between the plot and the table."),
        CLOSE_KEY,
        HELP_KEY,
    ]
    AUTO_FOCUS = "TextTable"

    def __init__(self, bench: Bench, counter: Counter, *, on_plot: bool = False) -> None:
        super().__init__()
        self.bench, self.counter, self.on_plot = bench, counter, on_plot
        self.rows = VariantRows(bench)
        self.course: Course | None = None
        self.lines: Lines = "one"
        self.two: Two = ""
        self._shown: tuple[str, ...] = ()
        """Names of the rows that are drawn, waiting variants included."""

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(id="note")
            yield TextTable(cursor_type="row", fixed_columns=2)
            with Horizontal(id="below"):
                yield SessionPlot()
                yield Static(id="details")
            yield TwoOutcomes()
            yield KeysLine()

    def on_mount(self) -> None:
        self.set_interval(EVERY_S, self._flush)
        self._draw()
        self.compare()
        if self.on_plot:
            self.query_one(CallsPlot).focus()

    # --- assessing and simulating -----------------------------------------------------------------------------------

    @work(exclusive=True, group="compare", exit_on_error=False, description="compare")
    async def compare(self) -> None:
        """Compute the figures of missing rows, then their facts, then their simulations, and draw them meanwhile."""
        worker, drawn = get_current_worker(), 0.0

        async def draw_after_each(rows: AsyncIterator[None]) -> None:
            nonlocal drawn
            async for _ in rows:
                if time.monotonic() - drawn >= EVERY_S:
                    self._rank()
                    drawn = time.monotonic()
            self._rank()

        await draw_after_each(self.rows.compact_all())
        await draw_after_each(self.rows.find_facts())
        try:
            course = self.course or await self._show_recorded(worker)
        except WorkCancelled:
            return
        await draw_after_each(self.rows.simulate_all(course))

    async def _show_recorded(self, worker: Worker[None]) -> Course:
        """Return the session with its token counts, for the simulations, and draw it as recorded. Raises
        WorkCancelled."""

        def stop(stage: str) -> None:
            if worker.is_cancelled:
                raise WorkCancelled

        course, trails, words = await asyncio.to_thread(recorded_course, self.bench, self.counter, stop)
        self.course = course
        self.query_one(SessionPlot).show_recorded(course, trails, words, self.bench.window)
        return course

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self.query_one("#note", Static).update(titled("Compare", f"✘ {failure}"))

    # --- drawing ----------------------------------------------------------------------------------------------------

    def _rank(self) -> None:
        self.rows.rank()
        self._draw()

    def _draw(self) -> None:
        """Draw the table again. The cursor follows its row, but stays at the top if it was there."""
        rows, table, here = self.rows, self.query_one(TextTable), self.here
        name = self._shown[here] if 0 < here < len(self._shown) else ""
        table.clear(columns=True)
        table.add_column("", key="mark")
        table.add_column("variant", key="policy")
        watched, width = len(self.bench.watched), table.scrollable_content_region.width or self.size.width
        over = room_over(rows.ranked, rows.titles, watched, width)
        for title in column_order(rows.titles, over):
            sign = ("▴" if rows.is_reversed else "▾") if title == rows.order else ""
            table.add_column(heading(rows.ranked, title, sign, watched, over), key=title)
        top = max((max(one.sent) for one in rows.ranked if one.sent), default=1)
        scales = column_scales(rows.ranked, rows.titles)
        for one in rows.ranked:
            letter = sign_of(rows.marked.index(one.name)) if one.name in rows.marked else ""
            table.add_row(*row_cells(one, scales, letter, top, over), key=one.name)
        for each in rows.queue.waiting:
            words = "asking" if rows.queue.is_running else "r asks"
            table.add_row(Text(), Text(plain(each.label), "bold"), Text(words, "dim"), key=each.label)
        self._shown = rows.names
        if name:
            table.move_cursor(row=self._shown.index(name) if name in self._shown else min(here, len(self._shown) - 1))
        self.query_one("#note", Static).update(titled("Compare", self.rows.progress()))
        self._show_row()
        self.call_after_refresh(self._show_row)  # the table then has its new height

    @property
    def here(self) -> int:
        """Index of the row under the cursor, -1 if there is none."""
        at = self.query_one(TextTable).cursor_row
        return at if at < len(self._shown) else -1

    @property
    def row(self) -> RankRow | Variant | None:
        """Row under the cursor; a variant if it waits for a model."""
        return self.rows.row_named(self._row_name)

    @property
    def _row_name(self) -> str:
        """Name of the row under the cursor, "" if there is none."""
        return self._shown[self.here] if self.here >= 0 else ""

    @on(DataTable.RowHighlighted)
    def _show_row(self) -> None:
        """Show the session and all figures of the row under the cursor."""
        if self not in self.app.screen_stack:  # closed before the refresh
            return
        one, view = self.row, self.query_one("#details", Static)
        width, height = view.content_size
        if isinstance(one, Variant):
            written = self.rows.queue.written.get(one.label, "")[-width * height :]
            text = written or f"Summary by {who(one.summarizer)}: r asks."
            view.update(Text(f"{plain(one.label)}\n{plain(text)}"))
        else:
            view.update(details(one, width, height) if one else "")
        rows = [self.rows.by_name[name] for name in self.rows.marked] or self.rows.ranked
        lines = [each for each in rows if each.replay]
        if isinstance(one, RankRow) and one.replay and one not in lines:
            lines.append(one)
        here = lines.index(one) if isinstance(one, RankRow) and one.replay else None
        replays = [each.replay for each in lines if each.replay] if here is not None else []
        self.query_one(SessionPlot).show(replays, here or 0, self.bench.window, self.lines)

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_row)

    def _flush(self) -> None:
        if self.rows.queue.is_running:
            self._show_row()

    def action_lines(self) -> None:
        self.lines = LINES[(LINES.index(self.lines) + 1) % len(LINES)]
        self._show_row()

    def action_figures(self) -> None:
        self.toggle_class("-figures")
        self.call_after_refresh(self._show_row)

    def action_lost(self) -> None:
        if not self.query_one(SessionPlot).to_lost():
            watched = (
                "This variant loses no watched rule." if self.bench.watched else "No rule is watched (W on the bench)."
            )
            self.notify(watched, markup=False)

    # --- the order --------------------------------------------------------------------------------------------------

    def action_sort(self) -> None:
        titles = self.rows.titles
        self._sort(titles[(titles.index(self.rows.order) + 1) % len(titles)], is_reversed=False)

    def action_turn(self) -> None:
        self._sort(self.rows.order, is_reversed=not self.rows.is_reversed)

    @on(DataTable.HeaderSelected)
    def _heading_clicked(self, event: DataTable.HeaderSelected) -> None:
        if (title := event.column_key.value or "") in RANK_COLUMNS:
            self._sort(title, is_reversed=title == self.rows.order and not self.rows.is_reversed)

    def _sort(self, title: str, *, is_reversed: bool) -> None:
        self.rows.sort(title, is_reversed=is_reversed)
        self._draw()

    # --- which variants ---------------------------------------------------------------------------------------------

    def action_more(self) -> None:
        self.rows.every = not self.rows.every
        self.compare()

    def action_numbers(self) -> None:
        added_variants.ask_number(self.app, self.bench, self._add)

    def action_prompt(self) -> None:
        added_variants.ask_prompt(self.app, self.bench, self._wait)

    def action_model(self) -> None:
        added_variants.ask_model(self.app, self.bench, self._wait)

    def _add(self, variants: Sequence[Variant]) -> None:
        self.rows.added = (*self.rows.added, *variants)
        self.compare()

    def _wait(self, variants: Sequence[Variant]) -> None:
        """Add variants as rows that wait until r runs them, because a run may cost money."""
        self.rows.queue.add(variants)
        self._draw()
        self.query_one(TextTable).move_cursor(row=len(self._shown) - 1)

    def action_remove(self) -> None:
        one = self.row
        if not self.rows.remove(one):
            self.notify("Only rows that you added can be removed.", markup=False)
        elif isinstance(one, Variant):
            self._draw()
        else:
            self.compare()

    # --- asking summarizers -----------------------------------------------------------------------------------------

    def action_run(self) -> None:
        if self.rows.queue.waiting and not self.rows.queue.is_running:
            self.ask()
            self._draw()

    @work(exclusive=True, group="ask", exit_on_error=False, description="ask")
    async def ask(self) -> None:
        variants = self.rows.queue.waiting
        try:
            done = await self.rows.queue.run_waiting(self.app)
        except BadInput as refused:
            self.notify(str(refused), severity="warning", markup=False, timeout=10)
            return
        finally:
            if self.is_attached:
                self._draw()
        self.rows.add_runs(variants, done)
        self.compare()

    # --- opening one row, two rows side by side ---------------------------------------------------------------------

    def action_mark(self) -> None:
        if isinstance(one := self.row, RankRow):
            self.rows.toggle_mark(one.name)
            self._draw()

    def action_side_by_side(self) -> None:
        two = TWO[(TWO.index(self.two) + 1) % len(TWO)]
        if two and len(self.rows.pair(self._row_name)) < 2:
            self.notify("space marks a row; d shows two of them side by side.", markup=False)
            return
        self._show_two(two)

    def _show_two(self, two: Two) -> None:
        self.two = two
        self.set_class(bool(two), "-two")
        if two:
            pair = self.rows.pair(self._row_name)
            self.query_one(TwoOutcomes).show(self.bench, *pair, summaries=two == "summaries")
        else:
            self.query_one(TextTable).focus()

    @on(DataTable.RowSelected)
    def action_choose(self) -> None:
        one = self.row
        variant = one.variant if isinstance(one, RankRow) else one
        if variant is not None:
            self.dismiss(None if variant.label == BENCH_LABEL else variant)
        elif one is not None:
            self.notify(f"The {RECORDED} compaction is the agent's own: it has no policy to open.", markup=False)

    @on(CallsPlot.Selected)
    def _go_to_call(self, event: CallsPlot.Selected) -> None:
        if self.course is not None and len(self.course.calls):
            self.dismiss(id_at_call(self.course, event.call))

    async def action_dismiss(self, result: Variant | str | None = None) -> None:
        """Close the two outcomes if they are shown; else cancel running calls; else go back to the bench."""
        if self.two:
            self._show_two("")
        elif self.rows.queue.is_running:
            self.workers.cancel_group(self, "ask")
        else:
            await super().action_dismiss(result)
