"""Fixtures for tests of the hook."""

from __future__ import annotations

import pytest

from workbench.hook import patterns


@pytest.fixture(autouse=True)
def no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start no process that stores patterns."""
    monkeypatch.setattr(patterns, "build_in_background", lambda: None)
