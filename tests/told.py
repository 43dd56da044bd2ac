"""What is told, whole and to the letter: a text beside the test that it is compared with."""

from __future__ import annotations

from pathlib import Path

import pytest


def assert_told(path: Path, text: str, request: pytest.FixtureRequest) -> None:
    """Whether the file has just this text. `pytest --golden-update` accepts it: read the diff."""
    if request.config.getoption("golden_update"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")
