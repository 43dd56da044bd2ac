"""The key that explains the screen in front, the same on every screen."""

from __future__ import annotations

from textual.binding import Binding


def help_key(screen: str) -> Binding:
    """`?`, and F1 for screens on which something is typed."""
    return Binding(
        "f1,question_mark", "app.explain", "Help", id=f"{screen}.help", tooltip="Explain this screen and its keys."
    )
