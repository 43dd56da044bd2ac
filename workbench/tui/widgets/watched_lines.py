"""Lines of the watched sentences with their state now, after the compaction, and after a second one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct
from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.base.text import clip
from workbench.bench import RuleState
from workbench.tui.plain import fit, line_of, one_line

if TYPE_CHECKING:
    from workbench.analysis.rule_text import RuleVerdict
    from workbench.bench.fixes import RuleFixes

Cells = list[tuple[str, str]]

SIGNS: dict[RuleVerdict, str] = {"verbatim": "✔", "paraphrased": "≈", "contradicted": "✘", "gone": "○", "unknown": "?"}
STYLES: dict[RuleVerdict, str] = {
    "verbatim": "good",
    "paraphrased": "good",
    "contradicted": "bad",
    "gone": "bad",
    "unknown": "warning",
}
COLOURS = {"good": "green", "bad": "red", "warning": "yellow"}
"""Colours of these styles in a Rich text."""

MOST, FEW, TALL = 5, 2, 30
"""Maximum number of lines of sentences: `MOST` on a screen of at least `TALL` lines, else `FEW`. If there are more
sentences, the last of these lines says how many."""

ROOMY = 110
"""Columns from which each state's sign is preceded by its moment, one of `MOMENTS`."""

MOMENTS = ("now", "after", "after 2nd")

LEAST = 24
"""Fewest cells of a sentence on a line that also has the keys of the fixes."""


class Watching(Struct, frozen=True):
    """Sentences and their known states, in any order; `fresh`: the states are of the present bench; `moments` name the
    columns. `fixes` would keep a lost one."""

    watched: tuple[str, ...] = ()
    rule_states: Sequence[RuleState] = ()
    fresh: bool = True
    moments: tuple[str, ...] = MOMENTS
    fixes: RuleFixes | None = None

    def lines(self, most: int, width: int) -> int:
        """Number of lines: one for each sentence up to `most`, and one for the fixes if they do not fit on a sentence's
        line."""
        return min(len(self.watched), most) + (self.fixes is not None and not has_fixes_in_line(self, most, width))


class WatchedLines(Widget):
    """Widget with as many lines as `Watching.lines` says: none if no sentence is watched."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"watched--{name}" for name in ("good", "bad", "warning", "dim", "eye", "key")
    }

    @dataclass
    class WatchedClicked(Message):
        """The widget was clicked: the user wants to change the watched sentences."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.watching = Watching()
        self.most = MOST
        self.tooltip = " · ".join(f"{sign} {verdict}" for verdict, sign in SIGNS.items())

    def show(self, watching: Watching) -> None:
        self.watching = watching
        self._fit()
        self.refresh()

    def make_room(self, lines: int) -> None:
        """Set the height for a screen of `lines` lines."""
        self.most = MOST if lines >= TALL else FEW
        self._fit()

    def _fit(self) -> None:
        height = self.watching.lines(self.most, self.size.width or self.screen.size.width)
        if self.styles.height is None or self.styles.height.value != height:
            self.styles.height = height

    def render_line(self, y: int) -> Strip:
        width, base = self.size.width, self.visual_style.rich_style
        styled = (
            Segment(text, base + self.get_component_rich_style(f"watched--{name}", partial=True) if name else base)
            for text, name in line_cells(self.watching, y, self.most, width)
        )
        return line_of(styled, width, base)

    def on_click(self, event: events.Click) -> None:
        self.post_message(self.WatchedClicked())


def line_cells(watching: Watching, line: int, most: int, width: int) -> Cells:
    """Cells of a line: a sentence with its states and, if it is lost, the keys of the fixes; or the number of further
    sentences; or, on a line of their own, the fixes."""
    if line == min(len(watching.watched), most):
        return fixes_cells(watching, width)
    more = len(watching.watched) - most
    if more > 0 and line == most - 1:
        return [(f"   … {more + 1} more are watched", "dim")]
    sentence = watching.watched[line]
    state = next((one for one in watching.rule_states if one.sentence == sentence), None)
    inline = has_fixes_in_line(watching, most, width)
    states = _state_cells(state, watching, width >= ROOMY)
    room = _sentence_room(watching, width) if inline else max(8, width - 5 - _cells_of(states))
    keys = (
        [("  ", ""), *offer_cells(watching)]
        if inline and watching.fixes and watching.fixes.sentence == sentence
        else []
    )
    return [(" ◉ ", "eye"), (fit(one_line(sentence), room), ""), ("  ", ""), *states, *keys]


def has_fixes_in_line(watching: Watching, most: int, width: int) -> bool:
    """True if the keys of the fixes are on the line of the lost sentence: it is listed, and all remain readable."""
    listed = watching.watched if len(watching.watched) <= most else watching.watched[: most - 1]
    if watching.fixes is None or watching.fixes.sentence not in listed:
        return False
    longest = max(cell_len(one_line(sentence)) for sentence in listed)
    return _sentence_room(watching, width) >= min(LEAST, longest)


def _sentence_room(watching: Watching, width: int) -> int:
    """Cells of a sentence before signs and keys."""
    return width - 7 - _cells_of(_state_cells(None, watching, width >= ROOMY)) - _cells_of(offer_cells(watching))


def _cells_of(cells: Cells) -> int:
    return sum(cell_len(text) for text, _ in cells)


def offer_cells(watching: Watching) -> Cells:
    """`i pin +32  b “Target: share” 61 % +24.6k`"""
    fixes = watching.fixes
    if fixes is None:
        return []
    cells: Cells = []
    for key, fix in (("i", fixes.pin), ("b", fixes.setting)):
        if fix is not None:
            cells += [("  ", "")] if cells else []
            cells += [(key, "key"), (f" {'pin' if fix is fixes.pin else fix.words} {fix.change}", "")]
    return cells or [("no pin and no setting that was tried keeps it", "dim")]


def fixes_cells(watching: Watching, width: int) -> Cells:
    """`○ lost “Never log the …”: i pin +32  b “Target: share” 62 % +17.4k`"""
    if watching.fixes is None:
        return []
    offer = offer_cells(watching)
    room = width - _cells_of(offer) - len("   ○ lost “”: ")
    is_named = len(watching.watched) > 1 and room > LEAST // 2
    which = f" “{clip(one_line(watching.fixes.sentence), room)}”" if is_named else ""
    return [(f"   ○ lost{which}: ", "bad"), *offer]


def _state_cells(state: RuleState | None, watching: Watching, roomy: bool) -> Cells:
    """Cells of the states, the present one first; an unknown one keeps its room."""
    verdicts = (state.now, state.after, state.again) if state else (None, None, None)
    cells: Cells = []
    for number, (name, verdict) in enumerate(zip(watching.moments, verdicts, strict=False)):
        sign = SIGNS[verdict] if verdict else "…"
        style = "dim" if verdict is None or (number and not watching.fresh) else STYLES[verdict]
        if roomy:
            cells += [(f"{name} ", "dim"), (f"{sign}  ", style)]
        else:
            cells += [("▸ " if number else "", "dim"), (f"{sign} ", style)]
    return cells
