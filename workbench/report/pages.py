"""A report as a page: self-contained HTML, or Markdown with plots in characters."""

from __future__ import annotations

import re
from pathlib import Path

from workbench.analysis.pictures import Picture, in_characters
from workbench.base import tables
from workbench.base.figures import grouped, unbroken
from workbench.base.secrets import describe_masking
from workbench.base.templates import templates
from workbench.base.version import __version__
from workbench.report.contents import ReportContents
from workbench.report.drawing import drawn, key
from workbench.report.sections import Section, clean, sections
from workbench.report.top import KINDS, Bars, Kind, bar_words, top

TEMPLATE = "page.html.jinja"


def html(report: ReportContents) -> str:
    """Return the report as HTML. The template escapes every text except the plots."""
    from markupsafe import Markup

    def draw(picture: Picture) -> Markup:
        return Markup(drawn(picture.lines, picture.levels, picture.marks, "call", picture.title))

    def legend(picture: Picture) -> list[tuple[Markup, str]]:
        return [(Markup(key(picture.lines, sign)), means) for sign, means in picture.legend]

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
    parts += [_sentence(head.receipt), "## What it comes to"]
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
