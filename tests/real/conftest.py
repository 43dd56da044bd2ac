"""Real files, one for each case."""

from pathlib import Path

import pytest


@pytest.fixture
def real(shared: Path, name: str) -> Path:
    """The real file that a test is run for by its `name`; skips where it is missing."""
    path = shared / name
    if not path.exists():
        pytest.skip(f"{name} does not lie beside this checkout")
    return path
