"""Widget of the context's two bars, drawn by `bars`; their marks can be dragged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from workbench.tui.bars import (
    LABEL,
    Cells,
    ContextBars,
    Grip,
    after_cells,
    grips,
    inner_cells,
    legend_cells,
    now_cells,
    tooltip_at,
)
from workbench.tui.plain import line_of

FILL_S = 0.3
"""Time in which the second bar fills."""

REACH = 1
"""Cells next to a mark in which it can still be grabbed."""


class BudgetBar(Widget):
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"budget--{name}"
        for name in ("prompt", "summaries", "head", "pins", "tail", "free", "dim", "tick", "over", "bold")
    }

    @dataclass
    class Dragged(Message):
        """A trigger's mark, or the end of the head, was dragged to `tokens`."""

        grip: Grip
        tokens: int

    filled = reactive(1.0)
    """Share of the second bar that is drawn, 0 to 1: it fills when a run is done."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.budget: ContextBars | None = None
        self.about = ""
        """Tooltip away from the bars."""
        self._grip: Grip | None = None

    # --- the mouse ---------------------------------------------------------------------------------------------------

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if self.budget is None or event.y > 1:
            return
        inner = inner_cells(self.size.width)
        cell = event.x - LABEL
        near = [one for one in grips(self.budget, inner) if abs(one.cell - cell) <= REACH]
        if near:
            self._grip = min(near, key=lambda one: (abs(one.cell - cell), one.number is None))
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        at_pointer = self.budget and tooltip_at(self.budget, self.size.width, event.x, event.y)
        if (words := Text(at_pointer or self.about)) != self.tooltip:
            self.tooltip = words
        if self._grip is not None and self.budget is not None:
            inner = inner_cells(self.size.width)
            cell = max(0, min(event.x - LABEL, inner - 1))
            if cell != self._grip.cell:
                self._grip = replace(self._grip, cell=cell)
                self.post_message(self.Dragged(self._grip, round((cell + 0.5) * self.budget.scale / inner)))

    def on_mouse_up(self) -> None:
        if self._grip is not None:
            self._grip = None
            self.release_mouse()

    # --- drawing ----------------------------------------------------------------------------------------------------

    def show(self, budget: ContextBars) -> None:
        ran = budget.done and self.budget is not None and not self.budget.done
        self.budget = budget
        if ran:
            self.set_reactive(BudgetBar.filled, 0.0)
            self.animate("filled", 1.0, duration=FILL_S)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width, base, budget = self.size.width, self.visual_style.rich_style, self.budget
        if budget is None or y >= self.size.height:
            return Strip.blank(width, base)
        styled = (
            Segment(text, sum((self._style(one) for one in name.split()), base))
            for text, name in self._cells(budget, y, width)
        )
        return line_of(styled, width, base)

    def _cells(self, budget: ContextBars, y: int, width: int) -> Cells:
        match y:
            case 0:
                return now_cells(budget, width)
            case 1:
                return after_cells(budget, width, self.filled)
            case _:
                return legend_cells(budget, width)

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"budget--{name}", partial=True)
