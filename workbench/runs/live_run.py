"""A run that asks a summarizer: key, spend limit, calls, record, cancellation. Screen and commands use the same one.

    run = LiveRun(bench, name)
    summarizer = await connect(run, spend_limit)                        BadInput before anything is sent
    done = await drive_live(run, compacting, summarizer, keeps=…) saves each answer in the run history at once
    FinishedRun(run, done).record                                 for the run history

Cancelling leaves the bench as it is; `run.unfinished` then records the answers so far.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from workbench.bench import Bench
from workbench.bench.assessment import Assessment, assess
from workbench.compaction.checks import Check
from workbench.compaction.strategy import Compacting
from workbench.compaction.summary_request import Summary, SummaryFailed
from workbench.session import Usage, fingerprint
from workbench.summarizers import driver, run_history, run_records
from workbench.summarizers.by_name import SummarizerName, check_key, summarizer_named
from workbench.summarizers.call_limits import CallLimits
from workbench.summarizers.live_events import LiveEvent, OnLiveEvent, UsageReported, ignore_event
from workbench.summarizers.run_records import RunRecorder
from workbench.summarizers.spend_limit import Spending, SpendLimit
from workbench.summarizers.summarizer import Summarizer
from workbench.tokens.cost import Cost, actual_of_all

EditRecord = Callable[[run_records.RunRecord], run_records.RunRecord]
"""Changes a record before it is saved: questions to a model are records of another kind."""


def unchanged(record: run_records.RunRecord) -> run_records.RunRecord:
    return record


@dataclass(frozen=True)
class LiveRun:
    """A run of a summarizer on a bench, and its events so far. `label` distinguishes runs that are made together;
    `began` is UTC seconds."""

    bench: Bench
    name: SummarizerName
    label: str = ""
    recorder: RunRecorder = field(default_factory=RunRecorder)
    began: float = field(default_factory=time.time)

    @property
    def usage(self) -> Usage | None:
        """Usage billed so far, failed attempts included; None without a model, and if none was reported."""
        reported = any(isinstance(event, UsageReported) for event in self.recorder.events)
        return self.recorder.usage if self.name.model and reported else None

    @property
    def cost(self) -> Cost | None:
        """Cost of `usage`, or None. Raises BadInput for a broken price table."""
        known = self.name.model and (self.usage or self.recorder.usage_problem)
        return self.recorder.cost(self.name.model) if known else None

    def unfinished(self, seconds: float) -> run_records.RunRecord:
        """Return the record of a run without an outcome: requests, answers and usage. Renders and hashes the requests:
        not for an event loop."""
        calls = self.recorder.calls()
        dollars = self.recorder.cost(self.name.model).dollars if self.name.model else 0.0
        return self._begun(seconds).model_copy(update={"calls": calls, "dollars": dollars})

    def finished(self, run: driver.Run, checks: Sequence[Check]) -> run_records.RunRecord:
        """Return the record of a run with its outcome. It is `failed` where a request had no summary and the strategy
        fell back. Not for an event loop."""
        record, outcome, context = self.unfinished(run.seconds), run.outcome, self.bench.context
        failed = any(call.failure for call in record.calls)
        return record.model_copy(
            update={
                "end": "failed" if failed else "finished",
                "status": outcome.status,
                "reason": outcome.reason,
                "after": context.outcome_size(outcome).tokens,
                "checks": tuple(
                    run_records.CheckRecord(name=c.name, hard=c.hard, passed=c.passed, detail=c.detail) for c in checks
                ),
            }
        )

    def keep_answer(self, number: int, edit: EditRecord = unchanged) -> None:
        """Write the answer to request `number` into the run history, so that a kill loses no paid answer. The record of
        the finished run replaces it."""
        model = self.name.model
        dollars = actual_of_all(self.recorder.attempt_usages_of(number), model).dollars if model else 0.0
        known = None if self.recorder.usage_problem else dollars
        record = edit(self._begun(time.time() - self.began)).model_copy(update={"dollars": known})
        run_history.save_call(record, number, self.recorder.call(number).model_copy(update={"request": ""}))

    def _begun(self, seconds: float) -> run_records.RunRecord:
        bench = self.bench
        return run_records.RunRecord(
            id=self.recorder.id,
            began=self.began,
            seconds=seconds,
            end="cancelled",
            strategy=bench.strategy.id,
            policy=bench.policy.model_dump(mode="json"),
            preset=bench.preset,
            summarizer=str(self.name),
            model=self.name.model,
            session=fingerprint(bench.session),
            file=str(bench.session.path.resolve()) if bench.session.path else "",
            before=bench.context.total.tokens,
        )


async def connect(
    run: LiveRun, spend_limit: SpendLimit, on_event: OnLiveEvent = ignore_event, *, limits: CallLimits | None = None
) -> Summarizer:
    """Return the run's summarizer, bounded by the spend limit. Sends nothing. Raises BadInput without a key, and for a
    summarizer that does not exist."""
    await check_key(run.name)

    def record_event(event: LiveEvent) -> None:
        run.recorder.on_live_event(event)
        on_event(event)

    bench = run.bench
    spending = Spending(spend_limit, bench.layout.sizes.meter.text_tokens)
    return await asyncio.to_thread(
        lambda: summarizer_named(
            run.name, on_event=record_event, limits=limits, session=bench.session, spending=spending
        )
    )


async def drive_live(
    run: LiveRun,
    compacting: Compacting,
    summarizer: Summarizer,
    on_event: driver.OnRunEvent = lambda event: None,
    *,
    keeps: bool,
    edit: EditRecord = unchanged,
) -> driver.Run:
    """Drive `compacting` to its end. With `keeps` each answer of a model is saved in the run history before the next
    request. Exceptions of the generator propagate."""

    def record_event(event: driver.RunEvent) -> None:
        run.recorder.on_run_event(event)
        on_event(event)

    keep = (lambda number: run.keep_answer(number, edit)) if keeps and run.name.model else None
    return await driver.run(compacting, summarizer, on_event=record_event, keep=keep)


@dataclass(frozen=True)
class FinishedRun:
    """A live run that has ended. `assessment` is computed on first use."""

    live: LiveRun
    run: driver.Run

    @cached_property
    def assessment(self) -> Assessment:
        return replace(assess(self.live.bench, self.run), billed=self.cost)

    @property
    def draft(self) -> str:
        """All summaries of the run, in order."""
        return "\n\n".join(one.text for one in self.run.answers if isinstance(one, Summary))

    @property
    def draft_tokens(self) -> int:
        return self.live.bench.layout.sizes.meter.text_tokens(self.draft)

    @property
    def failures(self) -> tuple[SummaryFailed, ...]:
        return tuple(one for one in self.run.answers if isinstance(one, SummaryFailed))

    @property
    def usage(self) -> Usage | None:
        """Usage billed for the run; without a model, the usage in recorded answers. None if none was reported."""
        if self.live.name.model:
            return self.live.usage
        billed = [answer.usage for answer in self.run.answers if isinstance(answer, Summary) and answer.usage]
        return run_records.sum_usage(billed) if billed else None

    @property
    def cost(self) -> Cost | None:
        """Cost billed for this run; None without a model, and if no usage was reported."""
        return self.live.cost

    @property
    def record(self) -> run_records.RunRecord:
        """Record for the run history. Not for an event loop."""
        return self.live.finished(self.run, self.assessment.checks)
