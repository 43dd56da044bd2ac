"""Lines that know their messages, grouped in sections, and how they are made to fit into a number of characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from msgspec import Struct

from workbench.base.text import clip_at_word

SHORTEST = 48
"""A line is not cut to fewer characters than this; it is left out instead."""

WORTHWHILE = 100
"""A heading stands only where its section can have this many characters."""


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """One line of a summary. The higher its `rank`, the longer it stays when room is short. `done`: it tells of
    something that was finished and that succeeded."""

    text: str
    origins: tuple[str, ...] = ()
    rank: float = 0.0
    done: bool = False


class LineGroup(Struct, frozen=True):
    """A heading and its lines, in the order in which they are shown. `omitted` counts lines already left out.

    `share` is the section's part of the room relative to the others'; room that one does not need goes to the rest.
    `keep`: the heading stands even when nothing of it fits. `heading` "" gives none.
    """

    heading: str
    lines: tuple[SummaryLine, ...]
    share: float = 1.0
    omitted: int = 0
    keep: bool = False
    bullet: str = "- "

    @property
    def overhead(self) -> int:
        return len(self.heading) + 2 if self.heading else 0

    def need(self, more: str) -> int:
        """Characters that all of it takes, line ends and the count of what is missing already included."""
        note = len(self.bullet) + len(more.format(n=self.omitted)) + 1 if self.omitted else 0
        return sum(len(line.text) + 1 for line in self.lines) + note


def fit_lines(sections: Sequence[LineGroup], max_chars: int, more: str) -> list[SummaryLine]:
    """The sections' lines with headings, as text of at most `max_chars` characters when joined by newlines.

    Every section gets a fair share; inside it the lines of the highest rank stay, in their order, and a last line made
    from `more` says how many were left out. Where not even the headings leave room for words, the sections with the
    smallest share go. With room for all, nothing is left out.
    """
    held = _affordable([s for s in sections if s.lines or s.omitted or s.keep], max_chars)
    room = max_chars - sum(section.overhead for section in held)
    shares = _fair_shares([(section.share, section.need(more)) for section in held], room)
    out: list[SummaryLine] = []
    for section, share in zip(held, shares, strict=True):
        body = _choose_lines(section, share, more)
        if not body and not section.keep:
            continue
        if section.heading:
            if out:
                out.append(SummaryLine(""))
            out.append(SummaryLine(section.heading))
        out.extend(body)
    return _cut(out, max_chars)


def _affordable(sections: Sequence[LineGroup], max_chars: int) -> list[LineGroup]:
    """Without the least important sections, where not even their headings would leave room for words."""
    held = list(sections)
    while held and sum(s.overhead + WORTHWHILE for s in held) > max_chars:
        least = min((s for s in held if not s.keep), key=lambda s: s.share, default=None)
        if least is None:
            break
        held.remove(least)
    return held


def _fair_shares(wishes: Sequence[tuple[float, int]], room: int) -> list[int]:
    """Room divided by share, for (share, need) pairs; what one does not need is divided again among the others."""
    given = [0] * len(wishes)
    waiting = list(range(len(wishes)))
    left = max(0, room)
    while waiting:
        total = sum(wishes[i][0] for i in waiting)
        content = [i for i in waiting if wishes[i][1] <= left * wishes[i][0] / total]
        if not content:
            for i in waiting:
                given[i] = int(left * wishes[i][0] / total)
            break
        for i in content:
            given[i] = wishes[i][1]
        left -= sum(given[i] for i in content)
        waiting = [i for i in waiting if i not in content]
    return given


def _choose_lines(section: LineGroup, room: int, more: str) -> list[SummaryLine]:
    lines = section.lines
    whole = not section.omitted and section.need(more) <= room
    left = room if whole else room - len(section.bullet) - len(more.format(n=len(lines) + section.omitted)) - 1
    taken: dict[int, SummaryLine] = {}
    for number in sorted(range(len(lines)), key=lambda i: -lines[i].rank):
        line = lines[number]
        if len(line.text) + 1 > left:
            if left <= max(SHORTEST, len(line.text) * 2 // 5) and taken:
                continue
            if left <= SHORTEST // 2:
                continue
            line = replace(line, text=shorten_line(line.text, left - 1))
        taken[number] = line
        left -= len(line.text) + 1
    chosen = [taken[number] for number in sorted(taken)]
    lost = len(lines) - len(chosen) + section.omitted
    if lost and (chosen or not lines):
        origins = tuple(dict.fromkeys(id for n, line in enumerate(lines) if n not in taken for id in line.origins))
        chosen.append(SummaryLine(section.bullet + more.format(n=lost), origins))
    return chosen


def shorten_line(line: str, limit: int) -> str:
    """A line cut at a word with `…`, its indentation kept."""
    indent = line[: len(line) - len(line.lstrip())]
    return indent + clip_at_word(line, limit - len(indent))


def _cut(lines: Sequence[SummaryLine], max_chars: int) -> list[SummaryLine]:
    """The last resort for tiny budgets: whole lines as long as they fit, the last one shortened."""
    out: list[SummaryLine] = []
    left = max_chars + 1
    for line in lines:
        if len(line.text) + 1 > left:
            if left > 2:
                out.append(replace(line, text=shorten_line(line.text, left - 1)))
            break
        out.append(line)
        left -= len(line.text) + 1
    while out and not out[-1].text:
        out.pop()
    return out
