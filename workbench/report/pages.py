"""A report as a page: self-contained HTML with plots as SVG, or Markdown with plots in characters.

A plot has no scripts, and no fonts or styles from elsewhere. Its lines differ by dashes and by the letter at their end,
not only by colour; several lines of one sign look the same, as one line with gaps. The line that a
terminal draws with dots is pale here, and behind the others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from workbench.analysis.pictures import Picture, in_characters
from workbench.analysis.plots import DOTTED, Level, PlotLine, round_numbers, shown_levels, thin
from workbench.base import tables
from workbench.base.figures import grouped, unbroken
from workbench.base.secrets import describe_masking
from workbench.base.templates import templates
from workbench.base.version import __version__
from workbench.report.contents import ReportContents
from workbench.report.sections import Section, clean, sections
from workbench.report.top import KINDS, Bars, Kind, bar_words, top

TEMPLATE = "page.html.jinja"


def html(report: ReportContents) -> str:
    """Return the report as HTML. The template escapes every text except the plots."""
    from markupsafe import Markup

    def draw(picture: Picture) -> Markup:
        return Markup(svg_plot(picture.lines, picture.levels, picture.marks, "call", picture.title))

    def legend(picture: Picture) -> list[tuple[Markup, str]]:
        return [(Markup(legend_key(picture.lines, sign)), means) for sign, means in picture.legend]

    environment = templates(Path(__file__).parent)
    environment.filters["whole"] = unbroken
    page = environment.get_template(TEMPLATE)
    return page.render(
        title=_title(report),
        top=top(report),
        sections=sections(report),
        draw=draw,
        legend=legend,
        bar_words=bar_words,
        kinds=KINDS,
        grouped=grouped,
        version=__version__,
        masks=describe_masking(),
    )


def markdown(report: ReportContents) -> str:
    """Return the report as Markdown."""
    head = top(report)
    parts = [f"# {tables.escaped(_title(report))}", f"**{_sentence(head.verdict)}**", _in_characters(head.hero)]
    parts += [_sentence(head.receipt), "## Findings"]
    found = (f"{number}. {card.title}. {_sentence(card.text)}" for number, card in enumerate(head.cards, 1))
    parts.append("\n".join(found))
    for section in sections(report):
        parts += [f"## {section.title}", *_paragraphs(section)]
    parts.append(tables.escaped(f"Made by compaction-workbench {__version__}. {describe_masking()}"))
    return "\n\n".join(parts) + "\n"


def _sentence(text: str) -> str:
    """Escape a sentence for Markdown, with non-breaking spaces in its figures."""
    return tables.escaped(unbroken(text))


def _title(report: ReportContents) -> str:
    session = report.bench.session
    return f"Compaction report: {clean(session.title or (session.path.name if session.path else session.id))}"


def _paragraphs(section: Section) -> list[str]:
    parts = [_sentence(sentence) for sentence in section.words]
    if section.bars is not None:
        parts.append(_in_characters(section.bars))
    if section.picture is not None:
        parts.append(_fenced("\n".join(in_characters(section.picture))))
    if section.table is not None and section.table.rows:
        parts.append(tables.markdown(section.table))
    if section.code:
        parts.append(_fenced(section.code))
    return parts


WIDE = 60
"""Width of a full bar in characters."""

_SIGNS: dict[Kind, str] = {"before": "▒", "summary": "◆", "head": "█", "pins": "●", "tail": "▓"}


def _in_characters(bars: Bars) -> str:
    """Return a code block of bars on one scale, each with its label, and a legend of the signs."""
    names = max(len(row.name) for row in bars.rows)
    lines = []
    for row in bars.rows:
        drawn, reached = "", 0
        for segment in row.segments:
            reached += segment.tokens
            drawn += _SIGNS[segment.kind] * max(1, round(reached / bars.scale * WIDE) - len(drawn))
        lines.append(f"{row.name.ljust(names)}  {drawn[:WIDE].ljust(WIDE, '░')}  {bar_words(row, bars)}")
        lines += [f"{' ' * names}  {row.note}"] if row.note else []
    return _fenced("\n".join([*lines, "   ".join(f"{_SIGNS[kind]} {KINDS[kind]}" for kind in bars.kinds)]))


def _fenced(text: str) -> str:
    """Return a code block with a fence that no line of `text` can close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text.rstrip()}\n{fence}"


WIDTH, HEIGHT = 860, 320
LEFT, RIGHT, TOP, BOTTOM = 78, 24, 26, 36
LINE = 15
"""Height of a line of text."""

_COLOURS = ("#1f6feb", "#bf3989", "#1a7f37", "#9a6700", "#8250df", "#cf222e", "#0a7d91", "#57606a")
_DASHES = ("", "7 3", "2 3", "10 3 2 3", "4 4", "12 4", "1 4", "8 2 2 2 2 2")
_PALE = 'stroke="#8b949e" stroke-width="1.6" stroke-dasharray="2 3"'


def svg_plot(
    lines: Sequence[PlotLine], levels: Sequence[Level], marks: Mapping[int, str], x_name: str, title: str
) -> str:
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


def legend_key(lines: Sequence[PlotLine], sign: str) -> str:
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
