"""One language for whatever has lines: the keys that go along a list, a table or a text, search it and copy from it.

A binding has the same id wherever it stands, so `config.toml` changes it everywhere at once.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from textual.binding import Binding, BindingType

from workbench.analysis.search import Query, marks

MOVING: list[BindingType] = [
    Binding("down,j", "cursor_down", "Down", show=False, id="list.down", tooltip="To the next line."),
    Binding("up,k", "cursor_up", "Up", show=False, id="list.up", tooltip="To the line before."),
    Binding("pagedown", "page_down", "Page down", show=False, id="list.page-down", tooltip="One page down."),
    Binding("pageup", "page_up", "Page up", show=False, id="list.page-up", tooltip="One page up."),
    Binding("home,g", "first", "First", show=False, id="list.first", tooltip="To the first line."),
    Binding("end,G", "last", "Last", show=False, id="list.last", tooltip="To the last line."),
]
"""Whoever has these has an action of each name."""

COPY = Binding("y", "app.copy_lines", "Copy", show=False, id="list.copy", tooltip="Copy the selection, or the line.")
SEARCHING: list[BindingType] = [
    # With priority: the next key is given to whatever has the focus only when the line for typing has it.
    Binding(
        "slash",
        "app.search_lines",
        "Find",
        show=False,
        priority=True,
        id="list.find",
        tooltip="Find words in these lines.",
    ),
    Binding("n", "app.next_line(1)", "Next hit", show=False, id="list.next", tooltip="To the next line found."),
    Binding("N", "app.next_line(-1)", "Hit before", show=False, id="list.before", tooltip="To the one found before."),
    COPY,
]
"""For those on whose screen nothing else searches and copies. They are `Lined`."""

TYPING: list[BindingType] = [
    Binding("down", "app.along('cursor_down')", "Down", show=False, id="typing.down", tooltip="To the next line."),
    Binding("up", "app.along('cursor_up')", "Up", show=False, id="typing.up", tooltip="To the line before."),
    Binding("pagedown", "app.along('page_down')", "Page down", show=False, id="typing.page-down", tooltip="A page on."),
    Binding("pageup", "app.along('page_up')", "Page up", show=False, id="typing.page-up", tooltip="One page up."),
]
"""For a screen with one list, below a line in which something is typed."""


@runtime_checkable
class Lined(Protocol):
    """Lines of text with a place among them."""

    sought: Query | None
    """What is looked for in them, and marked where they can."""

    @property
    def line_count(self) -> int: ...
    @property
    def place(self) -> int:
        """The line of the cursor; of a text, the first one seen."""

    def line_text(self, line: int) -> str: ...
    def to_line(self, line: int) -> None:
        """Put the cursor there, or as near as it may stand."""

    def seek(self, query: Query | None) -> None: ...
    def copied(self) -> str:
        """What is worth copying: the line of the cursor; a text as a whole."""


def found_in(lines: Lined, query: Query) -> list[int]:
    """The lines in which something is found, in order."""
    return [line for line in range(lines.line_count) if marks(query, lines.line_text(line))]


def hit(lines: Lined, start: int, way: int, *, here: bool = False) -> int | None:
    """The next line that holds what is sought, round the end; None where no line does. `here` allows `start` itself."""
    if lines.sought is None or not lines.line_count:
        return None
    steps = range(0 if here else 1, lines.line_count + 1)
    found = ((start + way * step) % lines.line_count for step in steps)
    return next((line for line in found if marks(lines.sought, lines.line_text(line))), None)
