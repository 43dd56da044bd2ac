"""Base of screens that compute in a thread: a line with the progress, and the end of the work when the screen
closes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from textual import on
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Static
from textual.worker import Worker, get_current_worker

from workbench.base.errors import BadInput
from workbench.tui.courses import Abandoned, ReportStage
from workbench.tui.failures import failure_of
from workbench.tui.plain import titled

T = TypeVar("T")


class ProgressScreen(ModalScreen[T | None]):
    """Screen with a widget `#title`. Closing it cancels its workers, which stop at their next progress report."""

    NAME: ClassVar[str] = ""

    @dataclass
    class StageReported(Message):
        sentence: str

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, ProgressScreen.StageReported)

    @dataclass
    class WorkFailed(Message):
        sentence: str

    @contextmanager
    def working(self) -> Iterator[ReportStage]:
        """Context for a worker's thread: gives its progress callback, and ends the work if the screen was closed."""
        worker = get_current_worker()

        def report(sentence: str) -> None:
            if worker.is_cancelled:
                raise Abandoned
            self.post_message(self.StageReported(sentence))

        try:
            yield report
        except Abandoned:
            return
        except BadInput as refused:
            self.post_message(self.WorkFailed(str(refused)))

    def say(self, words: str) -> None:
        """Show text on the screen's first line."""
        self.query_one("#title", Static).update(titled(self.NAME, words))

    @on(StageReported)
    def _progress(self, event: StageReported) -> None:
        self.say(f"{event.sentence} · esc stops")

    @on(WorkFailed)
    def _refused(self, event: WorkFailed) -> None:
        self.say(f"✘ {event.sentence}")

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self.say(f"✘ {failure}")
