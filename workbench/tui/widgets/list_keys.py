"""Keys of everything that has lines: move along a list, a table or a text, search it and copy from it."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from textual.binding import BindingType

from workbench.analysis.search import Query, match_spans
from workbench.tui.keys import shared

MOVING: list[BindingType] = [
    shared("move.down", "cursor_down", "Down", "To the next line.", show=False),
    shared("move.up", "cursor_up", "Up", "To the line before.", show=False),
    shared("move.page-down", "page_down", "Page down", "One page down.", show=False),
    shared("move.page-up", "page_up", "Page up", "One page up.", show=False),
    shared("move.first", "first", "First", "To the first line.", show=False),
    shared("move.last", "last", "Last", "To the last line.", show=False),
]
"""Keys for moving; a widget with these has an action of each name."""

COPY = shared("copy", "app.copy_lines", "Copy", "Copy the selection, or the line.", show=False)
SEARCHING: list[BindingType] = [
    # With priority: the next key is dispatched only when the line for typing has the focus.
    shared("find", "app.search_lines", "Find", "Find words in these lines.", show=False, priority=True),
    shared("find.next", "app.next_line(1)", "Next match", "To the next line found.", show=False),
    shared("find.previous", "app.next_line(-1)", "Previous match", "To the one found before.", show=False),
    COPY,
]
"""Keys for searching and copying, for widgets that are `Lined`, on screens without another search."""

TYPING: list[BindingType] = [
    shared("move.down", "app.along('cursor_down')", "Down", "To the next line.", show=False),
    shared("move.up", "app.along('cursor_up')", "Up", "To the line before.", show=False),
    shared("move.page-down", "app.along('page_down')", "Page down", "One page down.", show=False),
    shared("move.page-up", "app.along('page_up')", "Page up", "One page up.", show=False),
]
"""Keys for a screen with one list below an input."""


@runtime_checkable
class Lined(Protocol):
    """Lines of text with a place among them."""

    search_query: Query | None
    """Search whose hits are marked, None for none."""

    @property
    def line_count(self) -> int: ...
    @property
    def place(self) -> int:
        """Line of the cursor; for a text, the first visible line."""

    def line_text(self, line: int) -> str: ...
    def to_line(self, line: int) -> None:
        """Put the cursor on a line, or as near as possible."""

    def seek(self, query: Query | None) -> None: ...
    def copied(self) -> str:
        """Text to copy: the line of the cursor, or a text completely."""


def found_in(lines: Lined, query: Query) -> list[int]:
    """Lines with a hit, in order."""
    return [line for line in range(lines.line_count) if match_spans(query, lines.line_text(line))]


def hit(lines: Lined, start: int, direction: int, *, here: bool = False) -> int | None:
    """Next line with a hit, wrapping round the end; None without hits. `here` allows `start` itself."""
    if lines.search_query is None or not lines.line_count:
        return None
    steps = range(0 if here else 1, lines.line_count + 1)
    found = ((start + direction * step) % lines.line_count for step in steps)
    return next((line for line in found if match_spans(lines.search_query, lines.line_text(line))), None)
