"""Folders and files of the user, where the system expects them.

None of them need exist; a writer creates its folder. `appauthor=False` keeps platformdirs on Windows from nesting them
as `compaction-workbench\\compaction-workbench`.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Literal

_NAME = "compaction-workbench"

_HOMES = ("USERPROFILE", "APPDATA", "LOCALAPPDATA") if os.name == "nt" else ("HOME",)
"""Variables that decide the folders, in addition to one for each kind. Folders are requested for each of thousands of
sessions, so they are cached until a variable changes."""


def _folder(kind: Literal["config", "data", "state", "cache"]) -> Path:
    return _folder_by(kind, tuple(map(os.environ.get, (*_HOMES, f"XDG_{kind.upper()}_HOME"))))


@lru_cache(maxsize=16)
def _folder_by(kind: Literal["config", "data", "state", "cache"], environ: tuple[str | None, ...]) -> Path:
    import platformdirs

    match kind:
        case "config":
            return platformdirs.user_config_path(_NAME, appauthor=False)
        case "data":
            return platformdirs.user_data_path(_NAME, appauthor=False)
        case "state":
            return platformdirs.user_state_path(_NAME, appauthor=False)
        case "cache":
            return platformdirs.user_cache_path(_NAME, appauthor=False)


def config() -> Path:
    """Folder of the user's configuration. Files in it are written by the user, or by commands that report it."""
    return _folder("config")


def settings() -> Path:
    return config() / "config.toml"


def presets() -> Path:
    """Folder of the user's presets."""
    return config() / "presets"


def prompts() -> Path:
    """Folder of the user's prompts."""
    return config() / "prompts"


def models() -> Path:
    """User's table of models, which overrides the program's."""
    return _models_in(config())


@lru_cache(maxsize=16)
def _models_in(folder: Path) -> Path:
    """Return the table's path. Cached, because it is requested for each of thousands of sessions."""
    return folder / "models.toml"


def data() -> Path:
    """Folder of data that was paid for and cannot be computed again."""
    return _folder("data")


def runs() -> Path:
    """Run history."""
    return data() / "runs.sqlite"


def batches() -> Path:
    """Folder of the unfinished batches of requests, one file each."""
    return data() / "batches"


def state() -> Path:
    """Folder of the last open sessions and the saved work; may be deleted at any time."""
    return _folder("state")


def hooks() -> Path:
    """Folder of the hooks' snapshots and their log."""
    return state() / "hooks"


def cache() -> Path:
    """Folder of data that only saves time; may be deleted at any time."""
    return _folder("cache")


def packaged_models() -> Path:
    """Copy of the model data of the package genai-prices, with its version."""
    return cache() / "models.json"


def token_counts() -> Path:
    return cache() / "token-counts.sqlite"


def audits() -> Path:
    """Rows of audits, valid while their files are unchanged."""
    return cache() / "audits.sqlite"


def sessions() -> Path:
    """Folder of parsed large sessions, which open faster."""
    return cache() / "sessions"


def scales() -> Path:
    """Folder of the calibration scales from exact token counts, one file per session."""
    return cache() / "scales"
