"""Work in a thread: progress in steps, cancellation, and an unexpected failure as one line."""

from __future__ import annotations

from collections.abc import Callable

from textual.worker import Worker, WorkerState

from workbench.base.secrets import error_line
from workbench.tui.plain import one_line


class WorkCancelled(Exception):
    """The user cancelled the work, or no longer needs it. Raised by a progress callback to end its thread."""


ReportStage = Callable[[str], None]
"""Progress callback with the stage in words, called at least a few times a second while counting; may raise
`WorkCancelled`."""

STEPS = 20
"""Number of steps in which the bar grows. Reading pauses while a step is drawn."""


def in_steps(report: Callable[[int, int], object]) -> Callable[[int, int], None]:
    """Return a progress callback that calls `report` only when the bar grows by a step: at most `STEPS` times."""
    drawn = 0

    def progress(done: int, total: int) -> None:
        nonlocal drawn
        if (step := STEPS * done // max(total, 1)) != drawn:
            drawn = step
            report(done, total)

    return progress


def failure_of(event: Worker.StateChanged) -> str:
    """Return a worker's failure as one line of at most 400 characters, with secrets masked; "" if it did not fail."""
    error = event.worker.error
    if event.state is not WorkerState.ERROR or error is None:
        return ""
    return one_line(error_line(f"{event.worker.name} failed: {type(error).__name__}: {error}", 400), 400)
