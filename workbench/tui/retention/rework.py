"""Tab of rework: work that the agent and its user repeated after each recorded compaction."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.widgets import DataTable, Static
from textual.worker import get_current_worker

from workbench.analysis.rework import Rework, rework
from workbench.analysis.why.tables import rework_table
from workbench.bench import Bench
from workbench.tokens import Counter
from workbench.tui.background import ReportStage, WorkCancelled
from workbench.tui.plain import plain, several
from workbench.tui.retention.pane import RetentionPane, RetentionState
from workbench.tui.simulations import course_on
from workbench.tui.widgets.table import TextTable


class ReworkPane(RetentionPane):
    TITLE = "Rework"
    HELP = """\
Rework is work repeated after a recorded compaction: files that were read again, commands that were run again, edits \
that were undone, instructions that the user repeated. Each line names the message that did the work first, and the \
one that repeats it with its tokens; Enter goes to the repetition. It is counted from the file; no model is asked. \
The rework that the bench's own compaction would cause cannot be known."""
    BINDINGS: ClassVar = []

    def __init__(self, state: RetentionState, *, id: str) -> None:
        super().__init__(state, id=id)
        self.found: tuple[Rework, ...] | None = None

    def compose(self) -> ComposeResult:
        yield Static(classes="note")
        yield TextTable(cursor_type="row", classes="lines")

    def start(self) -> None:
        if self.found is None:  # pins do not change the recorded session
            self.say("reading the session …")
            self.look()

    @work(exclusive=True, group="rework", exit_on_error=False, description="look")
    async def look(self) -> None:
        worker = get_current_worker()

        def report(words: str) -> None:
            if worker.is_cancelled:
                raise WorkCancelled
            self.app.call_from_thread(self.say, f"{words} …")

        self.found = found = await asyncio.to_thread(_rework, self.bench, self.state.counter, report)
        items = [(one.compaction.epoch, item) for one in found for item in one.items]
        tokens = sum(item.tokens for _, item in items)
        many = several(len(found), "recorded compaction")
        if not found:
            self.say("This session records no compaction: there is no rework to count.")
        elif not items:
            self.say(f"No work was repeated after {many}.")
        else:
            self.say(f"Work was repeated {several(len(items), 'time')} after {many}: {several(tokens, 'token')}.")
            self.query_one(TextTable).show(rework_table(items))

    def say(self, words: str) -> None:
        self.query_one(".note", Static).update(Text(plain(words)))

    @on(DataTable.RowSelected)
    def _chosen(self) -> None:
        if message := self.query_one(TextTable).message:
            self.post_message(self.GoToMessage(message))


def _rework(bench: Bench, counter: Counter, report: ReportStage) -> tuple[Rework, ...]:
    _, course = course_on(bench, counter, report, first=1)
    return rework(course)
