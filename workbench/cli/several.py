"""Several sessions by one command: what was named, and what of it gives nothing."""

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
class Refused:
    """A file that gives nothing, and why."""

    file: Path
    error: str


def refusal(file: Path, reason: BadInput) -> Refused:
    """It is said at once: the others may take long."""
    said = str(reason) if str(file) in str(reason) else f"{file}: {reason}"
    warn(printable(said))
    return Refused(file, said)


def sessions_in(named: Sequence[Path]) -> list[Path]:
    """What was named, each once, and for a folder that is no session itself what may be a session below it. Raises
    BadInput for a folder without any."""
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


def let_go() -> None:
    """Of what was open before: it hangs together in circles, may be as large as the next, and was read for itself."""
    gc.collect()
    clear_session_caches()
