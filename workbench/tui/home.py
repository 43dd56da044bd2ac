"""What the screen itself remembers from one start to the next: recent files, the theme, whether the tour was seen.

Plain JSON by the standard library: it is read before the first picture, when nothing else is imported yet.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

FILE = "home.json"

RECENT = 50
"""How many files are remembered."""


@dataclass(frozen=True, slots=True)
class Recent:
    """A file that was opened, and when, in seconds since the epoch."""

    path: str
    title: str
    time: float


@dataclass(frozen=True, slots=True)
class Home:
    theme: str = ""
    toured: bool = False
    recents: tuple[Recent, ...] = ()


def state_folder() -> Path:
    """Where this and the work on sessions lie; the folder may be deleted at any time."""
    from platformdirs import user_state_path

    return user_state_path("compaction-workbench", appauthor=False)


def read_home(folder: Path) -> Home:
    """What was remembered in `folder`; where its file is missing or damaged, as if nothing had been."""
    try:
        return _home(json.loads((folder / FILE).read_bytes()))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return Home()


def _home(value: dict[str, Any]) -> Home:
    recents = tuple(Recent(str(one["path"]), str(one["title"]), float(one["time"])) for one in value["recents"])
    return Home(str(value["theme"]), value["toured"] is True, recents[:RECENT])


def write_home(folder: Path, home: Home) -> None:
    """Write it down, whole or not at all. Raises BadInput where that cannot be done."""
    from workbench.errors import BadInput
    from workbench.formats.files import write_atomically

    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise BadInput(f"{folder} cannot be made ({error.strerror}); recent files are not remembered.") from None
    write_atomically(folder / FILE, json.dumps(asdict(home), indent=1).encode(), overwrite=True)


def opened(home: Home, path: Path, title: str) -> Home:
    """With `path` as the most recent file."""
    name = str(path.absolute())
    others = tuple(one for one in home.recents if one.path != name)
    return replace(home, recents=(Recent(name, title, time.time()), *others)[:RECENT])
