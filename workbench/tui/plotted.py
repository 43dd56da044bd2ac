"""The plotting library's widget as the workbench uses it. Importing this imports numpy: only where a plot opens."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Grid
from textual.strip import Strip
from textual_hires_canvas import Canvas
from textual_plot import HiResMode, PlotWidget
from textual_plot.axis_formatter import NumericAxisFormatter
from textual_plot.plot_widget import Legend

from workbench.tui.plain import figure, short

CURVE = HiResMode.BRAILLE


class Plotted(PlotWidget):
    """Takes no keys and shows no legend of its own; `margin` are the columns left of the plot. Hidden at first."""

    def __init__(self, margin: int, *, id: str) -> None:
        super().__init__(id=id, allow_pan_and_zoom=False)
        self.can_focus = False
        for side, cells in (
            (PlotWidget.margin_top, 0),
            (PlotWidget.margin_bottom, 1),
            (PlotWidget.margin_left, margin),
        ):
            # Without its watchers: they look for what is not composed yet.
            self.set_reactive(side, cells)
        self.set_y_formatter(_Tokens())
        self.set_x_formatter(_Calls())

    def compose(self) -> ComposeResult:
        with Grid():
            for name in ("margin-top", "margin-left", "plot", "margin-bottom"):
                yield _Canvas(1, 1, id=name)
        yield Legend(id="legend")


class _Canvas(Canvas):
    def render_line(self, y: int) -> Strip:
        """As the library's, but a line that is not there yet has a style: without colours Textual asks for one."""
        if self._canvas_size is None or y >= self._canvas_size.height or not self._canvas_size.area:
            return Strip.blank(self.size.width, self.rich_style)
        return super().render_line(y)


class _Tokens(NumericAxisFormatter):
    def get_labels_for_ticks(self, ticks: Sequence[float]) -> list[str]:
        return [short(tick) for tick in ticks]


class _Calls(NumericAxisFormatter):
    """There is no half call, and none before the first."""

    def get_ticks(self, min_: float, max_: float, max_ticks: int = 8) -> list[float]:
        return [tick for tick in super().get_ticks(min_, max_, max_ticks) if tick == int(tick) and tick > 0]

    def get_labels_for_ticks(self, ticks: Sequence[float]) -> list[str]:
        return [figure(tick) for tick in ticks]
