"""The lines of the rounds list as styled cells: pure, so that they can be read without a screen.

A cell is (text, style name); the list turns names into colours. Every fate is shown by glyph, word and colour.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from workbench.analysis.search import Query, marks
from workbench.base.figures import short
from workbench.compaction.outcome import Fate, Outcome
from workbench.session import Span
from workbench.tui.plain import bar, clock, figure, fit, several
from workbench.tui.rows import WORDS, Groups, Row, group_fate, role_word

Cells = list[tuple[str, str]]

STYLES = (*(fate.value for fate in Fate), "dim", "number", "split", "hit")


@dataclass(frozen=True)
class Drawn:
    """What the list draws: the context's rounds and what would become of them.

    `movable`: whether the strategy has a split to draw; `split`: what its line says, in the strategy's own units.
    """

    groups: Groups
    outcome: Outcome
    pins: frozenset[str]
    movable: bool = True
    split: str = ""


def header_cells(drawn: Drawn, row: Row, width: int, *, is_open: bool) -> Cells:
    """A round: number, time, first words, calls, tokens, bar, what becomes of it."""
    groups, layout = drawn.groups, drawn.groups.layout
    span = groups.spans[row.group]
    tokens = layout.tokens[span.stop] - layout.tokens[span.start]
    first = layout.messages[span.start]
    calls = groups.calls[span.stop] - groups.calls[span.start]
    label = groups.label(row.group)
    words = groups.words(span.start)
    if label == "pre":
        words = f"before round 1 ({figure(len(span))}): {words}"
    times = 6 if width >= 70 else 0
    lead = [("▾" if is_open else "▸", "dim"), (f"{label:>4} ", "number"), (fit(clock(first.time), times), "dim")]
    share = tokens / groups.largest_group
    fated = group_fate(drawn.outcome, span)
    return _cells(drawn, span, width, lead, words, tokens, share, fated, calls)


def message_cells(drawn: Drawn, row: Row, width: int) -> Cells:
    """A message of an opened round: role, first words, tokens, bar, fate."""
    groups, layout = drawn.groups, drawn.groups.layout
    message = layout.messages[row.index]
    tokens = layout.tokens[row.index + 1] - layout.tokens[row.index]
    fate = drawn.outcome.fate_at(row.index).fate
    mark = (" ● ", Fate.PINNED.value) if message.id in drawn.pins else (" └ " if row.last else " ├ ", "dim")
    lead = [mark, (fit(role_word(message), 8), "dim")]
    span = Span(row.index, row.index + 1)
    share = tokens / groups.largest_group
    fated = (fate, WORDS[fate])
    return _cells(drawn, span, width, lead, groups.words(row.index), tokens, share, fated)


def split_cells(drawn: Drawn, width: int) -> Cells:
    text = f" {split_words(drawn)} "
    rest = max(0, width - len(text))
    return [(fit("━" * (rest // 2) + text + "━" * (rest - rest // 2), width), "split")]


def split_words(drawn: Drawn) -> str:
    """What the split line says: how much stands above it and below, in rounds where no other words are given."""
    if drawn.split:
        return f"split: {drawn.split}"
    groups, split = drawn.groups, drawn.outcome.split
    messages = len(groups.layout.messages)
    if split <= 0:
        return "split: nothing above is compacted"
    if split >= messages:
        return f"split: all {several(messages, 'message')} ▸ summary · none kept"
    group = groups.group_of(split)
    inside = split - groups.spans[group].start
    rounds = group - groups.has_preamble
    if rounds <= 0:
        above = several(split, "message")
    else:
        above = several(rounds, "round") + (f" + {figure(inside)} msg" if inside else "")
    return f"split: {above} ▸ summary · {figure(messages - split)} msg kept"


def _cells(
    drawn: Drawn,
    span: Span,
    width: int,
    lead: Cells,
    words: str,
    tokens: int,
    share: float,
    fated: tuple[Fate, str],
    calls: int | None = None,
) -> Cells:
    """Lead, words (as wide as is left), calls (of a round), tokens, bar, fate."""
    bars = 4 if width < 64 else 8 if width < 90 else 12
    counted = "" if calls is None else f"{calls or '':>5}"
    used = sum(len(text) for text, _ in lead) + len(counted) + 8 + bars + 1 + 11
    fate, word = fated
    return [
        *lead,
        (fit_call(words, width - used), ""),
        (counted, "dim"),
        (f"{drawn.groups.basis_of(span).value + short(tokens):>7} ", ""),
        (bar(share, bars) + " ", fate.value),
        (f"{fate.glyph} {fit(word, 8)} ", fate.value),
    ]


_CALL_OF_A_PATH = re.compile(r"(\S+ )(\S*/\S+?)( \(\+\d+\))?")

LEAST_OF_A_PATH = 8
"""Cells in which the end of a path still tells something."""


def fit_call(words: str, width: int) -> str:
    """`words` in exactly `width` cells. Of a call's path the end is shown: the beginning is every file's."""
    found = _CALL_OF_A_PATH.fullmatch(words)
    if found is None or len(words) <= width:
        return fit(words, width)
    name, path, more = found[1], found[2], found[3] or ""
    room = width - len(name) - len(more) - 1
    if room < LEAST_OF_A_PATH:
        return fit(words, width)
    end = path[-room:]
    folder = end.find("/")
    return fit(f"{name}…{end[folder:] if 0 <= folder < room // 2 else end}{more}", width)


def marked(cells: Cells, query: Query) -> Cells:
    """The line of a hit: `»` before its words, and what matches of them marked. As wide as it was."""
    at = next(number for number, (_, style) in enumerate(cells) if not style)
    words = cells[at][0]
    parts: Cells = []
    end = 0
    for start, stop in marks(query, words):
        parts += [(words[end:start], ""), (words[start:stop], "hit")]
        end = stop
    parts.append((words[end:], ""))
    text, style = cells[at - 1]
    before: Cells = [(text[:-1], style), ("»", "hit")] if text.endswith(" ") else [(text, style)]
    return [*cells[: at - 1], *before, *parts, *cells[at + 1 :]]
