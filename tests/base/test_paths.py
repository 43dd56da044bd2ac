"""One folder for each kind of the user's files, on each system."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import platformdirs.windows
import pytest
from platformdirs.macos import MacOS
from platformdirs.unix import Unix
from platformdirs.windows import Windows

from workbench.base import paths

PLACES: dict[Callable[[], Path], str] = {
    paths.settings: "config.toml",
    paths.presets: "presets",
    paths.prompts: "prompts",
    paths.models: "models.toml",
}


@pytest.mark.parametrize("system", [Windows, MacOS, Unix])
def test_what_the_user_sets_lies_in_one_folder(system: type, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))  # whose folders were found is remembered by the variables that say where
    monkeypatch.setattr(platformdirs.windows, "get_win_folder", lambda kind: str(tmp_path / kind))
    monkeypatch.setattr(platformdirs, "PlatformDirs", system)
    assert {place(): name for place, name in PLACES.items()} == {
        paths.config() / name: name for name in PLACES.values()
    }
    for folder in (paths.config(), paths.data(), paths.state(), paths.cache()):
        assert folder.parts.count("compaction-workbench") == 1
