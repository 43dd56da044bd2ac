"""The bench's way to the run screen and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual.binding import Binding, BindingType
from textual.screen import Screen

from workbench import bench as steps
from workbench.bench import Bench
from workbench.tui.history import History

KEYS = (("R", "run_with", "Run with", "Run with a model, by hand, or rehearse a failure: read, edit, then commit."),)
"""Key, action, name and help."""

BINDINGS: list[BindingType] = [
    Binding(key, action, name, tooltip=tooltip, id=f"bench.{action.replace('_', '-')}")
    for key, action, name, tooltip in KEYS
]


class Running(Screen[None]):
    """Mixed into the bench; `bench`, `history`, `step`, `show_tab`, `remember` are the bench's."""

    history: History

    if TYPE_CHECKING:
        tab: str

        @property
        def bench(self) -> Bench: ...
        def step(self, make: Callable[[], Bench], key: str = "", said: str = "") -> None: ...
        def show_tab(self, name: str) -> None: ...
        def remember(self) -> None: ...

    def action_run_with(self) -> None:
        from workbench.tui.screens.run import RunScreen

        self.app.push_screen(RunScreen(self.bench), self._ran)

    def _ran(self, ended: object) -> None:
        from workbench.tui.screens.run import Ended

        if not isinstance(ended, Ended):
            return
        if ended.summarizer != self.bench.summarizer:
            self.history = self.history.everywhere(partial(steps.summarized_by, name=ended.summarizer))
            self.remember()
        if (run := ended.run) is None:
            return
        if ended.pins != self.bench.pins:
            self.step(lambda: replace(self.bench, pins=ended.pins, result=None), said="pinned")
        self.step(lambda: steps.committed(self.bench, run), said="committed; u takes it back")
        if self.tab == "message":
            self.show_tab("node")
