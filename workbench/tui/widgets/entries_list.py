"""The files to choose from, a line each; thousands cost no more than ten."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.message import Message
from textual.strip import Strip

from workbench.tui.entries import KINDS, Entry, entry_cells
from workbench.tui.plain import line_of
from workbench.tui.widgets.line_list import LineList


class EntriesList(LineList, can_focus=False):
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"entries--{name}" for name in (*KINDS, "full", "dim", "cursor")}

    @dataclass
    class Moved(Message):
        """Another entry is under the cursor, or none."""

        entry: Entry | None

    @dataclass
    class Chosen(Message):
        entry: Entry

    EMPTY = "Nothing fits. esc clears the search; a path typed from its root is opened as it is."

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.entries: Sequence[Entry] = ()
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
            self.into_view()
        if self.entry != before:
            self.moved()

    def moved(self) -> None:
        self.post_message(self.Moved(self.entry))

    def opened(self) -> None:
        if self.entry is not None:
            self.post_message(self.Chosen(self.entry))

    def draw_line(self, line: int, width: int) -> Strip:
        segments = [
            Segment(text, self._style(name, under_cursor=line == self.line))
            for text, name in entry_cells(self.entries[line], width, self.now)
        ]
        return line_of(segments, width, self.visual_style.rich_style)

    def _style(self, name: str, *, under_cursor: bool) -> Style:
        if under_cursor:
            return self.get_component_rich_style("entries--cursor")
        return self.visual_style.rich_style if name == "words" else self.get_component_rich_style(f"entries--{name}")
