"""Answers from the run history, so that the same questions are not asked of the same model in the same order again."""

from __future__ import annotations

from workbench.compaction.summary_request import Answer, Summary
from workbench.summarizers import run_history
from workbench.summarizers.run_records import RunRecord

STRATEGY = "probe"
"""Strategy name of runs that asked probes and compacted nothing."""


def known_answers(session: str, model: str) -> dict[str, Answer]:
    """Return the answers of `model` by request key, without failures. `session` is the digest of the session. Raises
    BadInput for an unreadable run history."""
    runs = [
        one.id
        for one in run_history.list_runs()
        if (one.strategy, one.session, one.model) == (STRATEGY, session, model)
    ]
    found: dict[str, Answer] = {}
    for id in reversed(runs):
        found |= {
            key: answer for key, answer in run_history.load_run(id).answers.items() if isinstance(answer, Summary)
        }
    return found


def as_probe_run(record: RunRecord) -> RunRecord:
    """Return the record of a run that asked probes, without a strategy of its own."""
    return record.model_copy(update={"strategy": STRATEGY, "preset": "", "policy": {}})
