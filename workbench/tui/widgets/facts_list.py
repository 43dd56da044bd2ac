"""List of the facts that a compaction lost, a line each, drawn on demand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip

from workbench.analysis.retention import FactState, TrackedFact
from workbench.tui.keys import shared
from workbench.tui.plain import figure, fit, line_of, one_line
from workbench.tui.widgets.line_list import LineList
from workbench.tui.widgets.list_keys import SEARCHING

HEADS = f"{'message':>7} {'pin tokens':>10}  {'kind':<11} {'kept':<7} {'used':<4} fact"
"""Headings of the list."""

SIGNS: dict[FactState, str] = {
    "none": "○ lost",
    "part": "◐ part",
    "full": "● full",
    "unknown": "? open",
    "wrong": "✘ wrong",
    "stale": "✘ stale",
}


def fate_of(fact: TrackedFact) -> tuple[str, str]:
    """State of the fact with its sign, and the name of its style: none, part, dim or ""."""
    return SIGNS[fact.state], {"full": "", "unknown": "dim", "part": "part"}.get(fact.state, "none")


class FactsList(LineList):
    COMPONENT_CLASSES: ClassVar[set[str]] = {"facts--none", "facts--part", "facts--dim", "facts--cursor"}
    BINDINGS: ClassVar[list[BindingType]] = [
        *SEARCHING,
        shared("open", "choose", "Go there", "Close, and go to the message that says it."),
    ]
    EMPTY = "Nothing of this was lost. ← and → choose another kind, t shows the agent's own compaction."

    @dataclass
    class Highlighted(Message):
        """Another fact is under the cursor, or none."""

        fact: TrackedFact | None

    @dataclass
    class Selected(Message):
        fact: TrackedFact

    def __init__(self, *, classes: str | None = None) -> None:
        super().__init__()
        self.set_classes(classes or "")
        self.facts: Sequence[TrackedFact] = ()

    @property
    def fact(self) -> TrackedFact | None:
        return self.facts[self.line] if self.line < len(self.facts) else None

    def show(self, facts: Sequence[TrackedFact]) -> None:
        """List these facts; the cursor keeps its line."""
        self.facts = facts
        self.line = max(0, min(self.line, len(facts) - 1))
        self.set_lines(len(facts))
        self.into_view()
        self.moved()

    def moved(self) -> None:
        self.post_message(self.Highlighted(self.fact))

    def opened(self) -> None:
        if self.fact is not None:
            self.post_message(self.Selected(self.fact))

    def action_choose(self) -> None:
        self.opened()

    def draw_line(self, line: int, width: int) -> Strip:
        fact, base = self.facts[line], self.visual_style.rich_style
        if line == self.line and self.has_focus:
            styles = dict.fromkeys(("none", "part", "dim", ""), self.get_component_rich_style("facts--cursor"))
        else:
            named = ("none", "part", "dim")
            styles = {name: self.get_component_rich_style(f"facts--{name}") for name in named} | {"": base}
        mark = "›" if line == self.line else " "
        cost = f"+{figure(fact.pin_tokens)}" if fact.pin_tokens else ""
        sign, style = fate_of(fact)
        cells: list[tuple[str, str]] = [
            (f"{mark}{figure(fact.index + 1):>6} {cost:>10}  {fact.kind:<11} ", ""),
            (f"{sign:<7} ", style),
            (f"{'↻' if fact.used else '':<4} ", ""),
        ]
        left = width - sum(len(text) for text, _ in cells)
        why = one_line(fact.why, 40)
        words = fit(one_line(fact.text), max(left - cell_len(why) - 3, 12) if why else left).rstrip()
        cells += [(words, ""), (f"  {fit(why, left - cell_len(words) - 2)}" if why else "", "dim")]
        segments = [Segment(text, styles[name]) for text, name in cells]
        return line_of(segments, width, styles[""])
