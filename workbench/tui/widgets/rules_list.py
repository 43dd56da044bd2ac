"""List of rules, one line each: signs for watched and pinned, states, message number, cost of a pin, sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip

from workbench.bench import RuleState
from workbench.tui.keys import shared
from workbench.tui.plain import figure, fit, line_of, one_line
from workbench.tui.rules import RuleEntry
from workbench.tui.widgets.line_list import LineList
from workbench.tui.widgets.list_keys import COPY
from workbench.tui.widgets.watched_lines import SIGNS, STYLES

Cells = list[tuple[str, str]]

HEADS = f"{'':4}{'now':<5}{'after':<6}{'2nd':<4}{'message':>7}{'pin tokens':>11}  rule"
"""Headings of the list. `now`, `after`, `2nd`: state in the context, after the compaction, after a second one."""

LEAST = 24
"""Least width of a sentence in cells. The kind is left out if it would leave less."""


@dataclass(frozen=True, slots=True)
class ListedRules:
    """Rules of the list. `watched`: sentences that the user watches. `pinned`: indexes of pinned messages."""

    rules: Sequence[RuleEntry] = ()
    watched: frozenset[str] = frozenset()
    pinned: frozenset[int] = frozenset()
    states: Mapping[str, RuleState | None] | None = None
    """State by sentence, None while it is computed. A rule without an entry shows no state."""


def rule_cells(rule: RuleEntry, shown: ListedRules, width: int) -> Cells:
    """Return the texts of a rule's line, each with the name of its style. The line has at most `width` cells, but at
    least 8 for the sentence."""
    state = (shown.states or {}).get(rule.sentence)
    is_open = rule.sentence in (shown.states or {}) and state is None
    cells: Cells = [(" ◉" if rule.sentence in shown.watched else "  ", "eye")]
    cells += [("● " if rule.index in shown.pinned else "  ", "bad")]
    verdicts = (state.now, state.after, state.again) if state else (None, None, None)
    for verdict, room in zip(verdicts, (5, 6, 4), strict=True):
        sign = SIGNS[verdict] if verdict else "…" if is_open else ""
        cells.append((f" {sign}".ljust(room), STYLES[verdict] if verdict else "dim"))
    number = "" if rule.index is None else figure(rule.index + 1)
    cost = "" if rule.index is None or rule.index in shown.pinned else f"+{figure(rule.tokens)}"
    cells.append((f"{number:>7}{cost:>11}  ", ""))
    room = width - sum(cell_len(text) for text, _ in cells)
    kind = f"  {rule.kind}" if rule.kind and not rule.replaced_by else "  replaced" if rule.replaced_by else ""
    kind = kind if room - cell_len(kind) >= LEAST else ""
    words = fit(one_line(rule.sentence), max(room - cell_len(kind), 8)).rstrip()
    return [*cells, (words, "dim" if rule.replaced_by else ""), (kind, "dim")]


class RulesList(LineList):
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"rules--{name}" for name in ("good", "bad", "warning", "dim", "eye", "cursor")
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        COPY,
        shared("open", "choose", "Go there", "Close, and go to the message of the rule."),
    ]
    EMPTY = "No rule was found. / writes one."

    @dataclass
    class Highlighted(Message):
        """The cursor moved to `rule`; None in an empty list."""

        rule: RuleEntry | None

    @dataclass
    class Selected(Message):
        rule: RuleEntry

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.shown = ListedRules()

    @property
    def rule(self) -> RuleEntry | None:
        return self.shown.rules[self.line] if self.line < len(self.shown.rules) else None

    def show(self, shown: ListedRules, marked: str = "") -> None:
        """Replace the rules. The cursor goes to the sentence `marked`, or keeps its line number if there is none."""
        self.shown = shown
        at = next((at for at, rule in enumerate(shown.rules) if rule.sentence == marked), self.line)
        self.line = max(0, min(at, len(shown.rules) - 1))
        self.set_lines(len(shown.rules))
        self.into_view()
        self.moved()

    def moved(self) -> None:
        self.post_message(self.Highlighted(self.rule))

    def opened(self) -> None:
        if self.rule is not None:
            self.post_message(self.Selected(self.rule))

    def action_choose(self) -> None:
        self.opened()

    def copied(self) -> str:
        return self.rule.sentence if self.rule else ""

    def draw_line(self, line: int, width: int) -> Strip:
        rule, base = self.shown.rules[line], self.visual_style.rich_style
        if line == self.line:
            base = self.get_component_rich_style("rules--cursor")
        styled = (
            Segment(text, base + self.get_component_rich_style(f"rules--{name}", partial=True) if name else base)
            for text, name in rule_cells(rule, self.shown, width)
        )
        return line_of(styled, width, base)
