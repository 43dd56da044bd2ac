"""A demo first, and then, if the user wants, its session on the bench."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from workbench.bench import steps
from workbench.play.frames import Story
from workbench.summarizers.by_name import SummarizerName
from workbench.summarizers.prepared_answer import load_prepared_answer
from workbench.tui.app import WorkbenchApp
from workbench.tui.bench.screen import BenchScreen
from workbench.tui.screens.play import PlayScreen


class DemoApp(WorkbenchApp):
    """Application that begins with a demo. `rehearses` is the recorded answer that a run of the bench plays back, ""
    for none."""

    def __init__(self, story: Story, source: Path, *, rehearses: str = "", **how: Any) -> None:
        super().__init__(source, **how)
        self.story, self.rehearses = story, rehearses

    def begin(self) -> None:
        self.push_screen(PlayScreen(self.story), self._after_demo)

    def _after_demo(self, opens: bool | None) -> None:
        if opens:
            super().begin()
        else:
            self.exit()

    def _first_sight(self) -> None:
        super()._first_sight()
        screen = self.screen
        if self.rehearses and isinstance(screen, BenchScreen):
            screen.store.everywhere(
                partial(steps.with_summarizer, name=str(SummarizerName("recording", self.rehearses)))
            )
            words = f"R, then enter, plays a live run. {load_prepared_answer(self.rehearses).about}"
            self.notify(words, title="Nothing is sent", markup=False, timeout=15)
