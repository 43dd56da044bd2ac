"""Compare: one column for each strategy or preset on the session of the bench; the chosen one opens there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import DataTable, Static
from textual.worker import Worker, get_current_worker

from workbench.analysis.compare import THEIRS, Column, candidates, column_of, compare, theirs
from workbench.analysis.later_use import LaterUse
from workbench.analysis.recorded import following
from workbench.analysis.retention import Retention, retention
from workbench.bench import Bench, Stand, stands
from workbench.compaction.of_tool import of_its_time
from workbench.compaction.preset import Preset, load_preset, preset_names
from workbench.summarizers.extractive import extractive
from workbench.tui.failures import failure_of
from workbench.tui.help_key import help_key
from workbench.tui.middle.two_outcomes import Named
from workbench.tui.plain import plain
from workbench.tui.screens.compare_words import MARKED, cells, held_cells, needed_cells, rows_of, said, watched_cells
from workbench.tui.screens.retention_words import has_theirs
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.table import Table

OURS = "on the bench"
"""The name of the column for the bench's own policy and run, where no preset's column is the same."""

EVERY_S = 0.25
"""How often what has been found is drawn: the table is drawn anew as a whole."""


@dataclass(frozen=True)
class Asked:
    """What is compared: the presets, and before them the bench's own policy where it is none of them."""

    presets: tuple[Preset, ...]
    own: Preset | None
    theirs: bool

    @property
    def count(self) -> int:
        return len(self.presets) + (self.own is not None) + self.theirs


def asked_of(bench: Bench, presets: tuple[Preset, ...]) -> Asked:
    presets = tuple(of_its_time(one, bench.session) for one in presets)
    own = bench.chosen
    known = any((one.strategy, one.policy) == (own.strategy, own.policy) for one in presets)
    return Asked(presets, None if known and not bench.result else own, has_theirs(bench))


def columns_of(bench: Bench, asked: Asked) -> Iterator[Column]:
    """The agent's own first, then what is on the bench, then each preset, as it is done."""
    if (recorded := theirs(bench.session, bench.epoch, bench.context)) is not None:
        yield recorded
    if asked.own is not None:
        yield column_of(bench.context, asked.own, bench.result or bench.offline, bench.edits)
    yield from compare(bench.context, asked.presets, extractive, bench.edits)


class CompareScreen(ModalScreen[Preset | None]):
    """Dismissed with the preset to open in the bench, or with None."""

    HELP = """\
One column for each strategy, or for every preset: whether its trigger fires, how much it takes and keeps, what is \
left, what it costs, what becomes of the messages and which checks it fails. First stands what the agent itself did, \
in an epoch that a recorded compaction ended ({ and } on the bench go there), then what is on the bench where no \
preset is the same. Your pins, your edits and, where a strategy has one, your split hold in all of them; the summaries \
are extractive, so nothing is sent anywhere.
"summary cost" is what a model would take to write them, at the session's model's prices (or as so many input tokens' \
worth). "first changed" tokens at the beginning stay in the prompt cache, "re-billed" ones are written to it anew; it \
"pays off" when what every later call saves has made up for that and the summaries.
"present" is the share of the whole context's facts that is still told, "right" what of it is told rightly, "weighted" \
what is told by weight: what is needed again counts more; then by kind. "needed later" is what is still there of what \
the session really needed again, where it goes on after this epoch. These come after the rest; a watched sentence \
has a row of its own, which says how it stands in each.
Enter opens the column under the cursor on the bench; undo brings back what was there. Space marks two columns, d \
shows them side by side."""
    CSS = """
    CompareScreen { align: center middle; }
    CompareScreen > Vertical { width: 98%; height: 96%; padding: 0 1; border: round $border; background: $surface; }
    CompareScreen #said { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    CompareScreen Table { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "Close", id="compare.close", tooltip="To the bench, nothing changed."),
        Binding("a", "more", "All presets", id="compare.all", tooltip="Every preset, or each strategy's own."),
        Binding("space", "mark", "Mark", id="compare.mark", tooltip="Mark a column to be seen beside another one."),
        Binding("d", "beside", "Side by side", id="compare.beside", tooltip="The two marked columns, or this and one."),
        Binding("enter", "choose", "Open", id="compare.open", tooltip="Open the column under the cursor in the bench."),
        help_key("compare"),
    ]
    AUTO_FOCUS = "Table"

    @dataclass
    class Told(Message):
        """All columns that are made by now for this round of comparing, and what the first of them still hold, of
        watched sentences too."""

        asked: Asked
        columns: tuple[Column, ...]
        held: tuple[Retention, ...]
        stood: tuple[tuple[Stand, ...], ...]
        needed: tuple[LaterUse | None, ...]

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, CompareScreen.Told)

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.bench = bench
        self.goes_on = bench.epoch < len(bench.session.epochs)
        self.every = False
        self.asked = asked_of(bench, candidates())
        self.columns: tuple[Column, ...] = ()
        self.held: tuple[Retention, ...] = ()
        self.marked: tuple[int, ...] = ()

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(id="said")
            yield Table(cursor_type="column", zebra_stripes=True, fixed_columns=1)
            yield KeysLine()

    def on_mount(self) -> None:
        self.start()

    def start(self) -> None:
        """Compare anew: the strategies' own presets, or every one."""
        presets = tuple(map(load_preset, preset_names())) if self.every else candidates()
        self.asked = asked_of(self.bench, presets)
        self.columns, self.held, self.marked = (), (), ()
        table = self.query_one(Table)
        table.clear(columns=True)
        table.add_column("", key="")
        for key, name in rows_of(self.bench.watched, goes_on=self.goes_on).items():
            table.add_row(Text(name, "dim"), key=key)
        self._say()
        self.compare(self.asked)

    @work(exclusive=True, group="compare", exit_on_error=False, description="compare")
    async def compare(self, asked: Asked) -> None:
        """Column by column in a thread, so that the first stands while the last is still made; then what they hold."""
        bench, worker, told = self.bench, get_current_worker(), 0.0
        made: list[Column] = []
        held: list[Retention] = []
        stood: list[tuple[Stand, ...]] = []
        needed: list[LaterUse | None] = []

        def tell(at_least: float) -> None:
            nonlocal told
            if time.monotonic() - told >= at_least:
                self.post_message(self.Told(asked, tuple(made), tuple(held), tuple(stood), tuple(needed)))
                told = time.monotonic()

        columns = columns_of(bench, asked)
        while not worker.is_cancelled and (column := await asyncio.to_thread(next, columns, None)):
            made.append(column)
            tell(EVERY_S)
        tell(0)
        later = await asyncio.to_thread(following, bench.session, bench.epoch)
        for column in made:
            if worker.is_cancelled:
                return
            stood.append(await asyncio.to_thread(stands, bench, column.outcome))
            needed.append(await asyncio.to_thread(bench.later_use, column.outcome) if self.goes_on else None)
            held.append(await asyncio.to_thread(retention, bench.context, column.outcome, later))
            tell(EVERY_S)
        tell(0)

    @on(Told)
    def _show(self, event: Told) -> None:
        """Add the columns that are new, and what is held where that is new."""
        if event.asked is not self.asked:
            return
        table, shown, judged = self.query_one(Table), len(self.columns), len(self.held)
        self.columns, self.held = event.columns, event.held
        for number in range(shown, len(self.columns)):
            column = self.columns[number]
            table.add_column(Text(plain(self.name_of(column)), "bold"), key=str(number))
            self._fill(number, cells(column))
        for number in range(judged, len(self.held)):
            self._fill(number, held_cells(self.held[number]))
            self._fill(number, watched_cells(event.stood[number]))
            self._fill(number, needed_cells(event.needed[number]) if self.goes_on else {})
        if not shown and self.columns:
            table.move_cursor(column=1)
        self._say()

    def _fill(self, number: int, told: dict[str, Text]) -> None:
        table = self.query_one(Table)
        for row, cell in told.items():
            table.update_cell(row, str(number), cell)

    def name_of(self, column: Column) -> str:
        return OURS if column.preset is not None and column.preset is self.asked.own else column.name

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self.query_one("#said", Static).update(Text(f"✘ {plain(failure)}"))

    def _say(self) -> None:
        what = "every preset" if self.every else "each strategy's own preset"
        words = said(self.columns, self.asked.count, len(self.held), what, str(self.bench.context.total))
        self.query_one("#said", Static).update(Text(words))

    def action_more(self) -> None:
        self.every = not self.every
        self.start()

    # --- one of them, or two ----------------------------------------------------------------------------------------

    @property
    def number(self) -> int:
        """The column under the cursor, -1 on the names."""
        number = self.query_one(Table).cursor_column - 1
        return number if number < len(self.columns) else -1

    def action_mark(self) -> None:
        """Mark the column, or no longer; of three the first one marked goes."""
        if (number := self.number) < 0:
            return
        before = self.marked
        self.marked = tuple(one for one in before if one != number) if number in before else (*before, number)[-2:]
        table = self.query_one(Table)
        for each in {*before, *self.marked}:
            letter = "AB"[self.marked.index(each)] if each in self.marked else ""
            table.update_cell(MARKED, str(each), Text(letter, "bold reverse"))

    def action_beside(self) -> None:
        """The two marked; with one marked, that and the column under the cursor; with none, that and the first."""
        from workbench.tui.screens.two_outcomes import TwoOutcomesScreen

        pair = (*self.marked, self.number)[:2] if self.marked else (0, self.number)
        if len(set(pair)) < 2 or min(pair) < 0:
            self.notify("Space marks a column; d shows two of them side by side.", markup=False)
            return
        first, second = (Named(self.name_of(column), column.outcome) for column in (self.columns[at] for at in pair))
        self.app.push_screen(TwoOutcomesScreen(self.bench, first, second))

    @on(DataTable.ColumnSelected)
    def action_choose(self) -> None:
        if (number := self.number) < 0:
            return
        preset = self.columns[number].preset
        if preset is None:
            self.notify(f"The {THEIRS} compaction is the agent's own: it has no policy to open.", markup=False)
        else:
            self.dismiss(None if preset is self.asked.own else preset)
