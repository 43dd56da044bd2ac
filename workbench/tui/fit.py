"""A screen that is as large as it will be from its first layout on."""

from __future__ import annotations

from typing import Any

from textual.screen import Screen

BROAD: list[tuple[int, str]] | None = [(0, "-usual"), (170, "-broad")]
"""Columns from which a dialog with a list of sentences is broader, so that fewer of them are cut."""


def fit(screen: Screen[Any]) -> None:
    """Give a screen the classes of its breakpoints before its widgets are made: Textual does it after their first
    layout, and styles, lays out and paints all of them again."""
    for size, breakpoints in zip(
        screen.app.size, (screen.HORIZONTAL_BREAKPOINTS, screen.VERTICAL_BREAKPOINTS), strict=True
    ):
        fitting = [name for least, name in sorted(breakpoints or []) if least <= size]
        screen.add_class(*fitting[-1:])
