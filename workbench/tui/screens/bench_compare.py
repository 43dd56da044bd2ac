"""The bench's way to the compare screen and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import Screen

from workbench.bench import Bench
from workbench.compaction.preset import Preset


class Comparing(Screen[None]):
    """Mixed into the bench; `bench` and `choose` are the bench's."""

    if TYPE_CHECKING:

        @property
        def bench(self) -> Bench: ...
        def choose(self, preset: Preset) -> None: ...

    def action_compare(self) -> None:
        from workbench.tui.screens.compare import CompareScreen

        def chosen(preset: Preset | None) -> None:
            if preset is not None:
                self.choose(preset)

        self.app.push_screen(CompareScreen(self.bench), chosen)
