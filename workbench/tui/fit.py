"""A screen that is as large as it will be from its first layout on."""

from __future__ import annotations

from typing import Any

from textual.geometry import Size
from textual.screen import Screen

BROAD: list[tuple[int, str]] | None = [(0, "-usual"), (170, "-broad")]
"""Columns from which a dialog with a list of sentences is broader, so that fewer of them are cut."""


def fit(screen: Screen[Any], size: Size | None = None) -> None:
    """Give a screen the classes of its breakpoints, for a size or the terminal's, without styling anything: before
    its widgets are made, for Textual does it after their first layout, and styles, lays out and paints all of them
    again."""
    fitting: dict[str, bool] = {}
    for extent, breakpoints in zip(
        size or screen.app.size, (screen.HORIZONTAL_BREAKPOINTS, screen.VERTICAL_BREAKPOINTS), strict=True
    ):
        passed = [name for least, name in sorted(breakpoints or []) if least <= extent]
        fitting |= {name: name == passed[-1] for _, name in breakpoints or []}
    screen.update_classes(fitting, update=False)
