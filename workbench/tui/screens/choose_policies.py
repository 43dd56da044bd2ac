"""Several policies to choose: the one on the bench, the strategies' own, and every other preset."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from workbench.compaction.preset import Preset
from workbench.tui.keys import CLOSE_KEY, HELP_KEY
from workbench.tui.plain import one_line
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.text_list import TextList


class ChoosePoliciesScreen(ModalScreen[tuple[Preset, ...] | None]):
    """Dismissed with those chosen, in the order of the list, or with None."""

    HELP = """\
The policies that can be played: the one on the bench, each strategy with its own preset, and the presets named after \
products and papers, or your own. A ladder is one step after another, as long as it is still too much. Space, or a \
double click, marks one with ✔ or lets it go; enter plays those marked."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "take", "Play", priority=True, id="policies.play", tooltip="Play the policies marked."),
        Binding("space", "mark", "Mark", priority=True, id="policies.mark", tooltip="Mark this one, or let it go."),
        Binding("a", "mark_all", "All", id="policies.all", tooltip="Mark every policy, or only the one on the bench."),
        CLOSE_KEY,
        HELP_KEY,
    ]

    def __init__(self, every: Sequence[Preset], chosen: Collection[Preset]) -> None:
        """`every` begins with the policy on the bench."""
        super().__init__()
        self.every = tuple(every)
        self.marked = {n for n, one in enumerate(every) if one in chosen}

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = "Policies to play · space marks, enter plays"
            yield TextList()
        yield KeysLine()

    def _line(self, n: int) -> Text:
        one = self.every[n]
        words = f"{one.strategy:<20} {one_line(one.about, 200)}"
        return Text.assemble(f"{'✔' if n in self.marked else ' '} {one.id:<22} ", (words, "dim"), no_wrap=True)

    def on_mount(self) -> None:
        self._draw()

    def _draw(self) -> None:
        self.query_one(TextList).show(self._line(n) for n in range(len(self.every)))

    def action_mark(self) -> None:
        self.marked ^= {self.query_one(TextList).at}
        self._draw()

    def action_mark_all(self) -> None:
        every = set(range(len(self.every)))
        self.marked = {0} if self.marked == every else every
        self._draw()

    @on(TextList.Chosen)
    def _clicked(self) -> None:
        self.action_mark()

    def action_take(self) -> None:
        self.dismiss(tuple(self.every[n] for n in sorted(self.marked)) or None)
