"""Textual's list of options, with the keys and the mouse of every list here."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.strip import Strip
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from workbench.analysis.search import Query
from workbench.tui.plain import fit
from workbench.tui.widgets.list_keys import MOVING, SEARCHING


class Options(OptionList):
    """A click marks an option; a double click, as enter, takes it."""

    # What cannot be chosen is a heading.
    BINDINGS: ClassVar[list[BindingType]] = [*MOVING, *SEARCHING]

    sought: Query | None = None

    def __init__(self, *options: Option, empty: str = "", **more: Any) -> None:
        """`empty` stands in a list without options, and says what to press."""
        super().__init__(*options, **more)
        self.empty = empty

    def render_line(self, y: int) -> Strip:
        if y or self.option_count or not self.empty:
            return super().render_line(y)
        width = self.scrollable_content_region.width
        return Strip([Segment(fit(self.empty, width), self.visual_style.rich_style + Style(dim=True))])

    @property
    def line_count(self) -> int:
        return self.option_count

    @property
    def place(self) -> int:
        return self.highlighted or 0

    def line_text(self, line: int) -> str:
        return str(self.get_option_at_index(line).prompt)

    def to_line(self, line: int) -> None:
        self.highlighted = line

    def seek(self, query: Query | None) -> None:
        self.sought = query

    def copied(self) -> str:
        return self.line_text(self.place) if self.option_count else ""

    async def _on_click(self, event: events.Click) -> None:
        event.prevent_default()
        line = event.style.meta.get("option")
        if line is not None and not self.get_option_at_index(line).disabled:
            self.highlighted = line
            if event.chain > 1:
                self.action_select()
