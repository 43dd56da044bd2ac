"""How full a session that was only glanced at is, by what it recorded; nothing is counted."""

from __future__ import annotations

from workbench.finding.glances import Found
from workbench.tokens import find_model


def window_of(found: Found) -> int | None:
    """The context window in tokens that the tool recorded, or that the session's model is known to have."""
    model = find_model(found.model) if found.model and not found.window else None
    return found.window or (model.window if model else None)


def fullness(found: Found) -> float | None:
    """The share of its window that the last recorded call took, None where tokens or window are not known."""
    window = window_of(found)
    return found.tokens / window if found.tokens and window else None
