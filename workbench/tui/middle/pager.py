"""Pager of the middle pane: a text view with coloured code, whose folds open and close by key and mouse."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from workbench.tui.keys import shared
from workbench.tui.middle import code
from workbench.tui.middle.code import CodeHighlighter, Run
from workbench.tui.middle.parts import Piece
from workbench.tui.widgets.text_view import TextPart, TextView, Wrapped


class Pager(TextView):
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"pager--{name}" for name in (*code.STYLES, "chosen")}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "full_stop", "next_fold(1)", "Next fold", show=False, id="fold.next", tooltip="To the next fold (▸ ▾)."
        ),
        Binding("comma", "next_fold(-1)", "Fold before", show=False, id="fold.before", tooltip="To the fold before."),
        shared("copy", "screen.act('copy-text')", "Copy", "Copy it with all folds.", show=False),
        shared("open", "turn", "Fold", "Open or close the fold; a click does the same."),
        shared("more", "every(True)", "Open all", "Open every fold.", show=False),
        shared("less", "every(False)", "Close all", "Close every fold.", show=False),
    ]

    @dataclass
    class Rewrap(Message):
        """The width changed: make and wrap the parts again, because some depend on it."""

    @dataclass
    class FoldToggled(Message):
        """Open or close a fold."""

        fold: str

    @dataclass
    class AllFoldsToggled(Message):
        """Open or close all folds."""

        is_open: bool

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._firsts: list[int] = [0]
        self._folds: dict[int, str] = {}
        self._chosen_fold = ""
        self._coloured: dict[int, CodeHighlighter] = {}

    def put(self, parts: tuple[TextPart, ...], wrapped: Wrapped, key: object = None) -> None:
        # `wrap` makes one line of every line of a part, so the first lines follow from the parts.
        self._firsts = list(accumulate((part.text.count("\n") + 1 for part in parts), initial=0))
        numbered, folded = zip(self._firsts, parts, strict=False), bool(self._folds)
        self._folds = {line: part.fold for line, part in numbered if isinstance(part, Piece) and part.fold}
        self._coloured = {}
        if self._chosen_fold not in self._folds.values():
            self._chosen_fold = ""
        super().put(parts, wrapped, key)
        if bool(self._folds) is not folded:
            self.refresh_bindings()  # this draws the footer again

    def wrap_again(self) -> None:
        if self._parts:
            self.post_message(self.Rewrap())

    # --- folds ------------------------------------------------------------------------------------------------------

    def action_next_fold(self, direction: int) -> None:
        """Go to the next fold after the chosen one, or after the top of the view."""
        if not self._folds:
            return
        lines, wrapped, top = list(self._folds), self._wrapped, self.scroll_offset.y
        here = next((line for line, fold in self._folds.items() if fold == self._chosen_fold), None)
        if here is None:
            here = wrapped.line[min(top, len(wrapped) - 1)] - (direction > 0)
        at = bisect_right(lines, here) if direction > 0 else bisect_left(lines, here) - 1
        line = lines[max(0, min(at, len(lines) - 1))]
        self._chosen_fold = self._folds[line]
        row = bisect_left(wrapped.line, line)
        if not top <= row < top + self.size.height:
            self.scroll_to(y=max(0, row - self.size.height // 3), animate=False, force=True)
        self.refresh()

    def action_turn(self) -> None:
        """Open or close the chosen fold; without one, choose the first in view."""
        if self._chosen_fold:
            self.post_message(self.FoldToggled(self._chosen_fold))
        else:
            self.action_next_fold(1)

    def action_every(self, is_open: bool) -> None:
        self.post_message(self.AllFoldsToggled(is_open))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the keys of folds if nothing folds."""
        return bool(self._folds) if action in ("next_fold", "turn", "every") else True

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        row = self.scroll_offset.y + offset.y if offset is not None else len(self._wrapped)
        if row < len(self._wrapped) and (fold := self._folds.get(self._wrapped.line[row])):
            self._chosen_fold = fold
            self.post_message(self.FoldToggled(fold))

    # --- drawing ----------------------------------------------------------------------------------------------------

    def line_state(self, line: int) -> Hashable:
        return (
            self.has_focus
            and bool(self._chosen_fold)
            and self._folds.get(self._wrapped.line[line]) == self._chosen_fold
        )

    def draw_line(self, line: int, width: int) -> Strip:
        wrapped = self._wrapped
        row, line = line, wrapped.line[line]
        number = bisect_right(self._firsts, line) - 1
        part = self._parts[number]
        if not isinstance(part, Piece):
            return super().draw_line(row, width)
        base, text = self.visual_style.rich_style, wrapped.lines[line]
        style = base + self._style(f"text-view--{part.style}") if part.style else base
        runs: Iterable[Run] = ()
        if self.line_state(row):
            style += self._style("pager--chosen")
        elif part.then:
            return super().draw_line(row, width)
        elif part.language:
            runs = self._runs(number, part.language, line)
        segments = []
        at, stop = wrapped.start[row], wrapped.stop[row]
        for start, end, name in runs:
            start, end = max(start, at), min(end, stop)
            if start < end:
                segments += [Segment(text[at:start], style), Segment(text[start:end], style + self._style(name))]
                at = end
        segments.append(Segment(text[at:stop], style))
        return Strip(segments).adjust_cell_length(width, base)

    def _runs(self, number: int, language: str, line: int) -> Iterable[Run]:
        """Coloured runs of a line of part `number`."""
        first = self._firsts[number]
        if number not in self._coloured:
            self._coloured[number] = CodeHighlighter(self._wrapped.lines[first : self._firsts[number + 1]], language)
        return ((start, stop, f"pager--{name}") for start, stop, name in self._coloured[number].runs(line - first))

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(name, partial=True)
