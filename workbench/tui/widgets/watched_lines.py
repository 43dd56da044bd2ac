"""The watched sentences, a line each, with how they stand now, after the compaction, and after a second one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.base.text import clip
from workbench.bench import Stand
from workbench.tui.plain import fit, line_of, one_line

if TYPE_CHECKING:
    from workbench.analysis.watched import Verdict
    from workbench.mending import Ways

Cells = list[tuple[str, str]]

SIGNS: dict[Verdict, str] = {"verbatim": "✔", "paraphrased": "≈", "contradicted": "✘", "gone": "○", "unknown": "?"}
STYLES: dict[Verdict, str] = {
    "verbatim": "good",
    "paraphrased": "good",
    "contradicted": "bad",
    "gone": "bad",
    "unknown": "warning",
}
MOST, FEW, TALL = 5, 2, 30
"""So many have a line of their own on a screen of `TALL` lines or of fewer; of more the last line says how many."""

ROOMY = 110
"""Columns from which a verdict is a word beside its sign."""

MOMENTS = ("now", "after", "after 2nd")

_WORD = max(map(len, STYLES))


@dataclass(frozen=True, slots=True)
class Watching:
    """What is shown. `stands` are those known, in any order; `fresh`: they are of what is on the bench now; `moments`:
    when they are told to stand so. `ways` are what keeps one that is lost."""

    watched: tuple[str, ...] = ()
    stands: Sequence[Stand] = ()
    fresh: bool = True
    moments: tuple[str, ...] = MOMENTS
    ways: Ways | None = None

    def lines(self, most: int) -> int:
        """One for each sentence, `most` at most, and one for what keeps what is lost."""
        return min(len(self.watched), most) + (self.ways is not None)


class WatchedLines(Widget):
    """As high as there are sentences to show; nothing where none is watched."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"watched--{name}" for name in ("good", "bad", "warning", "dim", "eye")}

    @dataclass
    class Clicked(Message):
        """They are to be changed."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.watching = Watching()
        self.most = MOST

    def show(self, watching: Watching) -> None:
        self.watching = watching
        self._fit()
        self.refresh()

    def make_room(self, lines: int) -> None:
        """The screen has so many lines."""
        self.most = MOST if lines >= TALL else FEW
        self._fit()

    def _fit(self) -> None:
        height = self.watching.lines(self.most)
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
        self.post_message(self.Clicked())


def line_cells(watching: Watching, line: int, most: int, width: int) -> Cells:
    """A sentence, and at the right how it stands; below them what keeps one that is lost."""
    if line == min(len(watching.watched), most):
        return ways_cells(watching, width)
    more = len(watching.watched) - most
    if more > 0 and line == most - 1:
        return [(f"   … {more + 1} more are watched", "dim")]
    sentence = watching.watched[line]
    stand = next((one for one in watching.stands if one.sentence == sentence), None)
    told = _told(stand, watching, width >= ROOMY)
    room = max(8, width - 5 - sum(cell_len(text) for text, _ in told))
    return [(" ◉ ", "eye"), (fit(one_line(sentence), room), ""), ("  ", ""), *told]


def ways_cells(watching: Watching, width: int) -> Cells:
    """`lost: i pins message 183, +32 · b sets “Share left at most” 62 %, +17.4k`"""
    ways = watching.ways
    if ways is None:
        return []
    keys = [*([f"i {ways.pin}"] if ways.pin else []), *([f"b sets {ways.number}"] if ways.number else [])]
    told = " · ".join(keys) or "no pin and no number that was tried keeps it"
    room = width - cell_len(told) - len("   ○ lost “”: ")
    which = f" “{clip(one_line(ways.sentence), room)}”" if len(watching.watched) > 1 and room > LEAST else ""
    return [(f"   ○ lost{which}: ", "bad"), (told, "")]


LEAST = 12
"""Cells in which the beginning of a sentence tells which one it is."""


def _told(stand: Stand | None, watching: Watching, roomy: bool) -> Cells:
    """The present verdict first; what is not known yet has its room."""
    verdicts = (stand.now, stand.after, stand.again) if stand else (None, None, None)
    cells: Cells = []
    for number, (name, verdict) in enumerate(zip(watching.moments, verdicts, strict=False)):
        sign = SIGNS[verdict] if verdict else "…"
        style = "dim" if verdict is None or (number and not watching.fresh) else STYLES[verdict]
        if roomy:
            cells += [(f"{name} ", "dim"), (f"{sign} {verdict or '':<{_WORD}}  ", style)]
        else:
            cells += [("▸ " if number else "", "dim"), (f"{sign} ", style)]
    return cells
