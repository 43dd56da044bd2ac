"""The two sentences at the top of the bench: why the context is so large, and what a compaction does now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct
from rich.cells import cell_len
from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.base.figures import short
from workbench.bench import Bench
from workbench.compaction.outcome import verdict
from workbench.tui.plain import change, fit, line_of, plain, wrap_words

if TYPE_CHECKING:
    from workbench.bench.assessment import Assessment

Cells = list[tuple[str, str]]


class Headline(Struct, frozen=True):
    """Texts of both sentences. `verdict` is "" until it is known. `plans` are wordings of the plan, the longest
    first."""

    verdict: str = ""
    plans: tuple[str, ...] = ()


def plans_of(bench: Bench, found: Assessment | None) -> tuple[str, ...]:
    """Wordings of what the compaction does or did, the longest first: sizes, facts kept and lost, cost."""
    outcome, before = bench.outcome, bench.plan.before.tokens
    if outcome.status == "unchanged":
        return (f"Nothing to compact: {outcome.reason}",)
    after = bench.context.outcome_size(outcome).tokens
    sizes = f"{short(before)} → {short(after)} ({change(before, after)})"
    done = "Compacted" if bench.result else "Compacting now"
    whole = f"{done}: {sizes}."
    if outcome.status == "not_smaller":
        return (f"A compaction would not make this smaller: {sizes}.",)
    if outcome.status == "fallback":
        return f"{whole} {verdict(outcome.status, outcome.reason).capitalize()}", whole
    if found is None:
        return (whole,)
    *facts, cost = found.receipt
    with_facts = f"{whole} {_sentence(', '.join(facts))}" if facts else whole
    brief = [f"{done}: {sizes}", *found.brief_receipt]
    shorter = (" · ".join(brief[:count]) for count in range(len(brief), 0, -1))
    return f"{with_facts} {_sentence(cost)}", f"{with_facts} {_sentence(cost.split(', ')[0])}", *shorter


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


VERDICT, PLAN = 2, 2
"""Maximum number of lines of the verdict and of the plan."""

HINT = 9
"""Width in cells, at the right, for the key that belongs to a sentence."""

ROOMY, TALL = 110, 30
"""A screen of at least `ROOMY` columns shows the keys. On a narrower one of at least `TALL` lines, the plan may have a
second line."""


def height_of(headline: Headline, width: int, lines: int) -> int:
    """Lines of both sentences on a screen of `lines` lines; below 20 lines only the plan is shown."""
    if lines < 20:
        return 1
    verdict = len(wrap_lines(headline.verdict, _room(width), VERDICT)) or 1
    return verdict + (PLAN if width < ROOMY and lines >= TALL else 1)


@lru_cache(maxsize=4)  # called for each line that is drawn, and masks secrets in every sentence
def headline_cells(headline: Headline, width: int, height: int) -> list[Cells]:
    """Both sentences in `height` lines; a cut one ends with `…`."""
    room = _room(width)
    verdict = wrap_lines(headline.verdict, room, min(VERDICT, height - 1)) if height > 1 else []
    verdict = verdict or [""] * (height > 1)
    left = height - len(verdict)
    fitting = (found for one in headline.plans if len(found := wrap_lines(one, room, left + 1)) <= left)
    plan = next(fitting, wrap_lines(headline.plans[-1], room, left) if headline.plans else [])
    lines = [*_with_hint(verdict, "bold", "O", "why", room, width)]
    lines += _with_hint(plan, "", "r", "run", room, width)
    return [*lines, *([] for _ in range(height - len(lines)))][:height]


def _room(width: int) -> int:
    return width - HINT if width >= ROOMY else width


def _with_hint(lines: Sequence[str], style: str, key: str, words: str, room: int, width: int) -> Iterator[Cells]:
    for number, line in enumerate(lines):
        if number or room == width or not line:
            yield [(line, style)]
        else:
            gap = " " * (width - room - len(key) - 3 - len(words))
            yield [(fit(line, room), style), (gap, ""), (key, "key"), (f"  {words} ", "dim")]


def wrap_lines(text: str, width: int, most: int) -> list[str]:
    """Wrap `text` to at most `most` lines of `width` cells. Figures are not broken. The last line ends with `…` if text
    is left out."""
    lines = wrap_words(plain(text), width).split("\n")
    if not text or most < 1:
        return []
    if len(lines) > most:
        lines[most - 1] = " ".join(lines[most - 1 :])
    return [fit(line, width).rstrip() if cell_len(line) > width else line for line in lines[:most]]


# --- the widget -------------------------------------------------------------------------------------------------------


class HeadlineView(Widget):
    """Both sentences. Its height follows the verdict and the screen's size; a change lays out everything below."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"headline--{name}" for name in ("bold", "dim", "key")}

    class HeadlineClicked(Message):
        """The user clicked on the sentences, and wants to see the reasons."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.headline = Headline()
        self._lines = 24

    def show(self, headline: Headline) -> None:
        self.headline = headline
        self.tooltip = Text(f"{headline.verdict}\n{headline.plans[0] if headline.plans else ''}".strip())
        self.make_room(self._lines)
        self.refresh()

    def make_room(self, lines: int) -> None:
        """Set the height for a screen of `lines` lines."""
        self._lines = lines
        height = height_of(self.headline, self.size.width or self.screen.size.width, lines)
        if self.styles.height is None or self.styles.height.value != height:
            self.styles.height = height

    @property
    def text(self) -> str:
        """Both sentences as they are drawn."""
        return "\n".join(self.render_line(y).text.rstrip() for y in range(self.size.height))

    def render_line(self, y: int) -> Strip:
        (width, height), base = self.size, self.visual_style.rich_style
        lines = headline_cells(self.headline, width, height)
        if y >= len(lines):
            return Strip.blank(width, base)
        styled = (
            Segment(text, base + self.get_component_rich_style(f"headline--{name}", partial=True) if name else base)
            for text, name in lines[y]
        )
        return line_of(styled, width, base)

    def on_click(self, event: events.Click) -> None:
        self.post_message(self.HeadlineClicked())
