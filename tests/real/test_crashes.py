"""Sessions of strangers that once ended in a traceback, damaged or odd: read or refused, and exported to everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.fuzz.doors import everything

READERS = {
    "221fb765.bin": "adk",
    "6455da90.bin": "goose",
    "83960e8e.bin": "claude-code",
    "d2c51947.bin": "cline-sdk",
    "d39971e4.bin": "anthropic-messages",
    "d67da8bc.bin": "openhands",
    "lone-surrogates.json": "openai-chat",
}


@pytest.mark.parametrize("name", READERS)
def test_what_once_failed_does_not(name: str, shared: Path) -> None:
    everything(READERS[name], (shared / "found/crash" / name).read_bytes())
