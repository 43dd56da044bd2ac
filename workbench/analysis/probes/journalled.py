"""Answers that were paid for once: what the journal keeps of earlier questions to the same model about the same
session. The same questions put to the same arm in the same order are not asked again."""

from __future__ import annotations

from workbench.compaction.summary_request import Answer, Summary
from workbench.summarizers import run_history
from workbench.summarizers.run_records import RunRecord

STRATEGY = "probe"
"""By this name the journal lists runs that asked probes and compacted nothing."""


def answers_before(session: str, model: str) -> dict[str, Answer]:
    """By the request's key what `model` has answered already; failures are asked anew. `session` is its fingerprint.
    Raises BadInput for a journal that cannot be read."""
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


def as_probe(record: RunRecord) -> RunRecord:
    """The record of a run that asked probes: under no strategy's name, for it compacted nothing."""
    return record.model_copy(update={"strategy": STRATEGY, "preset": "", "policy": {}})
