"""What the run screen writes into the journal. Each gives the kept run's id and "", or why it was not kept.

Not for an event loop: requests are rendered, hashed and compressed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from workbench.assessment import Assessment
from workbench.bench import Bench
from workbench.compaction.checks import check
from workbench.compaction.strategy import Answer, Summary, SummaryRequest
from workbench.drafts import Draft
from workbench.kept import finished, unfinished
from workbench.summarizers import journal
from workbench.summarizers.driver import Run
from workbench.summarizers.named import Name
from workbench.summarizers.recorder import Recorder
from workbench.summarizers.runs import Run as Record
from workbench.tui.screens.run_words import BY_HAND

Kept = tuple[str, str]


def keep_cancelled(bench: Bench, name: Name, recorder: Recorder, began: float, seconds: float) -> Kept:
    """A run that was stopped, with what had come."""
    return _keep(unfinished(bench, name, recorder, began, seconds))


def keep_finished(bench: Bench, name: Name, recorder: Recorder, began: float, run: Run) -> Kept:
    """A run that came to its end, failed or not, with what the checks say of its outcome."""
    checks = check(bench.context, run.outcome, bench.strategy, bench.policy)
    record = unfinished(bench, name, recorder, began, run.seconds)
    return _keep(finished(record, run.outcome, bench.context, checks))


def keep_call(bench: Bench, name: Name, recorder: Recorder, began: float, seconds: float) -> Kept:
    """One call beside a run: a section that was written anew."""
    record = unfinished(bench, name, recorder, began, seconds)
    return _keep(record.model_copy(update={"end": "failed" if recorder.failed else "finished"}))


def keep_edited(bench: Bench, reading: Assessment) -> Kept:
    """What was committed after editing, as a run of its own: `recorded` gives the edited text again."""
    record = _by_hand(bench, reading.run.requests, reading.run.answers)
    return _keep(finished(record, reading.run.outcome, bench.context, reading.checks))


def keep_uncommitted(bench: Bench, drafts: Sequence[Draft]) -> Kept:
    """What a person had made of the drafts when the program ended, as a run that can be asked again."""
    answers = [draft.taken for draft in drafts]
    record = _by_hand(bench, [draft.request for draft in drafts], answers)
    whole = all(isinstance(answer, Summary) for answer in answers)
    return _keep(record.model_copy(update={"end": "finished" if whole else "failed"}))


def _by_hand(bench: Bench, requests: Sequence[SummaryRequest], answers: Sequence[Answer]) -> Record:
    """Without what was billed, which stands in the record of the run itself."""
    recorder = Recorder()
    recorder.took(requests, [replace(one, usage=None) if isinstance(one, Summary) else one for one in answers])
    return unfinished(bench, BY_HAND, recorder, time.time(), 0.0)


def _keep(record: Record) -> Kept:
    trouble = journal.keep(record)
    return record.id, trouble
