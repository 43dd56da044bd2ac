"""Contents of a report as one frozen value. Every figure comes from the function that screen and commands use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.analysis.course import Course
from workbench.analysis.probes import ProbeResults, looked_up
from workbench.analysis.replay import Replay, replays
from workbench.analysis.why.diagnosis import Diagnosis, diagnose
from workbench.bench import Bench
from workbench.bench.assessment import Assessment, assess_recorded, compare
from workbench.compaction.preset import Preset, preset_for_version
from workbench.runs.questions import exam_of, questions
from workbench.summarizers.extractive import extractive


@dataclass(frozen=True)
class ReportContents:
    """Assessments and replays of a report. `variants` are assessed with extractive summaries, the bench's own policy
    first; `recorded` is the agent's compaction of this epoch, None without one. `played` are replays of the session
    under the same policies, with placeholders as summaries unless rules are watched."""

    bench: Bench
    course: Course
    diagnosis: Diagnosis
    played: tuple[Replay, ...]
    variants: tuple[Assessment, ...]
    recorded: Assessment | None
    answers: ProbeResults | None
    """Answers from text search to questions about each variant; None without questions."""


def collect(bench: Bench, course: Course, presets: Sequence[Preset]) -> ReportContents:
    """Collect the contents for the bench's epoch under its own policy and under `presets`. Raises BadInput for a broken
    price table."""
    own = bench.as_preset
    others = [preset_for_version(preset, bench.session) for preset in presets]
    chosen = (own, *(preset for preset in others if (preset.strategy, preset.policy) != (own.strategy, own.policy)))
    variants, recorded = tuple(compare(bench, chosen, extractive)), assess_recorded(bench)
    found = diagnose(bench.context, course, bench.epoch, own)
    probing = _look_up_answers(bench, [*filter(None, (recorded,)), *variants])
    played = tuple(replays(course, chosen, bench.original.limit, watched=bench.watched))
    return ReportContents(bench, course, found, played, variants, recorded, probing)


def _look_up_answers(bench: Bench, variants: Sequence[Assessment]) -> ProbeResults | None:
    """Return the answers from text search in every readable variant; None without questions."""
    probes = questions(bench).probes
    outcomes = [(one.name, one.outcome) for one in variants if not one.is_unreadable]
    return looked_up(exam_of(bench, probes, outcomes)) if probes else None
