"""The session of a bench as a course to be played, made in a thread that says how far it is and can be stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from workbench.analysis.as_recorded import told_of_agent
from workbench.analysis.course import Course, course_of, uncounted
from workbench.analysis.replay import Replay, replay
from workbench.analysis.watched import Trail, judge_recorded
from workbench.base.figures import percent
from workbench.bench import Bench, with_counts
from workbench.compaction.preset import Preset
from workbench.tokens import Counter


class Abandoned(Exception):
    """Nobody waits for the work any more. Raised by what is told how far it is."""


Told = Callable[[str], None]
"""Hears what is being done, at least a few times a second while counting; may raise `Abandoned`."""


def course_on(bench: Bench, counter: Counter, told: Told, *, first: int) -> tuple[Bench, Course]:
    """The bench with every token counted, and its session from epoch `first` on."""

    def progress(done: int, total: int) -> None:
        told(f"counting tokens, {percent(done / max(1, total))}")

    told("counting tokens")
    counter.count_all(uncounted(bench.session), progress, lambda: False)
    told("laying out the session")
    return with_counts(bench, counter), course_of(bench.session, counter, first=first, scale=bench.scale)


def recorded_course(bench: Bench, counter: Counter, told: Told) -> tuple[Course, tuple[Trail, ...], str]:
    """The session with what a screen draws of its recorded calls, each watched rule through the recorded compactions,
    and what the agent did in words."""
    _, course = course_on(bench, counter, told, first=1)
    _ = course.recorded_line, course.plain
    return course, tuple(judge_recorded(sentence, bench.session) for sentence in bench.watched), told_of_agent(course)


def simulated(course: Course, preset: Preset, bench: Bench) -> Replay:
    """The session under a preset, with what a screen draws of it."""
    played = replay(course, preset, bench.opened.limit, watched=bench.watched)
    _ = played.series, played.cost, played.over_window
    return played


def own_preset(bench: Bench, name: str = "") -> Preset:
    """The policy as it stands on the bench, under the name of its preset or another one."""
    return replace(bench.chosen, id=name, version="") if name else bench.chosen


def at_call(course: Course, call: int) -> str:
    """The id of the message that answers call number `call`, or of the last that a refused one was sent."""
    return course.message_of(course.calls[call - 1]).id
