"""Editor of a summary's draft: claims that are not in the replaced messages are underlined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.widgets import TextArea

from workbench.analysis.grounding import UnsupportedClaim

_VISIBLE = {code: 0x2400 + code for code in range(32) if code != 9} | dict.fromkeys(range(0x7F, 0xA0), 0xFFFD)
"""Visible signs of the same width for control characters, which a model may write and a terminal must not obey."""

TextRange = tuple[int, int]
"""Start and stop in the text."""


class DraftEditor(TextArea):
    """Text area with underlined spans. They move with the text until `underline` replaces them; an edited one is
    dropped."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"draft-editor--unfounded"}

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, soft_wrap=True, show_line_numbers=False, tab_behavior="focus")
        self._underlines: tuple[TextRange, ...] = ()
        self._by_line: dict[int, list[TextRange]] = {}
        self._before = ""

    @property
    def underlined(self) -> tuple[str, ...]:
        """Underlined texts."""
        text = self.text
        return tuple(text[start:stop] for start, stop in self._underlines)

    def show(self, text: str) -> None:
        """Load another draft without underlines. Does nothing if its text is already loaded."""
        if text != self.text:
            self._before = text
            self._mark(())
            self.load_text(text)

    def change(self, text: str) -> None:
        """Replace the text; undo (ctrl+z) restores the former one."""
        before = self.text
        start, stop = common(before, text)
        first, last = location(before, start), location(before, len(before) - stop)
        self.replace(text[start : len(text) - stop], first, last, maintain_selection_offset=False)

    def underline(self, found: Sequence[UnsupportedClaim]) -> None:
        self._mark(tuple((one.start, one.stop) for one in found))

    def go_to(self, place: int) -> None:
        """Put the cursor at an offset of the text, with some context visible."""
        self.move_cursor(location(self.text, place), center=True)

    @property
    def place(self) -> int:
        """Offset of the cursor in the text."""
        row, column = self.cursor_location
        return sum(len(line) + 1 for line in self.document.lines[:row]) + column

    def get_line(self, line_index: int) -> Text:
        line = Text(self.document.get_line(line_index).translate(_VISIBLE), end="", no_wrap=True)
        for start, stop in self._by_line.get(line_index, ()):
            line.stylize(self.get_component_rich_style("draft-editor--unfounded", partial=True), start, stop)
        return line

    def _on_text_area_changed(self) -> None:
        text = self.text
        start, stop = common(self._before, text)
        by = len(text) - len(self._before)
        after = len(self._before) - stop
        spans = ((s, e) if e <= start else (s + by, e + by) for s, e in self._underlines if e <= start or s >= after)
        self._before = text
        self._mark(tuple(spans))

    def _mark(self, ranges: tuple[TextRange, ...]) -> None:
        by_line: dict[int, list[TextRange]] = {}
        text = self._before
        for start, stop in ranges:
            line, column = location(text, start)
            for piece in text[start:stop].split("\n"):
                by_line.setdefault(line, []).append((column, column + len(piece)))
                line, column = line + 1, 0
        self._underlines = ranges
        if by_line != self._by_line:
            self._by_line = by_line
            self.notify_style_update()
            self.refresh()


def location(text: str, place: int) -> tuple[int, int]:
    """Row and column of an offset in the text."""
    return text.count("\n", 0, place), place - (text.rfind("\n", 0, place) + 1)


def common(before: str, after: str) -> tuple[int, int]:
    """Number of characters that two texts share at their beginning and, beyond those, at their end."""
    most = min(len(before), len(after))
    start = next((at for at in range(most) if before[at] != after[at]), most)
    rest = most - start
    stop = next((at for at in range(rest) if before[-1 - at] != after[-1 - at]), rest)
    return start, stop
