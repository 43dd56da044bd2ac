"""Compare: one column for each strategy or preset on the session of the bench; the chosen one opens there."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import DataTable, Footer, Static
from textual.worker import Worker, get_current_worker

from workbench.analysis.compare import Column, candidates, compare
from workbench.bench import Bench
from workbench.compaction.outcome import Fate
from workbench.compaction.preset import Preset, load_preset, preset_names
from workbench.summarizers.extractive import extractive
from workbench.tui.failures import failure_of
from workbench.tui.help_key import help_key
from workbench.tui.plain import figure, plain

ROWS = (
    "strategy", "fired", "head", "tail", "after", "saved", "calls", *(fate.value for fate in Fate), "checks", "status",
)  # fmt: skip


def cells(column: Column) -> list[str]:
    """A column's cells, parallel to `ROWS`."""
    share = f"{100 * column.saved / column.before.tokens:.0f} %" if column.before.tokens else ""
    counts = [figure(column.outcome.fate_counts[fate]) for fate in Fate]
    failed = ", ".join(check.name for check in column.failed)
    return [
        column.preset.strategy,
        "✔ yes" if column.fired else "no",
        str(column.head),
        str(column.tail),
        str(column.after),
        share,
        str(column.calls),
        *counts,
        f"! {failed}" if failed else "✔ passed",
        column.outcome.status.replace("_", " "),
    ]


class CompareScreen(ModalScreen[Preset | None]):
    """Dismissed with the preset to open in the bench, or with None."""

    HELP = """\
One column for each strategy, or for every preset: whether its trigger fires, how much it takes and keeps, what is \
left, what becomes of the messages and which checks it fails. Your pins, your edits and, where a strategy has one, \
your split hold in all of them; the summaries are extractive, so nothing is sent anywhere. Enter opens the column \
under the cursor on the bench; undo brings back what was there."""
    CSS = """
    CompareScreen { align: center middle; }
    CompareScreen > Vertical { width: 96%; height: 90%; padding: 0 1; border: round $border; background: $surface; }
    CompareScreen DataTable { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close", id="compare.close", tooltip="Back to the bench, nothing changed."),
        Binding("a", "more", "All presets", id="compare.all", tooltip="Every preset, or each strategy's own."),
        Binding("enter", "choose", "Open", id="compare.open", tooltip="Open the column under the cursor in the bench."),
        help_key("compare"),
    ]
    AUTO_FOCUS = "DataTable"

    @dataclass
    class Compared(Message):
        """One more column, for the round of comparing that asked for it."""

        asked: tuple[Preset, ...]
        column: Column

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.bench = bench
        self.every = False
        self.asked: tuple[Preset, ...] = ()
        self.columns: list[Column] = []

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(id="said")
            yield DataTable(cursor_type="column", zebra_stripes=True)
            yield Footer()

    def on_mount(self) -> None:
        self.start()

    def start(self) -> None:
        """Compare anew: the strategies' own presets, or every one."""
        self.asked = tuple(map(load_preset, preset_names())) if self.every else candidates()
        self.columns = []
        table = self.query_one(DataTable)
        table.clear(columns=True)
        table.add_column("", key="")
        for name in ROWS:
            table.add_row(Text(name, "dim"), key=name)
        self._say()
        self.compare(self.asked)

    @work(exclusive=True, group="compare", exit_on_error=False)
    async def compare(self, asked: tuple[Preset, ...]) -> None:
        """Column by column in a thread, so that the first stands while the last is still made."""
        columns = compare(self.bench.context, asked, extractive, self.bench.edits)
        worker = get_current_worker()
        while not worker.is_cancelled and (column := await asyncio.to_thread(next, columns, None)):
            self.post_message(self.Compared(asked, column))

    @on(Compared)
    def _show(self, event: Compared) -> None:
        if event.asked is not self.asked:
            return
        self.columns.append(event.column)
        table = self.query_one(DataTable)
        table.add_column(Text(plain(event.column.name), "bold"), key=event.column.name)
        for name, cell in zip(ROWS, cells(event.column), strict=True):
            table.update_cell(name, event.column.name, Text(plain(cell)), update_width=True)
        if len(self.columns) == 1:
            table.move_cursor(column=1)
        self._say()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self.query_one("#said", Static).update(Text(f"✘ {plain(failure)}"))

    def _say(self) -> None:
        what = "every preset" if self.every else "each strategy's own preset"
        done = f"{len(self.columns)} of {len(self.asked)}"
        before = f"{self.bench.context.total} tokens before"
        self.query_one("#said", Static).update(Text(f"{what}: {done} · {before} · extractive summaries"))

    def action_more(self) -> None:
        self.every = not self.every
        self.start()

    @on(DataTable.ColumnSelected)
    def action_choose(self) -> None:
        number = self.query_one(DataTable).cursor_column - 1
        if 0 <= number < len(self.columns):
            self.dismiss(self.columns[number].preset)
