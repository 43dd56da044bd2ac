"""State that the screen saves between starts: recent files and the theme.

Plain JSON from the standard library: it is read before the first screen is drawn, when nothing else is imported.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

FILE = "home.json"

RECENT = 50
"""Most recent files that are saved."""


@dataclass(frozen=True, slots=True)
class Recent:
    """A file that was opened, and when, in seconds since 1970."""

    path: str
    title: str
    time: float


@dataclass(frozen=True, slots=True)
class Home:
    theme: str = ""
    recents: tuple[Recent, ...] = ()


def read_home(folder: Path) -> Home:
    """Saved state in `folder`; empty if its file is missing or damaged."""
    try:
        return _home(json.loads((folder / FILE).read_bytes()))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return Home()


def _home(value: dict[str, Any]) -> Home:
    recents = tuple(Recent(str(one["path"]), str(one["title"]), float(one["time"])) for one in value["recents"])
    return Home(str(value["theme"]), recents[:RECENT])


def write_home(folder: Path, change: Callable[[Home], Home]) -> None:
    """Change the saved state in `folder` atomically and under a lock, so that other open programs keep theirs. Raises
    BadInput if that fails."""
    from workbench.base.files import folder_lock, make_folder, write_atomically

    make_folder(folder)
    with folder_lock(folder):
        home = change(read_home(folder))
        write_atomically(folder / FILE, json.dumps(asdict(home), indent=1).encode(), overwrite=True)


def with_recent(home: Home, path: Path, title: str) -> Home:
    """Saved state with `path` as the most recent file."""
    name = str(path.absolute())
    others = tuple(one for one in home.recents if one.path != name)
    return replace(home, recents=(Recent(name, title, time.time()), *others)[:RECENT])
