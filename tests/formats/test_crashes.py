"""Inputs that once ended in a traceback, found by `make fuzz` and made small: they are read or refused in a sentence,
and what was read is exported to everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.fuzz.doors import everything, readers

CRASHES = sorted((Path(__file__).parent / "crashes").iterdir())


@pytest.mark.parametrize("path", CRASHES, ids=lambda path: path.name)
def test_what_once_failed_does_not(path: Path) -> None:
    reader = max((one for one in readers() if path.name.startswith(f"{one}-")), key=len)
    everything(reader, path.read_bytes())
