"""How full a session that was only glanced at is, by what it recorded; nothing is counted."""

from __future__ import annotations

from workbench.formats.glance import SessionGlance
from workbench.tokens.window import Window, known_window


def glanced_window(found: SessionGlance) -> Window | None:
    """The context window of the session's newest epoch, by what the tool recorded or the table knows."""
    return known_window(None, found.window, found.format, found.model)


def fullness(found: SessionGlance) -> float | None:
    """The share of its window that the last recorded call took, None where tokens or window are not known."""
    window = glanced_window(found)
    return found.tokens / window.tokens if found.tokens and window else None
