"""Keys of every list, table and text: search with one input line at the bottom, go to the next hit, copy, move."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.text import Text
from textual import on
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.analysis.search import query_of
from workbench.base.errors import BadInput
from workbench.base.text import counted
from workbench.tui.keys import HELP_KEY, shared
from workbench.tui.plain import several
from workbench.tui.widgets.inputs import OneLine
from workbench.tui.widgets.list_keys import Lined, found_in, hit


class SearchLinesScreen(ModalScreen[None]):
    HELP = """\
Type what to find; between slashes it is a regular expression. enter stays at the line found; n and N then go to the \
other matches; esc goes back to where you were."""
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
            yield Static(id="note")

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
        self.query_one("#note", Static).update(Text(words, no_wrap=True, overflow="ellipsis"))

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.dismiss()

    def action_leave(self) -> None:
        self.lines.seek(self.before)
        self.lines.to_line(self.start)
        self.dismiss()


# --- actions of the application ---------------------------------------------------------------------------------------


def _focused_lines(app: App[Any]) -> Lined | None:
    return app.focused if isinstance(app.focused, Lined) else None


async def search(app: App[Any]) -> None:
    """Open the input line for the list, table or text that has the focus."""
    if (lines := _focused_lines(app)) is not None:
        await app.push_screen(SearchLinesScreen(lines))


def next_hit(app: App[Any], direction: int) -> None:
    lines = _focused_lines(app)
    if lines is None:
        return
    if lines.search_query is None:
        app.notify("No search yet: / searches.", severity="warning")
    elif (line := hit(lines, lines.place, direction)) is None:
        app.notify(f"{lines.search_query.text}: not found here.", severity="warning", markup=False)
    else:
        lines.to_line(line)


def copy(app: App[Any]) -> None:
    """Copy the mouse selection; without one, the text that the list, table or text view offers."""
    lines = _focused_lines(app)
    text = app.screen.get_selected_text() or (lines.copied() if lines is not None else "")
    if text:
        app.copy_to_clipboard(text)
        app.notify(f"{counted(len(text), 'character')} copied")


async def along(app: App[Any], action: str) -> None:
    """Move in the screen's list while the user types above it."""
    lists = (one for one in app.screen.query(Widget) if isinstance(one, Lined) and one.display)
    if (first := next(lists, None)) is not None:
        await app.run_action(action, first)
