"""Context window size that a file records repeatedly during a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.session.session import LoadWarning


@dataclass(slots=True)
class RecordedWindow:
    """Most recently recorded window in tokens; None before the first."""

    tokens: int | None = None
    has_warned: bool = False

    def read(self, value: Any, line: int | None, warnings: list[LoadWarning]) -> None:
        """Read a recorded value; None changes nothing. An impossible number is ignored, with one warning."""
        if type(value) is int and value > 0:
            self.tokens = value
        elif value is not None and not self.has_warned:
            self.has_warned = True
            shown = repr(value)[:40]
            text = f"an impossible context window of {shown} tokens is recorded; ignored"
            warnings.append(LoadWarning(text, line))
