"""Two columns of the comparison side by side: a diff of their contexts, and their summaries beside each other."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static
from textual.worker import Worker

from workbench.bench import Bench
from workbench.tui.failures import failure_of
from workbench.tui.keys import CLOSE_KEY, HELP_KEY
from workbench.tui.middle.pager import Pager
from workbench.tui.middle.two_outcomes import Named, context_parts, summary_parts
from workbench.tui.plain import plain
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.text_view import wrap


class TwoOutcomesScreen(ModalScreen[None]):
    HELP = """\
Two outcomes of the same context beside each other. Contexts: the messages from the first to the last, one row each, \
under the outcome that keeps it: A only the left one, B only the right one, = both alike, ~ both but not in the same \
words; A + and B + are new messages; what neither keeps is counted. Summaries: everything that is new in either."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "summaries", "Summaries", id="two.summaries", tooltip="The summaries, or the contexts again."),
        CLOSE_KEY,
        HELP_KEY,
    ]
    AUTO_FOCUS = "Pager"

    def __init__(self, bench: Bench, first: Named, second: Named) -> None:
        super().__init__()
        self.bench, self.first, self.second = bench, first, second
        self.summaries = False

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(id="said")
            yield Pager()
            yield KeysLine()

    def on_mount(self) -> None:
        self.call_after_refresh(self.fill)

    @work(exclusive=True, group="two", exit_on_error=False, description="fill")
    async def fill(self) -> None:
        """Made and wrapped in a thread."""
        summaries, view = self.summaries, self.query_one(Pager)
        what = "summaries" if summaries else "contexts"
        words = f"{what} · A {self.first.name} · B {self.second.name}"
        self.query_one("#said", Static).update(Text(plain(words)))
        width, pair = view.wrap_width, (self.first, self.second)
        made = summary_parts if summaries else context_parts
        parts = tuple(await asyncio.to_thread(made, self.bench, *pair, width))
        view.put(parts, await asyncio.to_thread(wrap, parts, width), what)

    @on(Pager.Rewrap)
    def _rewrap(self) -> None:
        self.fill()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self.query_one("#said", Static).update(Text(f"✘ {plain(failure)}"))

    def action_summaries(self) -> None:
        self.summaries = not self.summaries
        self.fill()
