"""The bench's session simulated or as recorded, computed in a thread that reports progress and can be cancelled."""

from __future__ import annotations

from dataclasses import replace

from workbench.analysis.course import Course, course_messages, course_of
from workbench.analysis.preset_check import agent_report
from workbench.analysis.replay import Replay, replay
from workbench.analysis.watched_rules import RuleTrail, judge_recorded
from workbench.base.figures import percent
from workbench.bench import Bench, with_counts
from workbench.compaction.preset import Preset
from workbench.tokens import Counter
from workbench.tui.background import ReportStage


def course_on(bench: Bench, counter: Counter, report: ReportStage, *, first: int) -> tuple[Bench, Course]:
    """Bench with every token counted, and its session from epoch `first` on."""

    def progress(done: int, total: int) -> None:
        report(f"counting tokens, {percent(done / max(1, total))}")

    report("counting tokens")
    counter.count_all(course_messages(bench.session), progress, lambda: False)
    report("laying out the session")
    return with_counts(bench, counter), course_of(bench.session, counter, first=first, scale=bench.scale)


def recorded_course(bench: Bench, counter: Counter, report: ReportStage) -> tuple[Course, tuple[RuleTrail, ...], str]:
    """Session with the series of its recorded calls, each watched rule through the recorded compactions, and the
    agent's compactions in words."""
    _, course = course_on(bench, counter, report, first=1)
    _ = course.recorded_line, course.plain
    return course, tuple(judge_recorded(sentence, bench.session) for sentence in bench.watched), agent_report(course)


def simulate(course: Course, preset: Preset, bench: Bench) -> Replay:
    """Session simulated under a preset, with the series and costs that a screen draws."""
    found = replay(course, preset, bench.original.limit, watched=bench.watched)
    _ = found.series, found.cost, found.over_window
    return found


def own_preset(bench: Bench, name: str = "") -> Preset:
    """Preset with the bench's settings, under its own name or `name`."""
    return replace(bench.as_preset, id=name, version="") if name else bench.as_preset


def id_at_call(course: Course, call: int) -> str:
    """Id of the message that answers call `call`, or of the last message sent with a rejected call."""
    return course.message_of(course.calls[call - 1]).id
