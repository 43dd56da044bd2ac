"""Texts in the lines there are for them: cut with `…` where there are more, or broken so that no figure is parted."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from rich.text import Text
from textual.strip import Strip
from textual.visual import VisualType
from textual.widgets import Static

from workbench.tui.plain import wrap_words


class WholeFigures(Static):
    """A text whose lines end between words and not within a figure; Textual breaks lines at no-break spaces, too."""

    def __init__(self, text: Text | str = "", *, id: str | None = None, classes: str | None = None) -> None:
        self._said = Text(text) if isinstance(text, str) else text
        super().__init__(self._said, id=id, classes=classes)

    @property
    def content(self) -> VisualType:
        """The text as it was given."""
        return self._said

    @content.setter
    def content(self, content: VisualType) -> None:
        self.update(content)

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        assert isinstance(content, Text | str)
        self._said = Text(content) if isinstance(content, str) else content
        self._break(layout=layout)

    def on_resize(self) -> None:
        self._break()

    def _break(self, *, layout: bool = True) -> None:
        said = self._said.copy()
        said.plain = wrap_words(said.plain, self.content_size.width or len(said.plain))
        super().update(said, layout=layout)


class CutText(WholeFigures):
    """A text that ends with `…` where there is no room for more of its lines."""

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        width, height = self.content_size
        if y + 1 < height or self.visual.get_height(self.styles.get_rules(), width) <= height:
            return strip
        said = strip.crop(0, min(cell_len(strip.text.rstrip()) + 1, width - 1))
        style = next((one.style for one in reversed(list(said)) if one.text.strip()), None)
        return Strip([*said, Segment("…", style)]).adjust_cell_length(width, self.visual_style.rich_style)
