"""The facts that a compaction lost, a line each; thousands cost no more than ten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from workbench.analysis.retention import HeldFact
from workbench.tui.plain import figure, fit, one_line
from workbench.tui.widgets.line_view import LineView

HEADS = f"{'message':>7} {'pin it':>8}  {'kind':<11} {'held':<7} {'used':<4} fact"
"""What stands above the list."""

SIGNS = {
    "none": "○ lost",
    "part": "◐ part",
    "full": "● full",
    "unknown": "? open",
    "wrong": "✘ wrong",
    "stale": "✘ stale",
}


class FactsList(LineView, can_focus=True):
    COMPONENT_CLASSES: ClassVar[set[str]] = {"facts--none", "facts--part", "facts--dim", "facts--cursor"}
    DEFAULT_CSS = """
    FactsList {
        .facts--none { color: $text-error; }
        .facts--part { color: $text-warning; }
        .facts--dim { text-style: dim; }
        .facts--cursor { background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Down", show=False, id="facts.down", tooltip="To the next fact."),
        Binding("up,k", "move(-1)", "Up", show=False, id="facts.up", tooltip="To the fact before."),
        Binding("pagedown", "page(1)", "Page down", show=False, id="facts.page-down", tooltip="One page down."),
        Binding("pageup", "page(-1)", "Page up", show=False, id="facts.page-up", tooltip="One page up."),
        Binding("home", "end(-1)", "First", show=False, id="facts.first", tooltip="To the gravest."),
        Binding("end,G", "end(1)", "Last", show=False, id="facts.last", tooltip="To the last one."),
        Binding("enter", "choose", "Go there", id="facts.go", tooltip="Close, and go to the message that says it."),
    ]

    @dataclass
    class Moved(Message):
        """Another fact is under the cursor, or none."""

        fact: HeldFact | None

    @dataclass
    class Chosen(Message):
        fact: HeldFact

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.facts: Sequence[HeldFact] = ()
        self.line = 0

    @property
    def fact(self) -> HeldFact | None:
        return self.facts[self.line] if self.line < len(self.facts) else None

    def show(self, facts: Sequence[HeldFact]) -> None:
        """List these; the cursor keeps its line."""
        self.facts = facts
        self.line = max(0, min(self.line, len(facts) - 1))
        self.set_lines(len(facts))
        self._see()
        self.post_message(self.Moved(self.fact))

    def action_move(self, by: int) -> None:
        line = max(0, min(self.line + by, len(self.facts) - 1))
        if line != self.line:
            old, self.line = self.line, line
            self._refresh_line(old)
            self._refresh_line(line)
            self._see()
            self.post_message(self.Moved(self.fact))

    def action_page(self, way: int) -> None:
        self.action_move(way * max(1, self.scrollable_content_region.height - 1))

    def action_end(self, way: int) -> None:
        self.action_move(way * len(self.facts))

    def action_choose(self) -> None:
        if self.fact is not None:
            self.post_message(self.Chosen(self.fact))

    def _see(self) -> None:
        height, top = self.scrollable_content_region.height, self.scroll_offset.y
        if height and not top <= self.line < top + height:
            self.scroll_to(y=self.line if self.line < top else self.line - height + 1, animate=False, force=True)

    def _refresh_line(self, line: int) -> None:
        self.refresh(Region(self.gutter.left, line - self.scroll_offset.y + self.gutter.top, self.size.width, 1))

    def on_focus(self) -> None:
        self._refresh_line(self.line)

    def on_blur(self) -> None:
        self._refresh_line(self.line)

    def on_resize(self) -> None:
        self.set_lines(len(self.facts))
        self._see()

    def on_click(self, event: events.Click) -> None:
        line = event.y + self.scroll_offset.y - self.gutter.top
        if 0 <= line < len(self.facts):
            self.action_move(line - self.line)
            if event.chain > 1:
                self.action_choose()

    def line_state(self, line: int) -> tuple[bool, bool]:
        return line == self.line, self.has_focus

    def draw_line(self, line: int, width: int) -> Strip:
        fact, base = self.facts[line], self.rich_style
        if line == self.line and self.has_focus:
            styles = dict.fromkeys(("none", "part", "dim", ""), self.get_component_rich_style("facts--cursor"))
        else:
            named = ("none", "part", "dim")
            styles = {name: self.get_component_rich_style(f"facts--{name}") for name in named} | {"": base}
        mark = "›" if line == self.line else " "
        cost = f"+{figure(fact.pin_tokens)}" if fact.pin_tokens else ""
        wrong = fact.held in ("full", "part") and not fact.right
        told = "stale" if fact.stale else "wrong" if wrong else fact.held
        cells: list[tuple[str, str]] = [
            (f"{mark}{figure(fact.index + 1):>6} {cost:>8}  {fact.kind:<11} ", ""),
            (f"{SIGNS[told]:<7} ", {"full": "", "unknown": "dim", "part": "part"}.get(told, "none")),
            (f"{'↻' if fact.used else '':<4} ", ""),
        ]
        left = width - sum(len(text) for text, _ in cells)
        why = one_line(fact.why, 40)
        words = fit(one_line(fact.text), max(left - len(why) - 3, 12)).rstrip() if why else one_line(fact.text)
        cells += [(words, ""), (f"  {why}" if why else "", "dim")]
        segments = [Segment(text, styles[name]) for text, name in cells]
        return Strip(segments).adjust_cell_length(width, styles[""])
