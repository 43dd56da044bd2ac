"""What a report tells, as one frozen value. Every figure is from the function that screen and command line use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.analysis.course import Course
from workbench.analysis.probes import Probing, looked_up
from workbench.analysis.replay import Replay, replays
from workbench.analysis.why.diagnosis import Diagnosis, diagnose
from workbench.bench import Bench
from workbench.bench.assessment import Assessment, assess_recorded, compare
from workbench.compaction.agent_preset import preset_for_version
from workbench.compaction.preset import Preset
from workbench.runs.questions import exam_of, questions
from workbench.summarizers.extractive import extractive


@dataclass(frozen=True)
class Report:
    """`variants` begin with the policy on the bench. `recorded` is the agent's own compaction of this epoch, None where
    it recorded none. Summaries are extractive in `variants`; in `played` they only take their room, unless sentences
    are watched."""

    bench: Bench
    course: Course
    diagnosis: Diagnosis
    played: tuple[Replay, ...]
    variants: tuple[Assessment, ...]
    recorded: Assessment | None
    probing: Probing | None
    """Questions put to the variants, answers looked up; None where there is nothing to ask."""


def gather(bench: Bench, course: Course, beside: Sequence[Preset]) -> Report:
    """The report on the bench's epoch under its policy, `beside` others. Raises BadInput for a broken price table."""
    own = bench.as_preset
    others = [preset_for_version(preset, bench.session) for preset in beside]
    chosen = (own, *(preset for preset in others if (preset.strategy, preset.policy) != (own.strategy, own.policy)))
    variants, their = tuple(compare(bench, chosen, extractive)), assess_recorded(bench)
    found = diagnose(bench.context, course, bench.epoch, own)
    probing = _probing(bench, [*filter(None, (their,)), *variants])
    played = tuple(replays(course, chosen, bench.original.limit, watched=bench.watched))
    return Report(bench, course, found, played, variants, their, probing)


def _probing(bench: Bench, variants: Sequence[Assessment]) -> Probing | None:
    """What nobody can read is not asked."""
    asked = questions(bench).probes
    outcomes = [(one.name, one.outcome) for one in variants if not one.is_unreadable]
    return looked_up(exam_of(bench, asked, outcomes)) if asked else None
