"""What was done to a session is written down as it is done."""

from __future__ import annotations

from pathlib import Path

from workbench.base.errors import BadInput
from workbench.bench import Bench
from workbench.remembered import Work, keep, work_of

WRITE_S = 0.5
"""How long after a change the work is written down: what a crash can lose."""


class Memory:
    """Knows what of the work on a session is written down in `folder`; without one nothing ever is."""

    def __init__(self, folder: Path | None, bench: Bench) -> None:
        self.folder = folder
        self._written = work_of(bench)

    def unwritten(self, bench: Bench) -> Work | None:
        """The work as it stands, None where that is written down; taken for written from now on."""
        done = work_of(bench)
        if self.folder is None or done == self._written:
            return None
        self._written = done
        return done

    def write(self, bench: Bench, done: Work) -> str:
        """Write the work down; why that could not be done, "" where it could. May run in a thread."""
        if self.folder is None:
            return ""
        try:
            keep(bench.session, done, self.folder / "sessions")
        except BadInput as refused:
            return str(refused)
        return ""
