"""Plots as self-contained SVG: no scripts, and no fonts or styles from elsewhere.

Lines differ by dashes and by the letter at their end, not only by colour; several lines of one sign look the same, as
one line with gaps. Dots in a terminal are a pale line here, behind the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from workbench.analysis.plots import DOTTED, Level, PlotLine, round_numbers, shown_levels, thin
from workbench.base.figures import grouped

WIDTH, HEIGHT = 860, 320
LEFT, RIGHT, TOP, BOTTOM = 78, 24, 26, 36
LINE = 15
"""Height of a line of text."""

_COLOURS = ("#1f6feb", "#bf3989", "#1a7f37", "#9a6700", "#8250df", "#cf222e", "#0a7d91", "#57606a")
_DASHES = ("", "7 3", "2 3", "10 3 2 3", "4 4", "12 4", "1 4", "8 2 2 2 2 2")
_PALE = 'stroke="#8b949e" stroke-width="1.6" stroke-dasharray="2 3"'


def drawn(lines: Sequence[PlotLine], levels: Sequence[Level], marks: Mapping[int, str], x_name: str, title: str) -> str:
    """Return the plot as SVG. `marks` are signs above it, by x. A level far above every line is omitted."""
    last = max((x for line in lines for x, _ in line.points), default=1)
    most = max((y for line in lines for _, y in line.points), default=0)
    shown = shown_levels(levels, most)
    top = max([most * 1.05, *(level.value * 1.05 for level in shown), 1])

    def at(x: float, y: float) -> tuple[float, float]:
        across = LEFT + (x - 1) / max(last - 1, 1) * (WIDTH - LEFT - RIGHT)
        return across, HEIGHT - BOTTOM - y / top * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}" '
        'xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="13">',
        f"<title>{escape(title)}</title>",
    ]
    for value in round_numbers(0, top, 5):
        _, y = at(1, value)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#8884"/>')
        parts.append(_text(LEFT - 6, y + 4, grouped(value), anchor="end"))
    parts.append(_text(LEFT, HEIGHT - 12, "1"))
    parts.append(_text(WIDTH - RIGHT, HEIGHT - 12, f"{x_name} {grouped(last)}", anchor="end"))
    named_at = float("-inf")
    for level in sorted(shown, key=lambda level: -level.value):
        _, y = at(1, level.value)
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="currentColor" '
            'stroke-dasharray="6 4" stroke-opacity="0.7"/>'
        )
        # The name is above its line, or below it if the previous name is too close.
        named_at = y - 4 if y - 4 - named_at >= LINE else max(y, named_at) + LINE
        parts.append(_text(LEFT + 4, named_at, f"{level.name}: {grouped(level.value)}"))
    strokes = _strokes(lines)
    for line in sorted(lines, key=lambda line: line.sign != DOTTED):
        parts += _line(line, [at(x, y) for x, y in thin(line.points, 2 * WIDTH)], strokes[line.sign])
    for x, sign in marks.items():
        across, _ = at(x, 0)
        parts.append(f'<line x1="{across:.1f}" x2="{across:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="#8886"/>')
        parts.append(_text(across, TOP - 6, sign, anchor="middle"))
    return "".join([*parts, "</svg>"])


def key(lines: Sequence[PlotLine], sign: str) -> str:
    """Return the HTML of a sign in the legend: a piece of its line and its letter, or the mark itself."""
    stroke = _strokes(lines).get(sign)
    if stroke is None:
        return f"<b>{escape(sign)}</b>"
    piece = f'<svg class="key" viewBox="0 0 28 6" aria-hidden="true"><path d="M0 3H28" {stroke}/></svg>'
    return f"{piece}<b>{escape(sign)}</b>" if sign.isalnum() else piece


def _strokes(lines: Sequence[PlotLine]) -> dict[str, str]:
    """Return the SVG stroke attributes of the lines, by sign."""
    signs = dict.fromkeys(line.sign for line in lines if line.sign != DOTTED)
    drawn = {sign: _stroke(number) for number, sign in enumerate(signs)}
    return drawn | {line.sign: _PALE for line in lines if line.sign == DOTTED}


def _stroke(number: int) -> str:
    colour, dash = _COLOURS[number % len(_COLOURS)], _DASHES[number % len(_DASHES)]
    return f'stroke="{colour}" stroke-width="1.6"' + (f' stroke-dasharray="{dash}"' if dash else "")


def _line(line: PlotLine, places: Sequence[tuple[float, float]], stroke: str) -> list[str]:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    ends = [_text(places[-1][0] + 4, places[-1][1] + 4, line.sign)] if places and line.sign.isalnum() else []
    return [f'<polyline points="{points}" fill="none" {stroke}/>', *ends]


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="currentColor">{escape(text)}</text>'
