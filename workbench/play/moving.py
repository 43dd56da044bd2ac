"""A story as one animated SVG, without scripts and without fonts or pictures from elsewhere.

Rows that change at the same moments form a band. The states of a band lie side by side on a strip, and a key frame for
each state moves the strip to it. Blocks are drawn as shapes, so that they touch in any font. A viewer without
animations, or a user who prefers reduced motion, sees the last frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from rich.cells import cell_len

from workbench.play.colours import BACKGROUND, BOLD, COLOURS
from workbench.play.drawing import EIGHTHS, Row, drawn
from workbench.play.frames import Story

ACROSS, DOWN = 10, 20
"""Width and height of a cell in units of the SVG."""

_LEVELS = {sign: eighth for eighth, sign in enumerate(EIGHTHS)}
_SHADES = {"▒": 0.6, "▓": 0.85, "░": 0.3, "▚": 0.75, "◆": 1, "●": 1}
_SIGNS = ("◆", "●")
"""Signs that are drawn as shapes if there are several in a row, and as a letter if there is one."""

_LINES = {"━": 4, "─": 2}


def moving(story: Story, width: int = 100, height: int = 30) -> str:
    """Return the text of the SVG. It depends on nothing but the arguments."""
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
            styles.append(_moved(number, moves, at, width * ACROSS))
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


def _moved(number: int, moves: Sequence[tuple[float, int]], whole: float, wide: int) -> str:
    frames = "".join(f"{100 * at / whole:.2f}%{{transform:translate({-place * wide}px)}}" for at, place in moves)
    rest = f"transform:translate({-moves[-1][1] * wide}px)"
    return f".b{number}{{{rest};animation:k{number} {whole:.2f}s step-end infinite}}@keyframes k{number}{{{frames}}}"


def _bands(frames: Sequence[Sequence[Row]], height: int) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of the rows that change at the same moments."""

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
    """Yield the elements of a text of one style: shapes and letters."""
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
    """Return the path of adjacent blocks: one outline for each run of blocks from the bottom, a rectangle for each run
    of `▀`."""
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
