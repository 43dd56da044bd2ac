"""Fixtures every test may use."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests.paths import SHARED

# Elsewhere every run draws new examples and may find something; a check on a change must judge the change alone.
settings.register_profile("ci", derandomize=True, deadline=None)
if os.environ.get("CI"):
    settings.load_profile("ci")


@pytest.fixture
def shared() -> Path:
    """The folder of real sessions and specifications; skips where it is missing."""
    if SHARED is None:
        pytest.skip("the real sessions do not lie beside this checkout")
    return SHARED


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings, caches and runs of a test lie in a folder of its own, never in the user's."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(home / name.lower()))
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    return home
