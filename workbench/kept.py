"""A run of the bench as the journal keeps it: what the command line and the screen alike write down."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from workbench.bench import Bench
from workbench.compaction.checks import Check
from workbench.compaction.context import Context
from workbench.compaction.outcome import Outcome
from workbench.session import fingerprint
from workbench.summarizers import journal, runs
from workbench.summarizers.named import Name
from workbench.summarizers.recorder import Recorder
from workbench.tokens.cost import actual_of_all


def unfinished(bench: Bench, name: Name, recorder: Recorder, began: float, seconds: float) -> runs.Run:
    """The record of a run that came to no outcome: what was asked, answered and billed.

    `began` is UTC seconds. Renders and hashes the requests: not for an event loop.
    """
    calls, dollars = recorder.calls(), recorder.cost(name.model).dollars if name.model else 0.0
    return begun(bench, name, recorder, began, seconds).model_copy(update={"calls": calls, "dollars": dollars})


def begun(bench: Bench, name: Name, recorder: Recorder, began: float, seconds: float) -> runs.Run:
    """The same without the calls and what they cost."""
    return runs.Run(
        id=recorder.id,
        began=began,
        seconds=seconds,
        end="cancelled",
        strategy=bench.strategy.id,
        policy=bench.policy.model_dump(mode="json"),
        preset=bench.preset,
        summarizer=str(name),
        model=name.model,
        session=fingerprint(bench.session),
        file=str(bench.session.path.resolve()) if bench.session.path else "",
        before=bench.context.total.tokens,
    )


def as_it_goes(
    bench: Bench,
    name: Name,
    recorder: Recorder,
    began: float,
    keeping: Callable[[runs.Run], runs.Run] = lambda record: record,
) -> Callable[[int], None]:
    """What writes the answer to a request, by its number, into the journal when it has come, so that a kill costs none
    that is paid for. The record of the run's end takes the place of them all; where nothing can be kept, that is told
    then."""

    def keep(number: int) -> None:
        record = keeping(begun(bench, name, recorder, began, time.time() - began))
        dollars = actual_of_all(recorder.bills_of(number), name.model).dollars if name.model else 0.0
        dollars = None if recorder.misbilled else dollars
        call = recorder.call(number).model_copy(update={"request": ""})
        journal.add(record.model_copy(update={"dollars": dollars}), number, call)

    return keep


def finished(record: runs.Run, outcome: Outcome, context: Context, checks: Sequence[Check]) -> runs.Run:
    """The same record with the outcome; `failed` where a request had no summary and the strategy fell back."""
    failed = any(call.failure for call in record.calls)
    return record.model_copy(
        update={
            "end": "failed" if failed else "finished",
            "status": outcome.status,
            "reason": outcome.reason,
            "before": context.total.tokens,
            "after": context.outcome_size(outcome).tokens,
            "checks": tuple(runs.Checked(name=c.name, hard=c.hard, passed=c.passed, detail=c.detail) for c in checks),
        }
    )
