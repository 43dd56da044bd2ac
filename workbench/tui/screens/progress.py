"""What the screens that play a session share: a line that says how far the thread is, and the end of it."""

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
    """Has a widget `#title`. Leaving the screen cancels its workers, which stop when they next say how far they are."""

    NAME: ClassVar[str] = ""

    @dataclass
    class Progress(Message):
        sentence: str

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, ProgressScreen.Progress)

    @dataclass
    class Refused(Message):
        sentence: str

    @contextmanager
    def working(self) -> Iterator[ReportStage]:
        """For a worker's thread: gives what it tells how far it is, and ends it where nobody waits any more."""
        worker = get_current_worker()

        def told(sentence: str) -> None:
            if worker.is_cancelled:
                raise Abandoned
            self.post_message(self.Progress(sentence))

        try:
            yield told
        except Abandoned:
            return
        except BadInput as refused:
            self.post_message(self.Refused(str(refused)))

    def say(self, words: str) -> None:
        """On the screen's first line."""
        self.query_one("#title", Static).update(titled(self.NAME, words))

    @on(Progress)
    def _progress(self, event: Progress) -> None:
        self.say(f"{event.sentence} · esc stops")

    @on(Refused)
    def _refused(self, event: Refused) -> None:
        self.say(f"✘ {event.sentence}")

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self.say(f"✘ {failure}")
