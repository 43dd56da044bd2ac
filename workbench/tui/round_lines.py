"""Lines of the rounds list as styled cells. Pure.

A cell is (text, style name); the list turns style names into colours. A line names the fate of its messages only if it
differs from the usual fate on that side of the split.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from rich.cells import cell_len

from workbench.analysis.search import Query, match_spans
from workbench.base.figures import short
from workbench.compaction.outcome import Outcome
from workbench.session import Span
from workbench.tui.plain import bar, clock, figure, fit, several
from workbench.tui.rows import FATE_WORDS, Groups, ListRow, group_fate, message_fate, role_word

Cells = list[tuple[str, str]]

STYLES = ("dim", "number", "bar", "split", "hit")


@dataclass(frozen=True)
class RoundsDrawing:
    """Data that the list draws: the rounds of a context and the fates of their messages.

    `outcome` is None until the first plan is ready. `movable`: the user can move the split. `split_text` is the
    strategy's own text for the line of the split, "" without one.
    """

    groups: Groups
    outcome: Outcome | None
    pins: frozenset[str]
    movable: bool = True
    split_text: str = ""

    @property
    def split_at(self) -> int | None:
        """Index of the message above which the split is drawn; None if none is drawn."""
        if self.outcome is None:
            return None
        above, below = self.outcome.usual_fates
        return self.outcome.split if self.movable or above is not below else None


@dataclass(frozen=True, slots=True)
class Columns:
    """Widths of the columns in cells. `lead` is everything before the words, with the `times`."""

    lead: int
    times: int
    words: int
    counts: int
    tokens: int
    bars: int


def columns(width: int) -> Columns:
    """Widths of the columns in a line of `width` cells. The words get what the others leave."""
    roomy = width >= ROOMY
    times, counts = (7, 6) if roomy else (0, 0)
    bars = 4 if width < SHORT_BARS else 8 if width < LONG_BARS else 12
    lead, tokens = 8 + times, 8
    return Columns(lead, times, max(0, width - lead - counts - tokens - 2 - bars - 1), counts, tokens, bars)


ROOMY, SHORT_BARS, LONG_BARS = 66, 70, 110
"""Widths of a line in cells: from `ROOMY` times and counts are shown; bars are short below `SHORT_BARS`, long from
`LONG_BARS`."""


def heading_cells(width: int) -> Cells:
    """Headings of the columns."""
    at = columns(width)
    time = fit("time", at.times)
    count = "msgs".rjust(at.counts) if at.counts else ""
    words = f" {'round':>5}  {time}{fit('request', at.words)}{count}{'tokens':>{at.tokens}}"
    return [(fit(words, width), "dim")]


def header_cells(drawn: RoundsDrawing, row: ListRow, width: int, *, is_open: bool) -> Cells:
    """Line of a round: number, time, first words, fate if unusual, number of messages, tokens, bar."""
    groups, layout = drawn.groups, drawn.groups.layout
    span, at = groups.spans[row.group], columns(width)
    tokens = layout.tokens[span.stop] - layout.tokens[span.start]
    label = groups.label(row.group)
    words = groups.words(span.start)
    if label == "pre":
        words = f"before round 1: {words}"
    time = fit(clock(layout.messages[span.start].time), at.times)
    lead = [("▾" if is_open else "▸", "dim"), (f"{label:>5}  ", "number"), (time, "dim")]
    fate = group_fate(drawn.outcome, span) if drawn.outcome else ""
    return _cells(drawn, span, at, lead, words, tokens, fate, figure(len(span)))


def message_cells(drawn: RoundsDrawing, row: ListRow, width: int) -> Cells:
    """Line of a message in an open round: role, first words, fate if unusual, tokens, bar."""
    groups, layout = drawn.groups, drawn.groups.layout
    message, at = layout.messages[row.index], columns(width)
    tokens = layout.tokens[row.index + 1] - layout.tokens[row.index]
    mark = ("  ● ", "number") if message.id in drawn.pins else ("  └ " if row.last else "  ├ ", "dim")
    role = max(8, at.lead - len(mark[0]))
    lead = [mark, (fit(role_word(message), role), "dim")]
    at = replace(at, words=at.words - (role + len(mark[0]) - at.lead))
    span = Span(row.index, row.index + 1)
    fate = message_fate(drawn.outcome, row.index) if drawn.outcome else ""
    return _cells(drawn, span, at, lead, groups.words(row.index), tokens, fate)


def split_cells(drawn: RoundsDrawing, width: int) -> Cells:
    words = f"═══ {split_words(drawn)} "
    return [(fit(words, width) if cell_len(words) > width else words + "═" * (width - cell_len(words)), "split")]


def split_words(drawn: RoundsDrawing) -> str:
    """Text of the split line: the strategy's own text, else the amounts above and below with their usual fates. "" if
    there is no plan yet."""
    if drawn.split_text or drawn.outcome is None:
        return drawn.split_text
    groups, split = drawn.groups, drawn.outcome.split
    messages = len(groups.layout.messages)
    above, below = (FATE_WORDS[fate] for fate in drawn.outcome.usual_fates)
    if split <= 0:
        return f"everything below is {below}"
    if split >= messages:
        return f"everything above is {above}"
    group = groups.group_of(split)
    inside = split - groups.spans[group].start
    rounds = group - groups.has_preamble
    if rounds <= 0:
        head = several(split, "message")
    else:
        head = several(rounds, "round") + (f" + {several(inside, 'message')}" if inside else "")
    return f"{head} {above} above · {several(messages - split, 'message')} {below} below"


def _cells(
    drawn: RoundsDrawing, span: Span, at: Columns, lead: Cells, words: str, tokens: int, fate: str, count: str = ""
) -> Cells:
    """Cells of a line: lead, words, fate, number of messages, tokens, bar."""
    tag = f"  {fate}" if fate else ""
    return [
        *lead,
        (fit_call(words, at.words - cell_len(tag)), ""),
        (tag, "number"),
        (count.rjust(at.counts)[: at.counts], "dim"),
        (f"{drawn.groups.basis_of(span).value + short(tokens):>{at.tokens}}  ", ""),
        (bar(tokens / drawn.groups.largest_group, at.bars) + " ", "bar"),
    ]


_CALL_OF_A_PATH = re.compile(r"(\S+ )(\S*/\S+?)( \(\+\d+\))?")

LEAST_OF_A_PATH = 8
"""Minimum width in cells of the end of a path. With less room, the end of the words is cut instead."""


def fit_call(words: str, width: int) -> str:
    """Fit `words` to exactly `width` cells. The path of a call is cut at its beginning, which most files share."""
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


def mark_hits(cells: Cells, query: Query) -> Cells:
    """Mark a line that a search found: `»` before its words, and a style for the matches. The width does not change."""
    at = next(number for number, (_, style) in enumerate(cells) if not style)
    words = cells[at][0]
    parts: Cells = []
    end = 0
    for start, stop in match_spans(query, words):
        parts += [(words[end:start], ""), (words[start:stop], "hit")]
        end = stop
    parts.append((words[end:], ""))
    text, style = cells[at - 1]
    before: Cells = [(text[:-1], style), ("»", "hit")] if text.endswith(" ") else [(text, style)]
    return [*cells[: at - 1], *before, *parts, *cells[at + 1 :]]
