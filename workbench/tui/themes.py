"""The workbench's own themes; Textual's are in the palette as well."""

from __future__ import annotations

from rich.terminal_theme import TerminalTheme
from textual.color import Color
from textual.theme import Theme

SIXTEEN = "workbench-16"
"""Theme for a terminal of sixteen colours: it uses only these, so the terminal shows every colour as it is."""
_BLUE, _MAGENTA, _CYAN, _YELLOW, _RED, _GREEN = "#5555ff", "#ff55ff", "#55ffff", "#ffff55", "#ff5555", "#55ff55"

THEMES = (
    Theme(
        "workbench",
        primary="#5ea1f2",
        secondary="#9d8cf0",
        accent="#3fc1c0",
        warning="#f0b354",
        error="#f0718b",
        success="#7bc275",
        foreground="#d7dbe2",
        background="#14171c",
        surface="#191d23",
        panel="#232932",
        dark=True,
        variables={
            "border-blurred": "#3a4350",
            "footer-key-foreground": "#7db4f6",
            "primary-muted": "#22344c",
            "block-cursor-blurred-background": "#22344c",
            "block-cursor-background": "#2d4f7c",
            "block-cursor-foreground": "#ffffff",
        },
    ),
    Theme(
        "workbench-light",
        primary="#1f5fb4",
        secondary="#6a4fc0",
        accent="#0b7a78",
        warning="#9a6200",
        error="#b3244a",
        success="#2f7a2c",
        foreground="#1d2229",
        background="#f7f7f5",
        surface="#f0f0ed",
        panel="#e2e3e0",
        dark=False,
        variables={
            "border-blurred": "#b9bdc4",
            "footer-key-foreground": "#1a549f",
            "primary-muted": "#cddcf0",
            "block-cursor-blurred-background": "#cddcf0",
            "block-cursor-background": "#174b91",
            "block-cursor-foreground": "#ffffff",
        },
    ),
    Theme(
        "workbench-contrast",
        primary="#6fc3ff",
        secondary="#d7a6ff",
        accent="#5ff5f0",
        warning="#ffd84d",
        error="#ff8095",
        success="#8dff7a",
        foreground="#ffffff",
        background="#000000",
        surface="#000000",
        panel="#1c1c1c",
        dark=True,
        variables={
            "border-blurred": "#a0a0a0",
            "block-cursor-background": "#ffd84d",
            "block-cursor-foreground": "#000000",
        },
    ),
    Theme(
        SIXTEEN,
        primary=_BLUE,
        secondary=_MAGENTA,
        accent=_CYAN,
        warning=_YELLOW,
        error=_RED,
        success=_GREEN,
        foreground="#ffffff",
        background="#000000",
        surface="#000000",
        panel="#000000",
        dark=True,
        variables={
            # Tints would all become the same white or grey.
            "text": "#ffffff",
            "text-muted": "#aaaaaa",
            "text-disabled": "#aaaaaa",
            "text-primary": _BLUE,
            "text-secondary": _MAGENTA,
            "text-accent": _CYAN,
            "text-warning": _YELLOW,
            "text-error": _RED,
            "text-success": _GREEN,
            "primary-muted": "#0000aa",
            "border": "#ffffff",
            "border-blurred": "#555555",
            "block-cursor-background": "#0000aa",
            "block-cursor-foreground": "#ffffff",
            "block-cursor-blurred-background": "#555555",
            "footer-key-foreground": _CYAN,
            "scrollbar": "#0000aa",
            "scrollbar-background": "#000000",
        },
    ),
)


def usual_theme(colours: str | None) -> str:
    """Default theme for `colours`, Rich's name of the terminal's colour system, None without a terminal."""
    return SIXTEEN if colours == "standard" else THEMES[0].name


_NAMED = ("background", "text-error", "text-success", "text-warning", "text-primary", "text-secondary", "text-accent")
"""Theme colours for black, red, green, yellow, blue, magenta and cyan."""


def named_colours(theme: Theme) -> TerminalTheme:
    """Colours for the names that tables use, such as red: the theme's own, which are readable on its backgrounds."""
    known = {**theme.to_color_system().generate(), **theme.variables}
    eight = [Color.parse(known[name]).rgb for name in (*_NAMED, "foreground")]
    return TerminalTheme(eight[0], eight[-1], eight)
