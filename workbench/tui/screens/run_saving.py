"""Records of the run screen for the run history. Each function saves one and returns its id and "", or the reason why
that failed.

Not for an event loop: requests are rendered, hashed and compressed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.bench import Bench
from workbench.bench.assessment import Assessment
from workbench.compaction.summary_request import Answer, Summary, SummaryRequest
from workbench.runs.drafts import Draft
from workbench.runs.live_run import FinishedRun, LiveRun
from workbench.summarizers import run_history
from workbench.summarizers.driver import Run
from workbench.summarizers.run_records import RunRecord as Record
from workbench.tui.screens.run_words import BY_HAND

SavedRun = tuple[str, str]


def save_cancelled(live: LiveRun, seconds: float) -> SavedRun:
    """Save a cancelled run, with the text so far."""
    return _save(live.unfinished(seconds))


def save_finished(live: LiveRun, run: Run) -> SavedRun:
    """Save a run that came to its end, failed or not, with the checks of its outcome."""
    return _save(FinishedRun(live, run).record)


def save_call(live: LiveRun, seconds: float) -> SavedRun:
    """Save a single call that is not part of a run: the rewriting of a section."""
    end = "failed" if live.recorder.failed else "finished"
    return _save(live.unfinished(seconds).model_copy(update={"end": end}))


def save_edited(bench: Bench, assessment: Assessment) -> SavedRun:
    """Save the committed edits as a run of its own, so that the summarizer `recorded` can repeat the edited text."""
    live = _by_hand(bench, assessment.run.requests, assessment.run.answers)
    return _save(live.finished(replace(assessment.run, seconds=0.0), assessment.checks))


def save_uncommitted(bench: Bench, drafts: Sequence[Draft]) -> SavedRun:
    """Save the user's edits when the program ends, as a run that the summarizer `recorded` can repeat."""
    answers = [draft.final_answer for draft in drafts]
    live = _by_hand(bench, [draft.request for draft in drafts], answers)
    whole = all(isinstance(answer, Summary) for answer in answers)
    return _save(live.unfinished(0.0).model_copy(update={"end": "finished" if whole else "failed"}))


def _by_hand(bench: Bench, requests: Sequence[SummaryRequest], answers: Sequence[Answer]) -> LiveRun:
    """Run written by the user, without usage: that is in the record of the model's run."""
    live = LiveRun(bench, BY_HAND)
    live.recorder.add_answers(
        requests, [replace(one, usage=None) if isinstance(one, Summary) else one for one in answers]
    )
    return live


def _save(record: Record) -> SavedRun:
    trouble = run_history.save_run(record)
    return record.id, trouble
