"""pi 0.73.1, the last version under the package's old name: sessions without system messages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from interop.homes import Home, Package
from interop.tools import pi


def _compact(home: Home, path: Path) -> Path:
    """It compacts behind the last answer of a prompt, if that took the window but for 16 384 tokens."""
    prompt = f"Once more. {pi.TOOL.read('notes.md')} [[tokens 195000]] [[then]] [[tokens 195000]]"
    pi.TOOL.again(home, path, prompt)
    return path


TOOL = replace(
    pi.TOOL,
    id="pi-0.73",
    title="pi 0.73",
    package=Package("npm", "@mariozechner/pi-coding-agent", "0.73.1"),
    compactions={"near the window": _compact},
)
