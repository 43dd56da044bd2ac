"""What the screen itself remembers from one start to the next: recent files and the theme.

Plain JSON by the standard library: it is read before the first picture, when nothing else is imported yet.
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
    recents: tuple[Recent, ...] = ()


def read_home(folder: Path) -> Home:
    """What was remembered in `folder`; where its file is missing or damaged, as if nothing had been."""
    try:
        return _home(json.loads((folder / FILE).read_bytes()))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return Home()


def _home(value: dict[str, Any]) -> Home:
    recents = tuple(Recent(str(one["path"]), str(one["title"]), float(one["time"])) for one in value["recents"])
    return Home(str(value["theme"]), recents[:RECENT])


def write_home(folder: Path, change: Callable[[Home], Home]) -> None:
    """Change what is remembered in `folder`, whole or not at all: other programs that are open keep what they wrote.
    Raises BadInput where that cannot be done."""
    from workbench.base.files import in_turn, make_folder, write_atomically

    make_folder(folder)
    with in_turn(folder):
        home = change(read_home(folder))
        write_atomically(folder / FILE, json.dumps(asdict(home), indent=1).encode(), overwrite=True)


def opened(home: Home, path: Path, title: str) -> Home:
    """With `path` as the most recent file."""
    name = str(path.absolute())
    others = tuple(one for one in home.recents if one.path != name)
    return replace(home, recents=(Recent(name, title, time.time()), *others)[:RECENT])
