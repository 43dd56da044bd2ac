"""The context window that a file records again and again while its session goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.session.session import LoadWarning


@dataclass(slots=True)
class RecordedWindow:
    """The window in tokens that was recorded last, which stands until another one is; None before the first."""

    tokens: int | None = None
    is_noted: bool = False

    def read(self, value: Any, line: int | None, warnings: list[LoadWarning]) -> None:
        """Take a recorded value. None says nothing; what can be no number of tokens is left out, and noted once."""
        if type(value) is int and value > 0:
            self.tokens = value
        elif value is not None and not self.is_noted:
            self.is_noted = True
            shown = repr(value)[:40]
            text = f"an impossible context window of {shown} tokens is recorded; ignored"
            warnings.append(LoadWarning(text, line))
