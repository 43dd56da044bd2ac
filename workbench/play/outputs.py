"""A story as a file or as text: a terminal recording (asciicast version 2), an animated SVG, and lines for a pipe.

Recording and SVG have the colours of the workbench's dark theme. They depend on nothing but the story and the size, and
take their times from the story. The SVG has no scripts, and loads no fonts or pictures. Rows that change at the same
moments form a band: its states lie side by side on a strip, and a key frame moves the strip at each change. Blocks are
drawn as shapes, so that they touch in any font. Without animations, or with reduced motion, the last frame is shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from rich.cells import cell_len

from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.play.drawing import EIGHTHS, Row, drawn, rule_words
from workbench.play.frames import Lane, Story

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


_HIDE, _SHOW, _RESET = "\x1b[?25l", "\x1b[?25h", "\x1b[0m"


def asciicast(story: Story, width: int = 100, height: int = 30) -> str:
    """Return the recording as text: JSON lines with a header, an event per frame, and one at the end. `width` and
    `height` are in cells."""
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


ACROSS, DOWN = 10, 20
"""Width and height of a cell in units of the SVG."""

_LEVELS = {sign: eighth for eighth, sign in enumerate(EIGHTHS)}
_SHADES = {"▒": 0.6, "▓": 0.85, "░": 0.3, "▚": 0.75, "◆": 1, "●": 1}
_SIGNS = ("◆", "●")
"""Signs of which several in a row are drawn as one rectangle; a single one is drawn as text."""

_LINES = {"━": 4, "─": 2}


def animated_svg(story: Story, width: int = 100, height: int = 30) -> str:
    """Return the SVG as text. `width` and `height` are in cells. The animation repeats without end."""
    frames = [drawn(story, number, width, height) for number in range(len(story.frames))]
    starts, at = [], 0.0
    for frame in story.frames:
        starts.append(at)
        at += frame.seconds
    styles, bands = [_css()], []
    for number, (top, stop) in enumerate(_bands(frames, height)):
        shown: dict[str, int] = {}
        moves: list[tuple[float, int]] = []
        for start, rows in zip(starts, frames, strict=True):
            place = shown.setdefault("".join(_band(rows[top:stop])), len(shown))
            if not moves or moves[-1][1] != place:
                moves.append((start, place))
        strip = "".join(
            f'<svg x="{place * width * ACROSS}">{band}</svg>' if place else band for band, place in shown.items()
        )
        if len(moves) > 1:
            styles.append(_band_animation(number, moves, at, width * ACROSS))
        bands.append(f'<svg y="{top * DOWN}" height="{(stop - top) * DOWN}"><g class="b{number}">{strip}</g></svg>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width * ACROSS} {height * DOWN}" '
        f'width="{width * ACROSS}" height="{height * DOWN}" role="img"><title>{escape(story.note)}</title>'
        f'<style>{"".join(styles)}</style><rect width="100%" height="100%" rx="12" fill="{BACKGROUND}"/>'
        f"{''.join(bands)}</svg>\n"
    )


def _css() -> str:
    """Return the style sheet: a class for each style. Texts use a monospaced font of the viewer's machine."""
    font = "font:16.5px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre"
    rules = [f"text{{{font}}}", "@media (prefers-reduced-motion:reduce){g{animation:none!important}}"]
    for name, colour in COLOURS.items():
        rules.append(f".{_CLASSES[name]}{{fill:{colour}{';font-weight:bold' if name in BOLD else ''}}}")
    return "".join(rules)


_CLASSES = {name: f"s{number}" for number, name in enumerate(COLOURS)}


def _band_animation(number: int, moves: Sequence[tuple[float, int]], whole: float, wide: int) -> str:
    frames = "".join(f"{100 * at / whole:.2f}%{{transform:translate({-place * wide}px)}}" for at, place in moves)
    rest = f"transform:translate({-moves[-1][1] * wide}px)"
    return f".b{number}{{{rest};animation:k{number} {whole:.2f}s step-end infinite}}@keyframes k{number}{{{frames}}}"


def _bands(frames: Sequence[Sequence[Row]], height: int) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of adjacent rows that change at the same frames, from the top down; together all rows."""

    def changes(y: int) -> tuple[int, ...]:
        return tuple(number for number in range(1, len(frames)) if frames[number][y] != frames[number - 1][y])

    for _, rows in groupby(range(height), key=changes):
        together = list(rows)
        yield together[0], together[-1] + 1


def _band(rows: Sequence[Row]) -> Iterator[str]:
    for y, row in enumerate(rows):
        x = 0
        for text, style in row:
            yield from _run(text, x, y * DOWN, _CLASSES[style])
            x += cell_len(text) * ACROSS


def _run(text: str, x: int, y: int, style: str) -> Iterator[str]:
    """Yield the SVG elements of a text of one style at (`x`, `y`): shapes and texts. `style` is a CSS class."""
    for kind, signs in groupby(text, key=_kind):
        part = "".join(signs)
        wide = cell_len(part) * ACROSS
        if kind == "blocks" and part.strip():
            yield f'<path class="{style}" d="{_outline(part, x, y)}"/>'
        elif kind in _SHADES and (kind not in _SIGNS or len(part) > 1):
            yield f'<rect class="{style}" x="{x}" y="{y}" width="{wide}" height="{DOWN}" opacity="{_SHADES[kind]}"/>'
        elif kind in _LINES:
            high = _LINES[kind]
            yield f'<rect class="{style}" x="{x}" y="{y + (DOWN - high) // 2}" width="{wide}" height="{high}"/>'
        elif kind in (*_SIGNS, "text") and part.strip():
            bare = part.strip()
            at = x + (cell_len(part) - cell_len(part.lstrip())) * ACROSS
            yield (
                f'<text class="{style}" x="{at}" y="{y + 15}" textLength="{cell_len(bare) * ACROSS}">'
                f"{escape(bare, quote=False)}</text>"
            )
        x += wide


def _kind(sign: str) -> str:
    if sign in _SHADES or sign in _LINES:
        return sign
    return "blocks" if sign in _BLOCKS else "text"


_BLOCKS = frozenset("▁▂▃▄▅▆▇█▀")


def _outline(part: str, x: int, y: int) -> str:
    """Return the SVG path of adjacent blocks: a rectangle for each run of `▀`, an outline for each run of other
    blocks."""
    drawn: list[str] = []
    for upper, signs in groupby(part, key="▀".__eq__):
        several = list(signs)
        if upper:
            drawn.append(f"M{x} {y}h{len(several) * ACROSS}v{DOWN // 2}h-{len(several) * ACROSS}z")
        else:
            tops = ((sign, len(list(same))) for sign, same in groupby(several))
            path = "".join(f"V{y + DOWN - _LEVELS[sign] * DOWN / 8:g}h{count * ACROSS}" for sign, count in tops)
            drawn.append(f"M{x} {y + DOWN}{path}V{y + DOWN}z")
        x += len(several) * ACROSS
    return "".join(drawn)


def story_lines(story: Story) -> Iterator[str]:
    """Yield the story as lines of text: its note, then for each scene a blank line, its title and its last frame."""
    yield story.note
    for title, frames in groupby(story.frames, key=lambda frame: frame.title):
        *_, last = frames
        yield ""
        yield title
        yield from last.says
        yield from (_lane_line(lane) for lane in last.lanes if lane.call)


def _lane_line(lane: Lane) -> str:
    words = [f"{lane.name}: ~{grouped(lane.tokens)} tokens at call {grouped(lane.call)}"]
    words += [f"compacted {counted(lane.compactions, 'time')}"] if lane.compactions else []
    words += [lane.cost] if lane.cost else []
    if lane.rule:
        words.append(f"“{lane.rule.text}” {rule_words(lane.rule)[0]}")
    return " · ".join(words)
