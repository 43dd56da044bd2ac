"""Texts cut with `…` if they have more lines than fit, or wrapped without breaking a figure."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from rich.text import Text
from textual.strip import Strip
from textual.visual import VisualType
from textual.widgets import Static

from workbench.tui.plain import wrap_words


class WholeFigures(Static):
    """Text wrapped between words and not within a figure; Textual also breaks at no-break spaces."""

    def __init__(self, text: Text | str = "", *, id: str | None = None, classes: str | None = None) -> None:
        self._text = Text(text) if isinstance(text, str) else text
        super().__init__(self._text, id=id, classes=classes)

    @property
    def content(self) -> VisualType:
        """Text before wrapping."""
        return self._text

    @content.setter
    def content(self, content: VisualType) -> None:
        self.update(content)

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        assert isinstance(content, Text | str)
        self._text = Text(content) if isinstance(content, str) else content
        self._break(layout=layout)

    def on_resize(self) -> None:
        self._break()

    def _break(self, *, layout: bool = True) -> None:
        wrapped = self._text.copy()
        wrapped.plain = wrap_words(wrapped.plain, self.content_size.width or len(wrapped.plain))
        super().update(wrapped, layout=layout)


class CutText(WholeFigures):
    """Text that ends with `…` if there is no room for more of its lines."""

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        width, height = self.content_size
        if y + 1 < height or self.visual.get_height(self.styles.get_rules(), width) <= height:
            return strip
        beginning = strip.crop(0, min(cell_len(strip.text.rstrip()) + 1, width - 1))
        style = next((one.style for one in reversed(list(beginning)) if one.text.strip()), None)
        return Strip([*beginning, Segment("…", style)]).adjust_cell_length(width, self.visual_style.rich_style)
