"""Lines of a summary with their messages, in groups, and how they are fitted into a number of characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from msgspec import Struct

from workbench.base.text import clip_at_word

SHORTEST = 48
"""Minimum length of a cut line, in characters; a shorter one is omitted."""

WORTHWHILE = 100
"""Minimum room of a group for its heading to appear, in characters."""


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """One line of a summary. A higher `rank` is kept longer when room is short. `done`: the line reports something
    finished successfully."""

    text: str
    origins: tuple[str, ...] = ()
    rank: float = 0.0
    done: bool = False


class LineGroup(Struct, frozen=True):
    """A heading and its lines in display order. `omitted` counts lines already left out.

    `share` is the group's part of the room relative to others; unused room goes to the rest. `keep`: the heading
    appears even if no line fits. An empty `heading` shows none.
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
        """Return the characters that all lines need, including line ends and the note of omitted lines."""
        note = len(self.bullet) + len(more.format(n=self.omitted)) + 1 if self.omitted else 0
        return sum(len(line.text) + 1 for line in self.lines) + note


def fit_lines(sections: Sequence[LineGroup], max_chars: int, more: str) -> list[SummaryLine]:
    """Return headings and lines that fit into `max_chars` when joined by newlines.

    Each group gets its share. Within it the lines of highest rank stay in order, and a last line made from `more`
    counts the omitted ones. If the headings leave no room, the groups with the smallest shares are dropped. With enough
    room nothing is omitted.
    """
    affordable = _affordable([s for s in sections if s.lines or s.omitted or s.keep], max_chars)
    room = max_chars - sum(section.overhead for section in affordable)
    shares = _fair_shares([(section.share, section.need(more)) for section in affordable], room)
    out: list[SummaryLine] = []
    for section, share in zip(affordable, shares, strict=True):
        body = _choose_lines(section, share, more)
        if not body and not section.keep:
            continue
        if section.heading:
            if out:
                out.append(SummaryLine(""))
            out.append(SummaryLine(section.heading))
        out.extend(body)
    return _cut_to_fit(out, max_chars)


def _affordable(sections: Sequence[LineGroup], max_chars: int) -> list[LineGroup]:
    """Return the groups without the least important ones, whose headings would leave no room for lines."""
    affordable = list(sections)
    while affordable and sum(s.overhead + WORTHWHILE for s in affordable) > max_chars:
        least = min((s for s in affordable if not s.keep), key=lambda s: s.share, default=None)
        if least is None:
            break
        affordable.remove(least)
    return affordable


def _fair_shares(wishes: Sequence[tuple[float, int]], room: int) -> list[int]:
    """Divide the room by share for (share, need) pairs; unneeded room is divided again among the others."""
    rooms = [0] * len(wishes)
    waiting = list(range(len(wishes)))
    left = max(0, room)
    while waiting:
        total = sum(wishes[i][0] for i in waiting)
        content = [i for i in waiting if wishes[i][1] <= left * wishes[i][0] / total]
        if not content:
            for i in waiting:
                rooms[i] = int(left * wishes[i][0] / total)
            break
        for i in content:
            rooms[i] = wishes[i][1]
        left -= sum(rooms[i] for i in content)
        waiting = [i for i in waiting if i not in content]
    return rooms


def _choose_lines(section: LineGroup, room: int, more: str) -> list[SummaryLine]:
    lines = section.lines
    whole = not section.omitted and section.need(more) <= room
    left = room if whole else room - len(section.bullet) - len(more.format(n=len(lines) + section.omitted)) - 1
    selected: dict[int, SummaryLine] = {}
    for number in sorted(range(len(lines)), key=lambda i: -lines[i].rank):
        line = lines[number]
        if len(line.text) + 1 > left:
            if left <= max(SHORTEST, len(line.text) * 2 // 5) and selected:
                continue
            if left <= SHORTEST // 2:
                continue
            line = replace(line, text=shorten_line(line.text, left - 1))
        selected[number] = line
        left -= len(line.text) + 1
    chosen = [selected[number] for number in sorted(selected)]
    lost = len(lines) - len(chosen) + section.omitted
    if lost and (chosen or not lines):
        origins = tuple(dict.fromkeys(id for n, line in enumerate(lines) if n not in selected for id in line.origins))
        chosen.append(SummaryLine(section.bullet + more.format(n=lost), origins))
    return chosen


def shorten_line(line: str, limit: int) -> str:
    """Cut a line at a word with `…`, keeping its indentation."""
    indent = line[: len(line) - len(line.lstrip())]
    return indent + clip_at_word(line, limit - len(indent))


def _cut_to_fit(lines: Sequence[SummaryLine], max_chars: int) -> list[SummaryLine]:
    """Return complete lines as long as they fit, the last one cut; the last resort for tiny budgets."""
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
