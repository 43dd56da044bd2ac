"""Settings and saved state, read at the start with the standard library alone: `config.toml`, written by the user, and
`home.json` with recent files and the theme.

theme = "workbench-light"      # or "dark", "light", "contrast", or any theme of the palette
window = 200000                # tokens, where a session's model is not known
max_cost = 0.50                # dollars: most that one run may cost without a question

[keys]
pin = "p,f7"                   # ids as the help shows them; several keys with commas
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.user_settings import read_spend_limit, read_toml

SHORT_THEMES = {"dark": "workbench", "light": "workbench-light", "contrast": "workbench-contrast"}


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the user: `theme` is "" and `window` None if not set; `keys` maps a binding's id to its keys."""

    theme: str = ""
    window: int | None = None
    keys: Mapping[str, str] = field(default_factory=dict)
    path: Path | None = None

    @property
    def keymap(self) -> dict[str, str]:
        """Keys by current binding id."""
        return {current_id(id): keys for id, keys in self.keys.items()}


def current_id(id: str) -> str:
    """Id without the prefix `bench.` or `screen.` of former versions."""
    return id.removeprefix("bench.").removeprefix("screen.")


def read_settings(path: Path) -> Settings:
    """Settings in `path`, the defaults if there is no such file. Raises BadInput with file and key."""
    if not path.exists():
        return Settings()
    table = read_toml(path)
    if unknown := sorted(set(table) - {"theme", "window", "max_cost", "keys", "connections"}):
        there = "theme, window, max_cost, [keys] and [connections.NAME]"
        raise BadInput(f"{path}: there is no key {unknown[0]!r}; there are {there}.")
    read_spend_limit(path)
    theme = table.get("theme", "")
    if not isinstance(theme, str):
        raise BadInput(f'{path}: theme = {theme!r} is no name; write one in quotes, as "light".')
    window = table.get("window")
    if window is not None and (not isinstance(window, int) or isinstance(window, bool) or window < 1):
        raise BadInput(f"{path}: window = {window!r} is no number of tokens; write a whole number from 1.")
    return Settings(SHORT_THEMES.get(theme, theme), window, _keys(path, table.get("keys", {})), path)


def _keys(path: Path, keys: Any) -> dict[str, str]:
    if not isinstance(keys, dict):
        raise BadInput(f'{path}: keys = {keys!r} is no table; write [keys] and below it pin = "space".')
    # TOML reads an unquoted find.next as a table in a table, which means the same here.
    flat: dict[str, Any] = {}
    for name, value in keys.items():
        flat.update(
            {f"{name}.{inner}": key for inner, key in value.items()} if isinstance(value, dict) else {name: value}
        )
    for name, value in flat.items():
        if not isinstance(value, str) or not value.strip():
            raise BadInput(f'{path}: keys."{name}" = {value!r} is no key; write one in quotes, as "space" or "ctrl+p".')
    return flat


def unknown_keys(settings: Settings, known: Collection[str], now_at: Callable[[str], str]) -> str:
    """Sentence about the first binding id in the settings that does not exist; "" if all do. `now_at` returns the
    current id for a former one, "" if there is none."""
    wrong = next((name for name in settings.keys if current_id(name) not in known), None)
    if wrong is None:
        return ""
    if now := now_at(wrong):
        return f'{settings.path}: keys."{wrong}" no longer exists; use {now}.'
    return f'{settings.path}: keys."{wrong}" names nothing; the help (?) shows the id of every key.'


# --- saved between starts ---------------------------------------------------------------------------------------------

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
    """Change the saved state in `folder` atomically and under a lock, so that no change of another process is lost.
    Raises BadInput if that fails."""
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
