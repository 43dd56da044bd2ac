"""The files to choose from, a line each; thousands cost no more than ten."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from workbench.tui.entries import KINDS, Entry, entry_cells
from workbench.tui.widgets.line_view import LineView


class EntriesList(LineView, can_focus=False):
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"entries--{name}" for name in (*KINDS, "full", "dim", "cursor")}
    DEFAULT_CSS = """
    EntriesList {
        .entries--dim { text-style: dim; }
        .entries--full { color: $text-error; text-style: bold; }
        .entries--given { color: $text-warning; }
        .entries--recent { color: $text-accent; }
        .entries--sample { color: $text-success; }
        .entries--found { color: $text-primary; }
        .entries--cursor { background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold; }
    }
    """

    @dataclass
    class Moved(Message):
        """Another entry is under the cursor, or none."""

        entry: Entry | None

    @dataclass
    class Chosen(Message):
        entry: Entry

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.entries: Sequence[Entry] = ()
        self.line = 0
        self.now = time.time()

    @property
    def entry(self) -> Entry | None:
        return self.entries[self.line] if self.line < len(self.entries) else None

    def show(self, entries: Sequence[Entry]) -> None:
        """List these. The cursor stays on its file where that is still among them, and its line on the screen."""
        before, row = self.entry, self.line - self.scroll_offset.y
        self.entries = entries
        at = next((i for i, one in enumerate(entries) if one is before), None)
        line, self.line = self.line, at or 0
        self.set_lines(len(entries))
        if at and line and at != line:
            self.scroll_to(y=self.line - row, animate=False, force=True)
        else:
            self._see()
        if self.entry != before:
            self.post_message(self.Moved(self.entry))

    def move(self, by: int) -> None:
        if self.entries:
            line = max(0, min(self.line + by, len(self.entries) - 1))
            if line != self.line:
                self.line = line
                self._see()
                self.refresh()
                self.post_message(self.Moved(self.entry))

    def _see(self) -> None:
        height = self.scrollable_content_region.height
        top = self.scroll_offset.y
        if height and not top <= self.line < top + height:
            self.scroll_to(y=self.line if self.line < top else self.line - height + 1, animate=False, force=True)

    def on_resize(self) -> None:
        self.set_lines(len(self.entries))
        self._see()

    def on_click(self, event: events.Click) -> None:
        line = event.y + self.scroll_offset.y - self.gutter.top
        if line < len(self.entries):
            self.move(line - self.line)
            if event.chain > 1:
                self.post_message(self.Chosen(self.entries[line]))

    def line_state(self, line: int) -> bool:
        return line == self.line

    def draw_line(self, line: int, width: int) -> Strip:
        segments = [
            Segment(text, self._style(name, under_cursor=line == self.line))
            for text, name in entry_cells(self.entries[line], width, self.now)
        ]
        return Strip(segments).adjust_cell_length(width, self.rich_style)

    def _style(self, name: str, *, under_cursor: bool) -> Style:
        if under_cursor:
            return self.get_component_rich_style("entries--cursor")
        return self.rich_style if name == "words" else self.get_component_rich_style(f"entries--{name}")


def moving_keys(screen: str) -> list[BindingType]:
    """The keys that move the cursor while something is typed, for a screen that has `action_move`."""
    return [
        Binding("down", "move(1)", "Down", show=False, id=f"{screen}.down", tooltip="To the next line."),
        Binding("up", "move(-1)", "Up", show=False, id=f"{screen}.up", tooltip="To the line before."),
        Binding("pagedown", "move(15)", "Page down", show=False, id=f"{screen}.page-down", tooltip="15 lines down."),
        Binding("pageup", "move(-15)", "Page up", show=False, id=f"{screen}.page-up", tooltip="15 lines up."),
    ]
