"""A story as a terminal recording in asciicast version 2: a header, then a line for each frame with its time.

The line of a frame contains only the rows that changed. Times are those of the story, not of a clock.
"""

from __future__ import annotations

import json

from workbench.play.colours import BACKGROUND, BOLD, COLOURS
from workbench.play.drawing import Row, drawn
from workbench.play.frames import Story

_HIDE, _SHOW, _RESET = "\x1b[?25l", "\x1b[?25h", "\x1b[0m"


def cast(story: Story, width: int = 100, height: int = 30) -> str:
    """Return the text of the recording. It depends on nothing but the arguments."""
    lines = [json.dumps({"version": 2, "width": width, "height": height, "title": story.note}, ensure_ascii=False)]
    before: list[Row] = [[] for _ in range(height)]
    at = 0.0
    for number, frame in enumerate(story.frames):
        rows = drawn(story, number, width, height)
        changed = [_typed(y, row) for y, (row, old) in enumerate(zip(rows, before, strict=True)) if row != old]
        begin = f"{_HIDE}\x1b[2J" if number == 0 else ""
        lines.append(_event(at, begin + "".join(changed)))
        before, at = rows, at + frame.seconds
    # No line feed after the last row: it would scroll the first row out of sight.
    lines.append(_event(at, f"{_RESET}\x1b[{height};1H{_SHOW}"))
    return "\n".join(lines) + "\n"


def _event(at: float, text: str) -> str:
    return json.dumps([round(at, 3), "o", text], ensure_ascii=False)


def _typed(y: int, row: Row) -> str:
    runs = "".join(f"{_style(style)}{text}" for text, style in row)
    return f"\x1b[{y + 1};1H{runs}{_RESET}"


def _style(name: str) -> str:
    bold = "1;" if name in BOLD else ""
    return f"\x1b[0;{bold}38;2;{_rgb(COLOURS[name])};48;2;{_rgb(BACKGROUND)}m"


def _rgb(colour: str) -> str:
    return ";".join(str(int(colour[place : place + 2], 16)) for place in (1, 3, 5))
