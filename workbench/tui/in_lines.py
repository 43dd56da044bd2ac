"""Keys that work in every list: search, copy and move in the list, table or text that has the focus."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.widget import Widget

from workbench.base.text import counted
from workbench.tui.screens.search_lines import SearchLinesScreen
from workbench.tui.widgets.list_keys import Lined, hit


def _here(app: App[Any]) -> Lined | None:
    return app.focused if isinstance(app.focused, Lined) else None


async def search(app: App[Any]) -> None:
    if (lines := _here(app)) is not None:
        await app.push_screen(SearchLinesScreen(lines))


def next_hit(app: App[Any], way: int) -> None:
    lines = _here(app)
    if lines is None:
        return
    if lines.search_query is None:
        app.notify("No search yet: / searches.", severity="warning")
    elif (line := hit(lines, lines.place, way)) is None:
        app.notify(f"{lines.search_query.text}: not found here.", severity="warning", markup=False)
    else:
        lines.to_line(line)


def copy(app: App[Any]) -> None:
    """Copy the mouse selection; without one, the text that the list, table or text view offers."""
    lines = _here(app)
    text = app.screen.get_selected_text() or (lines.copied() if lines is not None else "")
    if text:
        app.copy_to_clipboard(text)
        app.notify(f"{counted(len(text), 'character')} copied")


async def along(app: App[Any], way: str) -> None:
    """Move in the screen's list while the user types above it."""
    lists = (one for one in app.screen.query(Widget) if isinstance(one, Lined) and one.display)
    if (first := next(lists, None)) is not None:
        await app.run_action(way, first)
