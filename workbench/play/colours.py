"""Colours of a frame in recordings and pictures, which have no theme: those of the workbench's dark theme."""

from __future__ import annotations

BACKGROUND, FOREGROUND = "#14171c", "#d7dbe2"

COLOURS = {
    "": FOREGROUND,
    "dim": "#8b94a3",
    "bold": "#ffffff",
    "title": "#ffffff",
    "good": "#7bc275",
    "bad": "#f0718b",
    "mark": "#f0b354",
    "free": "#3a4350",
    "overhead": "#9d8cf0",
    "summary": "#3fc1c0",
    "pinned": "#f0718b",
    "going": "#e08a4f",
    "talk": "#5ea1f2",
    "kept": "#7bc275",
}
"""Colour of each style in `drawing.STYLES`."""

BOLD = frozenset({"bold", "title", "good", "bad"})
