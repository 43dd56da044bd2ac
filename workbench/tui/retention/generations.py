"""Tab "After n compactions": shares of facts kept as rows of bars, a column for each compaction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.analysis.generations import Generations, generations
from workbench.analysis.recorded_compactions import following
from workbench.base.text import plural
from workbench.bench import Bench
from workbench.compaction.context import Context
from workbench.compaction.edits import compacting
from workbench.compaction.outcome import Outcome
from workbench.summarizers.driver import drive
from workbench.summarizers.extractive import extractive
from workbench.tui.keys import shared
from workbench.tui.plain import percent, plain
from workbench.tui.retention.pane import RetentionPane, RetentionState
from workbench.tui.retention.surviving import bar_of, heads, rows
from workbench.tui.widgets.cut_text import WholeFigures
from workbench.tui.widgets.table import TextTable

USUAL, MOST = 5, 100
"""Number of compactions at first, and at most."""

SETTLE_S = 0.3
"""Time the number rests before anything is compacted."""


class GenerationsPane(RetentionPane):
    TITLE = "After n compactions"
    HELP = """\
Facts kept after several compactions in a row, with the settings on the bench and extractive summaries, without a \
model. Between two of them the context grows by the messages that followed in the session until it is as large as \
before the first; where the session has no more, its tail is repeated (marked *). A column is a compaction. A row is \
the share of facts that is kept: over all, by weight (facts that are needed again count more), by kind, and "correct", \
without those that are wrong; then watched rules, and the size of context and summaries. + and - change how many \
compactions there are."""
    BINDINGS: ClassVar[list[BindingType]] = [
        shared("more", "more(1)", "More", "One compaction more."),
        shared("less", "more(-1)", "Fewer", "One compaction fewer."),
    ]

    @dataclass
    class Began(Message):
        """Compaction `number` has begun."""

        number: int

    @dataclass
    class Done(Message):
        """All compactions are done; arrives after the last `Began`."""

        found: Generations

    def __init__(self, state: RetentionState, *, id: str) -> None:
        super().__init__(state, id=id)
        self.count = USUAL
        self.found: Generations | None = None

    def compose(self) -> ComposeResult:
        yield Static(classes="said")
        yield WholeFigures(classes="finding")
        yield TextTable(cursor_type="row", fixed_columns=1, classes="lines")

    def start(self) -> None:
        self.compact()

    # --- compacting -------------------------------------------------------------------------------------------------

    @work(exclusive=True, group="generations", exit_on_error=False, description="compact")
    async def compact(self) -> None:
        count, worker = self.count, get_current_worker()
        self.say("…")
        await asyncio.sleep(SETTLE_S if self.found else 0)

        def began(number: int) -> None:
            self.post_message(self.Began(number))

        found = await asyncio.to_thread(compact_repeatedly, self.bench, count, began, lambda: worker.is_cancelled)
        if found is not None:
            self.post_message(self.Done(found))

    @on(Began)
    def _began(self, event: Began) -> None:
        self.say(f"number {event.number} in progress …")

    @on(Done)
    def _done(self, event: Done) -> None:
        self.found = event.found
        self.draw()

    def action_more(self, by: int) -> None:
        count = max(1, min(self.count + by, MOST))
        if count != self.count:
            self.count = count
            self.compact()

    # --- drawing ----------------------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        self.draw()

    def say(self, words: str) -> None:
        policy = self.bench.as_preset.name
        line = f"{self.count} {plural(self.count, 'compaction')} by {policy} · {words} · extractive summaries"
        self.query_one(".said", Static).update(Text(plain(line)))

    def draw(self) -> None:
        found = self.found
        if found is None:
            return
        last = found.steps[-1]
        words = f"{percent(found.overall[-1])} kept, {percent(found.right[-1])} correct"
        if last.status == "unchanged":
            words += f" · number {last.number} changes nothing"
        if any(step.replayed for step in found.steps):
            words += " · * tail repeated"
        self.say(words)
        self.query_one(".finding", WholeFigures).update(f"{found.finding}." if found.finding else "")
        table = self.query_one(TextTable)
        at = table.cursor_row
        table.clear(columns=True)
        for head in heads(found):
            table.add_column(head)
        for row in rows(found, self.bench.watched, bar_of(self.size.width, len(found.steps))):
            table.add_row(*row)
        table.move_cursor(row=at)


class CompactionsCancelled(Exception):
    """The user left or changed the number of compactions."""


def compact_repeatedly(
    bench: Bench, count: int, began: Callable[[int], None], cancelled: Callable[[], bool]
) -> Generations | None:
    """Compact `count` times under the bench's settings; `began` gets the number of each. None if cancelled."""
    number = 0

    def compact(context: Context) -> Outcome:
        nonlocal number
        if cancelled():
            raise CompactionsCancelled
        number += 1
        began(number)
        return drive(compacting(context, bench.edits, bench.strategy, bench.policy), extractive).outcome

    try:
        return generations(bench.context, compact, following(bench.session, bench.epoch), count, bench.watched)
    except CompactionsCancelled:
        return None
