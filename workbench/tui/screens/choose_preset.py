"""The list of strategies and their presets: search by typing, read their descriptions, select one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from workbench.base.errors import BadInput
from workbench.compaction.preset import Preset, default_preset, load_preset, preset_names
from workbench.compaction.strategies import all_strategies, unusable
from workbench.compaction.strategy import Strategy
from workbench.tui.keys import CLOSE_KEY, HELP_KEY, shared
from workbench.tui.plain import one_line
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.list_keys import TYPING
from workbench.tui.widgets.text_list import TextList


@dataclass(frozen=True)
class PresetChoice:
    """Line of the list: a strategy, which selects its default preset, or one of its presets."""

    strategy: Strategy[Any]
    preset: Preset
    heading: bool = False

    @property
    def found_by(self) -> str:
        words = (self.strategy.id, self.strategy.title, self.preset.id, "" if self.heading else self.preset.about)
        return " ".join(words).casefold()

    @property
    def words(self) -> str:
        if self.heading:
            about = self.strategy.about
            return f"{self.strategy.title} ({self.strategy.id}): {about}"
        numbers = tuple(self.preset.basis.values())
        counts = f"{numbers.count('documented')} numbers documented, {numbers.count('assumed')} assumed"
        basis = f" {counts}." if numbers else ""
        source = f" From: {self.preset.source}." if self.preset.source else ""
        return f"{self.preset.about}{source}{basis}"


def choices() -> tuple[tuple[PresetChoice, ...], tuple[str, ...]]:
    """Every strategy with its presets below it, and a sentence for each preset or strategy that cannot be used."""
    presets, refused = [], [*unusable()]
    for name in preset_names():
        try:
            presets.append(load_preset(name))
        except BadInput as bad:
            refused.append(str(bad))
    found: list[PresetChoice] = []
    for one in all_strategies():
        try:
            found.append(PresetChoice(one, default_preset(one.id), heading=True))
        except BadInput:
            continue
        found += [PresetChoice(one, preset) for preset in presets if preset.strategy == one.id]
    return tuple(found), tuple(refused)


def matching(every: tuple[PresetChoice, ...], query: str) -> tuple[PresetChoice, ...]:
    """Choices that contain every word of the query, with the headings above them."""
    words = query.casefold().split()
    hits = [choice for choice in every if all(word in choice.found_by for word in words)]
    strategies = {choice.strategy.id for choice in hits}
    return tuple(choice for choice in every if choice in hits or (choice.heading and choice.strategy.id in strategies))


LOOKING, NOTHING = "Looking for strategies and presets …", "Nothing matches: shorten the search."
"""Texts of the list before it is read, and if nothing matches."""

BROAD: list[tuple[int, str]] | None = [(0, "-usual"), (170, "-broad")]
"""Columns from which a dialog with a list of sentences is wider, so that fewer of them are cut."""


class ChoosePresetScreen(ModalScreen[Preset | None]):
    HELP = """\
Every strategy, and below it its presets: the numbers and prompts of a product or paper, or your own. Enter on a \
strategy selects its first preset. Type to search by name and description. Below the list is the description of the \
marked preset, and how many of its numbers are documented and how many assumed. Enter selects it: the plan follows at \
once, and undo restores the former settings.

The head is the part that is replaced, the tail the part that is kept. An exchange is a request, or results of tools, \
with the answer to it. The abridged history is a short form of the history. A ladder is a list of steps, each taken \
while the context is still too large."""
    HORIZONTAL_BREAKPOINTS = BROAD
    BINDINGS: ClassVar[list[BindingType]] = [
        CLOSE_KEY,
        *TYPING,
        shared("open", "take", "Take it", "Select the marked row.", priority=True),
        HELP_KEY,
    ]

    def __init__(self, chosen: str) -> None:
        super().__init__()
        self.chosen = chosen
        self.every: tuple[PresetChoice, ...] = ()
        self.refused: tuple[str, ...] = ()
        self.shown: tuple[PresetChoice, ...] = ()

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = "Strategy and preset · enter selects, esc cancels"
            yield Input(placeholder="type to search", compact=True, id="search")
            yield TextList(empty=LOOKING)
            with VerticalScroll(can_focus=False):
                yield Static(id="about")
        yield KeysLine()

    def on_mount(self) -> None:
        self.fill()

    @work(exclusive=True, group="choices")
    async def fill(self) -> None:
        """Read the presets in a thread: the first time every strategy is imported."""
        self.every, self.refused = await asyncio.to_thread(choices)
        self.query_one(TextList).empty = NOTHING
        self._list(self.query_one(Input).value)

    def _list(self, query: str) -> None:
        self.shown = matching(self.every, query)
        at = next((i for i, c in enumerate(self.shown) if not c.heading and c.preset.id == self.chosen), None)
        typed = query.strip().casefold()
        named = next((i for i, c in enumerate(self.shown) if not c.heading and c.preset.id.startswith(typed)), None)
        first = next((i for i, c in enumerate(self.shown) if not c.heading), 0) if named is None else named
        rows = (_line(choice, self.chosen) for choice in self.shown)
        self.query_one(TextList).show(rows, at if at is not None and not query else first)
        if not self.shown:
            self.query_one("#about", Static).update("")

    @on(Input.Changed)
    def _searched(self, event: Input.Changed) -> None:
        self._list(event.value)

    @on(TextList.Highlighted)
    def _marked(self) -> None:
        at = self.query_one(TextList).at  # may have changed: typing narrows the list
        if at < 0:
            return
        text = Text(one_line(self.shown[at].words, 1_000))
        for sentence in self.refused:
            text.append(f"\n✘ {one_line(sentence, 400)}", "bold")
        self.query_one("#about", Static).update(text)

    @on(TextList.Selected)
    def _clicked(self, event: TextList.Selected) -> None:
        self.dismiss(self.shown[event.at].preset)

    def action_take(self) -> None:
        typed = self.query_one(Input)
        typed.call_later(typed.action_submit)  # after the characters typed before this key

    @on(Input.Submitted)
    def _take(self) -> None:
        marked = self.query_one(TextList).at
        if marked >= 0:
            self.dismiss(self.shown[marked].preset)


def _line(choice: PresetChoice, chosen: str) -> Text:
    if choice.heading:
        return Text.assemble((choice.strategy.title, "bold"), (f"  {choice.strategy.about}", "dim"), no_wrap=True)
    mark = "▸" if choice.preset.id == chosen else " "
    words = one_line(choice.preset.about, 200)
    line = Text.assemble(f" {mark} {choice.preset.id:<20}", (f" {words}", "dim"), no_wrap=True)
    line.overflow = "ellipsis"
    return line
