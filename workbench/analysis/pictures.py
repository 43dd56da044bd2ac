"""Content of a plot, independent of its drawing: in characters on the command line and the screen, as SVG in the
report."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from string import ascii_lowercase, ascii_uppercase, digits

from msgspec import Struct

from workbench.analysis.course import Course, Point
from workbench.analysis.plots import DOTTED, Level, PlotLine, plot
from workbench.analysis.replay import Replay
from workbench.analysis.why.diagnosis import Diagnosis
from workbench.compaction.strategy import Trigger

HERE, ELSEWHERE, RECORDED = "#", DOTTED, DOTTED
COMPACTED, REFUSED, LOST = "▼", "✖", "○"
_SIGNS = ascii_uppercase + ascii_lowercase + digits + "".join(filter(str.isalpha, map(chr, range(0xC0, 0x250))))
"""Line signs, one cell each."""


def sign_of(number: int) -> str:
    """Return the sign of the policy at a position, from 0. Signs repeat beyond some 450 policies."""
    return _SIGNS[number % len(_SIGNS)]


class Picture(Struct, frozen=True):
    """Plot content: lines over calls (x from 1, y in tokens), horizontal levels, signs above calls, and a legend."""

    title: str
    lines: tuple[PlotLine, ...]
    levels: tuple[Level, ...]
    marks: Mapping[int, str]
    legend: tuple[tuple[str, str], ...]


def in_characters(picture: Picture, legend: Sequence[tuple[str, str]] | None = None) -> list[str]:
    """Return the rows of a picture for a terminal, with its legend, or `legend` instead, below."""
    shown = picture.legend if legend is None else legend
    return [*plot(picture.lines, picture.levels, picture.marks), "   ".join(f"{sign} {words}" for sign, words in shown)]


def growth_picture(found: Diagnosis) -> Picture:
    """Return the growth of the whole session, the diagnosed epoch as a line of its own, with limits and triggers."""
    number = {point.message: call for call, point in enumerate(found.points, 1)}
    marks = {number[point.message]: COMPACTED for point in found.points if point.compacted}
    for one in found.refusals:
        marks[_call_at(found.points, one.member)] = REFUSED
    here = [(call, point.tokens) for call, point in enumerate(found.points, 1) if point.epoch == found.epoch]
    before = [(call, point.tokens) for call, point in enumerate(found.points, 1) if point.epoch < found.epoch]
    behind = [(call, point.tokens) for call, point in enumerate(found.points, 1) if point.epoch > found.epoch]
    # Two lines, because a single one would cross the gap of the diagnosed epoch.
    rest = [PlotLine(ELSEWHERE, points) for points in (before, behind) if points]
    levels = [Level("window", found.window.tokens)] if found.window else []
    if found.limit and (not found.window or found.limit.tokens != found.window.tokens):
        levels.append(Level("limit", found.limit.tokens, "╌"))
    levels += trigger_levels(found.triggers)
    legend = [(HERE, f"epoch {found.epoch}"), *([(ELSEWHERE, "other epochs")] if rest else [])]
    return Picture(
        "Growth of the context, call by call",
        (*rest, PlotLine(HERE, here)),
        tuple(levels),
        marks,
        (*legend, *_meanings(marks)),
    )


def replay_picture(course: Course, replays: Sequence[Replay], window: int | None) -> Picture:
    """Return one saw-tooth per policy over the recorded session; for a single policy also its triggers and the calls at
    which it lost a watched rule."""
    first = course.numbers[0]
    marks = {call: COMPACTED for call, point in course.recorded_at.items() if point.compacted and point.epoch > first}
    marks |= {bisect_left(course.calls, index) + 1: REFUSED for index in course.refused}
    lines = [PlotLine(RECORDED, course.recorded_line)]
    lines += [PlotLine(sign_of(place), one.series) for place, one in enumerate(replays)]
    levels = [Level("window", window)] if window else []
    if len(replays) == 1:
        marks |= {trail.lost: LOST for trail in replays[0].watched if trail.lost is not None}
        levels += trigger_levels(replays[0].triggers)
    legend = [(RECORDED, "as recorded"), *((sign_of(place), one.name) for place, one in enumerate(replays))]
    return Picture(
        "The session replayed under each variant", tuple(lines), tuple(levels), marks, (*legend, *_meanings(marks))
    )


def trigger_levels(triggers: Sequence[Trigger]) -> list[Level]:
    """Return the triggers that a plot of tokens can show, named if there are several."""
    shown = [one for one in triggers if one.unit == "tokens" and one.limit]
    return [Level("trigger" if len(shown) == 1 else f"trigger {one.name}", one.limit, "┄") for one in shown]


def _meanings(marks: Mapping[int, str]) -> list[tuple[str, str]]:
    known = ((COMPACTED, "recorded compaction"), (REFUSED, "rejected as too long"), (LOST, "a watched rule is lost"))
    return [(sign, means) for sign, means in known if sign in marks.values()]


def _call_at(points: Sequence[Point], member: int | None) -> int:
    before = [call for call, point in enumerate(points, 1) if member is None or point.message <= member]
    return before[-1] if before else 1
