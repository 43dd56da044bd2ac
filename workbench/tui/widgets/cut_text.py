"""A text that has so many lines as there is room for it: where there are more, the last one ends with `…`."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip
from textual.widgets import Static


class CutText(Static):
    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        width, height = self.content_size
        if y + 1 < height or self.visual.get_height(self.styles.get_rules(), width) <= height:
            return strip
        said = strip.crop(0, min(cell_len(strip.text.rstrip()) + 1, width - 1))
        style = next((one.style for one in reversed(list(said)) if one.text.strip()), None)
        return Strip([*said, Segment("…", style)]).adjust_cell_length(width, self.visual_style.rich_style)
