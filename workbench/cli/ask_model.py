"""Ask a model the questions of `cwb retention --ask`: one session after the other, or all in batches."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from workbench.analysis.probes import Exam, ProbeResults
from workbench.analysis.probes.exam import without_strategy
from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.base.printable import printable
from workbench.base.text import counted
from workbench.bench import Bench
from workbench.cli.output import interrupted, warn
from workbench.cli.running import check_limit, run_named, save_record
from workbench.cli.session_files import FailedFile, refusal
from workbench.compaction.summary_request import Answer
from workbench.runs.questions import (
    QuestionCosts,
    QuestionRun,
    RuleByVariant,
    ask_in_batch,
    grade_run,
    question_costs,
    rules_by_variant,
    saved_answers,
    total_costs,
)
from workbench.session import Usage
from workbench.summarizers import batches, run_records
from workbench.summarizers.batches import BatchProgress
from workbench.summarizers.by_name import check_key, parse_model
from workbench.summarizers.recorded_answers import receive_recorded_forms
from workbench.summarizers.spend_limit import SpendLimit
from workbench.tokens.cost import added, money, usage_words


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """Facts about a session that are used after it is closed. `origin` is the source of the questions in words;
    `numbers` maps the ids of the messages with the answers to their numbers from 1; `watched` has the state of each
    watched sentence in every variant. `goes_on`: the session has messages after this epoch, so that something may be
    needed later."""

    file: Path
    epoch: int
    goes_on: bool
    origin: str
    numbers: Mapping[str, int]
    watched: tuple[RuleByVariant, ...]


@dataclass(frozen=True)
class SessionExam:
    """A session with its questions and variants. `origin` is the source of the questions in words."""

    bench: Bench
    origin: str
    exam: Exam

    @property
    def file(self) -> Path:
        assert self.bench.session.path is not None
        return self.bench.session.path

    def info(self) -> SessionInfo:
        """Return the facts to keep. Reads every message."""
        index_of = self.bench.context.shape.index_of
        numbers = {probe.source: index_of[probe.source] + 1 for probe in self.exam.probes if probe.source in index_of}
        goes_on = self.bench.epoch < len(self.bench.session.epochs)
        watched = rules_by_variant(self.bench, self.exam)
        return SessionInfo(self.file, self.bench.epoch, goes_on, self.origin, numbers, watched)


Open = Callable[[Path], SessionExam]
"""Opens a session again, with the same questions. Raises BadInput."""


def estimate_questions(session_exam: SessionExam, model: str, *, journal: bool, batch: bool) -> QuestionCosts:
    """Estimate the cost of the questions about a session that have no saved answer."""
    known = saved_answers(session_exam.bench, model) if journal else {}
    return question_costs(session_exam.bench, session_exam.exam, model, known, batch=batch)


def ask_sessions(
    costs: Mapping[Path, QuestionCosts], open: Open, model: str, spend_limit: SpendLimit, *, journal: bool, batch: bool
) -> tuple[list[tuple[SessionInfo, ProbeResults]], list[FailedFile]]:
    """Return the model's answers, saved and new ones, by session, and the failed sessions. The total cost is printed
    once before and once after. Sessions are in memory one at a time, with `batch` all together while their batches
    run. Raises OverTheLimit before anything is sent."""
    if not costs:
        return [], []
    cost_estimate = total_costs([*costs.values()], model)
    before = f", {counted(cost_estimate.answered, 'call')} answered before" if cost_estimate.answered else ""
    calls = counted(cost_estimate.calls, "call")
    at_most = f", at most {money(cost_estimate.at_most.dollars)}" if cost_estimate.at_most.dollars is not None else ""
    where = parse_model(model).connection.address
    warn(
        f"{model} is asked {calls} at {where}, ≈{grouped(cost_estimate.tokens)} tokens: "
        f"about {cost_estimate.cost}{at_most}{before}."
    )
    if cost_estimate.judge_cost.dollars:
        warn(f"a judge of answers in prose comes to at most {money(cost_estimate.judge_cost.dollars)} on top.")
    check_limit(spend_limit, cost_estimate.most, parse_model(model).model)
    if cost_estimate.calls:
        asyncio.run(check_key(parse_model(model)))
    pending = [partial(_pending_exam, path, open, model, journal) for path in costs]
    done = _in_batches(pending) if batch else [_ask_live_or_error(one, spend_limit) for one in pending]
    answered = [one for one in done if isinstance(one, SessionAnswers)]
    _report_usage([one.billed for one in answered if one.billed], model, batch=batch)
    for one in answered:
        where = f"{printable(one.info.file.name)}: " if len(costs) > 1 else ""
        for failure, many in Counter(one.failed).items():
            warn(f"{where}{counted(many, 'call')} failed; the same command asks again: {failure}")
    if any(one.cut for one in answered):
        warn(f"a context is too long for {model}: its oldest messages were left out.")
    failed = [refusal(path, error) for path, error in zip(costs, done, strict=True) if isinstance(error, BadInput)]
    return [(one.info, one.answers) for one in answered], failed


@dataclass(frozen=True, slots=True)
class BilledCalls:
    """Calls made by this run; `dollars` is None if unknown."""

    calls: int
    usage: Usage
    dollars: float | None


@dataclass(frozen=True, slots=True)
class SessionAnswers:
    """Answers about a session, without the session."""

    info: SessionInfo
    answers: ProbeResults
    billed: BilledCalls | None
    failed: tuple[str, ...]
    cut: bool


def _session_answers(session_exam: SessionExam, done: QuestionRun) -> SessionAnswers:
    record = done.record
    billed = BilledCalls(len(record.calls), record.usage, record.dollars) if record else None
    return SessionAnswers(session_exam.info(), done.answers, billed, done.failed, done.cut)


@dataclass(frozen=True)
class PendingExam:
    """A session's exam, with the saved answers of `model` in `known`."""

    session_exam: SessionExam
    model: str
    known: Mapping[str, Answer]
    journal: bool

    def keep(self, record: run_records.RunRecord) -> None:
        if self.journal:
            save_record(record)


def _pending_exam(path: Path, open: Open, model: str, journal: bool) -> PendingExam:
    session_exam = open(path)
    return PendingExam(session_exam, model, saved_answers(session_exam.bench, model) if journal else {}, journal)


def _ask_live_or_error(opened: Callable[[], PendingExam], spend_limit: SpendLimit) -> SessionAnswers | BadInput:
    try:
        return _ask_live(opened(), spend_limit)
    except BadInput as refused:
        return _without_frames(refused)


def _without_frames(refused: BadInput) -> BadInput:
    """Return the error without its traceback, whose frames would keep the session in memory."""
    return BadInput(str(refused))


def _ask_live(pending: PendingExam, spend_limit: SpendLimit) -> SessionAnswers:
    bench, exam = pending.session_exam.bench, pending.session_exam.exam
    name = parse_model(pending.model)
    call = run_named(
        bench,
        lambda: receive_recorded_forms(exam.asking(pending.known)),
        name,
        spend_limit,
        journal=pending.journal,
        edit=without_strategy,
        announce=lambda _: None,  # `ask_sessions` has announced all sessions together
    )
    done = grade_run(exam, pending.known, call.live, call.run)
    if done.record:
        pending.keep(done.record)
    return _session_answers(pending.session_exam, done)


def _in_batches(several: Sequence[Callable[[], PendingExam]]) -> list[SessionAnswers | BadInput]:
    """Ask each session in its own batch, all in parallel. After Ctrl-C the same command continues with the batches."""

    async def one(opened: Callable[[], PendingExam], uploads: asyncio.Semaphore) -> SessionAnswers | BadInput:
        seen = set[BatchProgress]()

        def on_batch(now: BatchProgress) -> None:
            if now not in seen:
                seen.add(now)
                warn(f"{now}.")

        try:
            pending = opened()
            session_exam = pending.session_exam
            done = await ask_in_batch(
                session_exam.bench, session_exam.exam, pending.model, pending.known, on_batch, uploads, pending.keep
            )
            return await asyncio.to_thread(_session_answers, session_exam, done)
        except BadInput as refused:
            return _without_frames(refused)

    async def every() -> list[SessionAnswers | BadInput]:
        uploads = batches.upload_slots()
        return await asyncio.gather(*(one(opened, uploads) for opened in several))

    try:
        return asyncio.run(every())
    except KeyboardInterrupt:
        raise interrupted("Stopped: the batch continues; the same command collects it.") from None


def _report_usage(billed: Sequence[BilledCalls], model: str, *, batch: bool) -> None:
    if not billed:
        return
    usage, calls = run_records.sum_usage(one.usage for one in billed), counted(sum(one.calls for one in billed), "call")
    cost = money(added(one.dollars for one in billed))
    warn(f"{model}: {calls}, {usage_words(usage)}, {cost}{' (half the price, as a batch)' if batch else ''}")
