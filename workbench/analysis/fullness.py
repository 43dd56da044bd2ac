"""Fullness of a session by its recorded figures, without counting or reading it."""

from __future__ import annotations

from workbench.formats.glance import SessionGlance
from workbench.tokens.window import Window, known_window


def glanced_window(found: SessionGlance) -> Window | None:
    """Return the context window of the newest epoch, as recorded or from the table of models."""
    return known_window(None, found.window, found.format, found.model)


def fullness(found: SessionGlance) -> float | None:
    """Return the share of its window that the last recorded call took; None if tokens or window are unknown."""
    window = glanced_window(found)
    return found.tokens / window.tokens if found.tokens and window else None
