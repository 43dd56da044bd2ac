"""The two sentences at the top of the bench, as a widget."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.tui.headline import Headline, headline_cells, height_of
from workbench.tui.plain import line_of


class HeadlineView(Widget):
    """Both sentences. Its height follows the verdict and the screen's size; a change lays out everything below."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"headline--{name}" for name in ("bold", "dim", "key")}

    class Clicked(Message):
        """Show the reasons."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.headline = Headline()
        self._lines = 24

    def show(self, headline: Headline) -> None:
        self.headline = headline
        self.tooltip = Text(f"{headline.verdict}\n{headline.plans[0] if headline.plans else ''}".strip())
        self.make_room(self._lines)
        self.refresh()

    def make_room(self, lines: int) -> None:
        """Set the height for a screen of `lines` lines."""
        self._lines = lines
        height = height_of(self.headline, self.size.width or self.screen.size.width, lines)
        if self.styles.height is None or self.styles.height.value != height:
            self.styles.height = height

    @property
    def told(self) -> str:
        """Both sentences as they are drawn."""
        return "\n".join(self.render_line(y).text.rstrip() for y in range(self.size.height))

    def render_line(self, y: int) -> Strip:
        (width, height), base = self.size, self.visual_style.rich_style
        lines = headline_cells(self.headline, width, height)
        if y >= len(lines):
            return Strip.blank(width, base)
        styled = (
            Segment(text, base + self.get_component_rich_style(f"headline--{name}", partial=True) if name else base)
            for text, name in lines[y]
        )
        return line_of(styled, width, base)

    def on_click(self, event: events.Click) -> None:
        self.post_message(self.Clicked())
