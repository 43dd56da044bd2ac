"""Where the user's own files lie, by the custom of the system: one folder a kind, on Windows too.

None of them need exist; what writes there makes its folder. Without `appauthor=False` platformdirs puts the name of a
maker, which by default is that of the program, before it on Windows: half of the files would lie in
`compaction-workbench\\compaction-workbench`.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Literal

_NAME = "compaction-workbench"

_HOMES = ("USERPROFILE", "APPDATA", "LOCALAPPDATA") if os.name == "nt" else ("HOME",)
"""Variables that say where the folders lie, beside one for each kind. They are asked for each of many thousand
sessions, so the answer is kept for as long as these are the same."""


def _folder(kind: Literal["config", "data", "state", "cache"]) -> Path:
    return _folder_by(kind, tuple(map(os.environ.get, (*_HOMES, f"XDG_{kind.upper()}_HOME"))))


@lru_cache(maxsize=16)
def _folder_by(kind: Literal["config", "data", "state", "cache"], said: tuple[str | None, ...]) -> Path:
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
    """What the user sets: the files below are written by hand, or by a command that says so."""
    return _folder("config")


def settings() -> Path:
    return config() / "config.toml"


def presets() -> Path:
    """The folder of the user's presets."""
    return config() / "presets"


def prompts() -> Path:
    """The folder of the user's prompts."""
    return config() / "prompts"


def models() -> Path:
    """The user's table of models, laid over the program's."""
    return _models_in(config())


@lru_cache(maxsize=16)
def _models_in(folder: Path) -> Path:
    """Asked for each of many thousand sessions, too."""
    return folder / "models.toml"


def data() -> Path:
    """What was paid for and cannot be made again."""
    return _folder("data")


def runs() -> Path:
    """The journal of runs."""
    return data() / "runs.sqlite"


def batches() -> Path:
    """The folder of what is known of batches of requests under way, a file each."""
    return data() / "batches"


def state() -> Path:
    """What was open, and the work on sessions; may be deleted at any time."""
    return _folder("state")


def cache() -> Path:
    """What only saves time; may be deleted at any time."""
    return _folder("cache")


def packaged_models() -> Path:
    """What the package of models said, by its version."""
    return cache() / "models.json"


def token_counts() -> Path:
    return cache() / "token-counts.sqlite"


def audits() -> Path:
    """The rows of audits, for as long as their files are the same."""
    return cache() / "audits.sqlite"


def sessions() -> Path:
    """The folder of what is kept of large sessions, so that they open faster."""
    return cache() / "sessions"


def scales() -> Path:
    """The folder of what exact counts have taught, a file a session."""
    return cache() / "scales"
