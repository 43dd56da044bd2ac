"""An unexpected failure of a worker as one sentence, so that none is swallowed."""

from __future__ import annotations

from textual.worker import Worker, WorkerState

from workbench.base.secrets import error_line
from workbench.tui.plain import one_line


def failure_of(event: Worker.StateChanged) -> str:
    """Sentence about a worker's failure, "" if it did not fail."""
    error = event.worker.error
    if event.state is not WorkerState.ERROR or error is None:
        return ""
    return one_line(error_line(f"{event.worker.name} failed: {type(error).__name__}: {error}", 400), 400)
