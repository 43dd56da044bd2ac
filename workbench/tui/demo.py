"""The demonstration: a sample session on the bench, and on the run screen a prepared answer, played."""

from __future__ import annotations

from functools import partial

from workbench import bench as steps
from workbench.base.resources import SAMPLES
from workbench.summarizers.named import Name
from workbench.summarizers.recording import Recording
from workbench.tui.app import WorkbenchApp
from workbench.tui.bench import visiting
from workbench.tui.bench.screen import BenchScreen
from workbench.tui.screens.run import RunScreen
from workbench.tui.settings import Settings

READ_S = 2.5
"""How long the request stands there before the answer begins by itself."""


class DemoApp(WorkbenchApp):
    """Remembers nothing and writes nothing; everything that the screens can do can be done."""

    def __init__(self, name: str, recording: Recording, settings: Settings | None = None) -> None:
        super().__init__(SAMPLES / recording.session, preset=recording.preset, settings=settings, fresh=True)
        self.recording, self.named = recording, Name("recording", name)

    def _first_sight(self) -> None:
        super()._first_sight()
        screen = self.screen
        if isinstance(screen, BenchScreen):
            screen.store.everywhere(partial(steps.summarized_by, name=str(self.named)))
            visiting.run_with(screen)
            words = f"{self.recording.about} {self.recording.pace}"
            self.notify(words, title="A demonstration: nothing is sent", markup=False, timeout=15)
            self.set_timer(READ_S, self.begin)

    def begin(self) -> None:
        """Play, unless the person has begun or gone elsewhere; wait for a screen that is not ready."""
        screen = self.screen
        if not isinstance(screen, RunScreen) or screen.phase != "ready":
            return
        if screen.check_action("send", ()):
            screen.action_send()
        else:
            self.set_timer(READ_S / 5, self.begin)
