"""How the context grew over the session, call by call, on one line; recorded compactions and the epoch on screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.tui.growth import Growth, epoch_at, growth_cells
from workbench.tui.plain import line_of


class GrowthLine(Widget):
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"growth--{name}" for name in ("here", "other", "mark", "mark-here", "dim")
    }

    @dataclass
    class Chosen(Message):
        """The stretch of an epoch was clicked."""

        epoch: int

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.growth = Growth()
        self.epoch = 0

    def show(self, growth: Growth) -> None:
        self.growth = growth
        self.tooltip = Text(growth.words) if growth.points else None
        self.refresh()

    def stand_at(self, epoch: int) -> None:
        """Highlight the stretch of an epoch."""
        if epoch != self.epoch:
            self.epoch = epoch
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width, base = self.size.width, self.visual_style.rich_style
        if y or not self.growth.points:
            return Strip.blank(width, base)
        styled = [
            Segment(text, base + self.get_component_rich_style(f"growth--{name}", partial=True))
            for text, name in growth_cells(self.growth, width, self.epoch)
        ]
        return line_of(styled, width, base)

    def on_click(self, event: events.Click) -> None:
        if epoch := epoch_at(self.growth, self.size.width, event.x):
            self.post_message(self.Chosen(epoch))
