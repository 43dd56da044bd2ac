"""Search in a list, a table or a text: one input line at the bottom, with the lines still visible above it."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from workbench.analysis.search import query_of
from workbench.base.errors import BadInput
from workbench.tui.keys import HELP_KEY, shared
from workbench.tui.plain import several
from workbench.tui.widgets.list_keys import Lined, found_in, hit
from workbench.tui.widgets.one_line import OneLine


class SearchLinesScreen(ModalScreen[None]):
    HELP = """\
Type what to find; between slashes it is a regular expression. enter stays at the line found, n and N go to the others \
then; esc goes back to where you were."""
    BINDINGS: ClassVar[list[BindingType]] = [
        shared("cancel", "leave", "Cancel", "Back to the line where you were."),
        HELP_KEY,
    ]

    def __init__(self, lines: Lined) -> None:
        super().__init__()
        self.lines, self.start, self.before = lines, lines.place, lines.search_query

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Static(" / ", id="sign")
            yield OneLine(
                self.before.text if self.before else "", placeholder="words", compact=True, select_on_focus=True
            )
            yield Static(id="said")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        lines = self.lines
        try:
            lines.seek(query_of(event.value) if event.value else None)
        except BadInput as refused:
            self._say(f"✘ {refused}")
            return
        line = hit(lines, self.start, 1, here=True)
        lines.to_line(self.start if line is None else line)
        many = len(found_in(lines, lines.search_query)) if lines.search_query else 0
        self._say(
            f"in {several(many, 'line')}; enter, then n and N" if many else "not found" if lines.search_query else ""
        )

    def _say(self, words: str) -> None:
        self.query_one("#said", Static).update(Text(words, no_wrap=True, overflow="ellipsis"))

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.dismiss()

    def action_leave(self) -> None:
        self.lines.seek(self.before)
        self.lines.to_line(self.start)
        self.dismiss()
