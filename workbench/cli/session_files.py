"""Several sessions in one command: the files to read, and those that failed."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.auditing.rows import SessionRow
from workbench.auditing.run import candidates
from workbench.base.errors import BadInput
from workbench.base.printable import printable
from workbench.base.session_caches import clear_session_caches
from workbench.cli.output import warn
from workbench.finding.discover import is_session_folder


@dataclass(frozen=True, slots=True)
class FailedFile:
    """A file that failed, and the error."""

    file: Path
    error: str


def refusal(file: Path, reason: BadInput) -> FailedFile:
    """Print the error of a file on stderr at once, because the others may take long, and return the failure."""
    error = str(reason) if str(file) in str(reason) else f"{file}: {reason}"
    warn(printable(error))
    return FailedFile(file, error)


def sessions_in(named: Sequence[Path]) -> list[Path]:
    """Return the named files, each once; a folder that is no session is replaced by the possible sessions below it.
    Raises BadInput for a folder without any."""
    found: list[Path] = []
    for path in named:
        if not path.is_dir() or is_session_folder(path):
            found.append(path)
            continue
        rows = list(candidates([path]))
        for row in rows:
            if isinstance(row, SessionRow):
                warn(row.error)
        below = sorted(Path(row.path) for row in rows if not isinstance(row, SessionRow))
        if not below:
            raise BadInput(f"No session in {path}; name a session, or a folder with sessions.")
        found += below
    return list(dict.fromkeys(found))


def release_session() -> None:
    """Free the previous session, which has reference cycles and may be as large as the next one."""
    gc.collect()
    clear_session_caches()
