"""What a report tells, as one frozen value. Every figure is from the function that screen and command line use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.analysis.compare import Column, compare, theirs
from workbench.analysis.course import Course
from workbench.analysis.later_use import LaterUse
from workbench.analysis.probes import Probing, looked_up
from workbench.analysis.replay import Replay, replays
from workbench.analysis.retention import Retention, unread
from workbench.analysis.why.diagnosis import Diagnosis, diagnose
from workbench.bench import Bench, Stand, stands
from workbench.compaction.of_tool import of_its_time
from workbench.compaction.preset import Preset
from workbench.probing import exam_of, questions
from workbench.summarizers.extractive import extractive


@dataclass(frozen=True, slots=True)
class Judged:
    """What one policy makes of the context, and what is still there of what went: of its facts, of what the session
    really needed later, where it goes on, and of watched sentences."""

    column: Column
    retention: Retention
    needed: LaterUse | None
    watched: tuple[Stand, ...]


@dataclass(frozen=True)
class Report:
    """`judged` begins with the policy on the bench. `recorded` is what the agent's own compaction of this epoch made,
    None where it recorded none. Summaries are extractive in `judged`; in `played` they only take their room, unless
    sentences are watched."""

    bench: Bench
    course: Course
    diagnosis: Diagnosis
    played: tuple[Replay, ...]
    judged: tuple[Judged, ...]
    recorded: Judged | None
    probing: Probing | None
    """Questions put to the columns, answers looked up; None where there is nothing to ask."""


def gather(bench: Bench, course: Course, beside: Sequence[Preset]) -> Report:
    """The report on the bench's epoch under its policy, `beside` others. Raises BadInput for a broken price table."""
    own = bench.chosen
    others = [of_its_time(preset, bench.session) for preset in beside]
    chosen = (own, *(preset for preset in others if (preset.strategy, preset.policy) != (own.strategy, own.policy)))
    judged = tuple(_judged(bench, column) for column in compare(bench.context, chosen, extractive, bench.edits))
    own_column = theirs(bench.session, bench.epoch, bench.context)
    recorded = _judged(bench, own_column) if own_column else None
    found = diagnose(bench.context, course, bench.epoch, own)
    probing = _probing(bench, [*([own_column] if own_column else []), *(one.column for one in judged)])
    played = tuple(replays(course, chosen, bench.opened.limit, watched=bench.watched))
    return Report(bench, course, found, played, judged, recorded, probing)


def _probing(bench: Bench, columns: Sequence[Column]) -> Probing | None:
    """What nobody can read is not asked."""
    asked = questions(bench).probes
    outcomes = [(column.name, column.outcome) for column in columns if not unread(column.outcome)]
    return looked_up(exam_of(bench, asked, outcomes)) if asked else None


def _judged(bench: Bench, column: Column) -> Judged:
    return Judged(column, bench.held(column.outcome), bench.later_use(column.outcome), stands(bench, column.outcome))
