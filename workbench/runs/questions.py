"""Questions to a model about the contexts of a bench: their choice, their cost, the answers and their grades."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.analysis.needed_items import project_folder, used_after
from workbench.analysis.probes import (
    MOST,
    Exam,
    Probe,
    ProbeResults,
    arm_contexts,
    graded,
    probes_of,
    probes_path,
    read_probes,
    with_sources,
)
from workbench.analysis.probes.exam import known_answers, without_strategy
from workbench.analysis.recorded_compactions import recorded_outcome
from workbench.analysis.retention import is_unreadable
from workbench.analysis.rule_text import RuleVerdict
from workbench.base.errors import BadInput
from workbench.bench import Bench, rule_states
from workbench.compaction.outcome import Outcome
from workbench.compaction.summary_request import Answer, SummaryFailed
from workbench.runs.cost_estimate import request_costs_of
from workbench.runs.live_run import LiveRun, connect, drive_live
from workbench.session import fingerprint
from workbench.summarizers import batches, driver
from workbench.summarizers.by_name import SummarizerName, parse_model
from workbench.summarizers.estimate import estimate
from workbench.summarizers.live_events import OnLiveEvent, PromptShortened, ignore_event
from workbench.summarizers.recorded_answers import receive_recorded_forms, recorded_forms
from workbench.summarizers.run_records import RunRecord
from workbench.summarizers.spend_limit import SpendLimit
from workbench.tokens.cost import Cost, actual_of_all, added, at_share, together

RECORDED = "recorded"
"""Name of the agent's own compaction among the variants."""


@dataclass(frozen=True, slots=True)
class Questions:
    """Questions, and their file; None if they were generated from the session."""

    probes: tuple[Probe, ...]
    file: Path | None

    @property
    def origin(self) -> str:
        return str(self.file) if self.file else "generated from the session"


def questions(bench: Bench, file: Path | None = None, most: int | None = None) -> Questions:
    """Return at most `most` questions of `file`, else of the sidecar file of the session, else generated from the
    epoch, possibly none. Raises BadInput for a file without questions."""
    sidecar = probes_path(bench.session)
    path = file or (sidecar if sidecar and sidecar.exists() else None)
    if path:
        return Questions(with_sources(read_probes(path)[:most], bench.context.messages), path)
    return Questions(generated_questions(bench, most), None)


def generated_questions(bench: Bench, most: int | None = None) -> tuple[Probe, ...]:
    """Generate questions from the facts of the epoch; possibly none."""
    folder, used = project_folder(bench.session), used_after(bench.session, bench.epoch)
    return probes_of(bench.context.shape, folder, used, MOST if most is None else most)


def no_questions_error(bench: Bench) -> BadInput:
    sidecar = probes_path(bench.session)
    where = sidecar.name if sidecar else "a file"
    return BadInput(
        f"Epoch {bench.epoch} has no fact for a question with one exact answer; choose another epoch, or write "
        f"questions into {where}."
    )


def count_from_other_epochs(bench: Bench, probes: Sequence[Probe]) -> int:
    """Count the questions about messages that are not in the bench's epoch."""
    known = bench.context.shape.index_of
    return sum(bool(probe.source) and probe.source not in known for probe in probes)


def recorded_compaction(bench: Bench) -> Outcome:
    """Return the recorded compaction at the end of this epoch. Raises BadInput for none, and for an unreadable one."""
    try:
        outcome = recorded_outcome(bench.session, bench.epoch)
    except KeyError:
        raise BadInput(f"No recorded compaction ended epoch {bench.epoch}; name another with --epoch.") from None
    if is_unreadable(outcome):
        raise BadInput(
            f"The summary that ended epoch {bench.epoch} is encrypted or not in the file; it cannot be judged."
        )
    return outcome


def exam_of(bench: Bench, probes: tuple[Probe, ...], outcomes: Sequence[tuple[str, Outcome]], seed: int = 0) -> Exam:
    return Exam(bench.session, probes, arm_contexts(bench.context, outcomes), seed)


@dataclass(frozen=True, slots=True)
class QuestionCosts:
    """Cost estimate of the questions: `calls` to make, besides those `answered` before, their tokens, expected and
    highest cost. `judge_cost` is the highest cost of a judge, whose calls are not counted."""

    calls: int
    answered: int
    tokens: int
    cost: Cost
    at_most: Cost
    judge_cost: Cost

    @property
    def most(self) -> float | None:
        """Highest total cost in dollars; None if a price is unknown."""
        return added((self.at_most.dollars, self.judge_cost.dollars))


def question_costs(
    bench: Bench, exam: Exam, model: str, known: Mapping[str, Answer], *, batch: bool = False
) -> QuestionCosts:
    """Estimate the cost of the questions that `known` does not answer. Renders the requests: not for an event loop.
    Raises BadInput for a broken table of models."""
    meter, name = bench.layout.sizes.meter, parse_model(model)
    calls = request_costs_of(driver.drive(exam.asking(known), estimate), meter, name)
    judging = request_costs_of(driver.drive(exam.most_judgements(), estimate), meter, name) if calls else ()
    answered = len({sheet.request.key for sheet in exam.question_batches} & known.keys())
    costs = ([one.cost for one in calls], [one.at_most for one in calls], [one.at_most for one in judging])
    totals = (together(several, model) for several in costs)
    cost, at_most, judge_cost = (in_batch(one) if batch else one for one in totals)
    return QuestionCosts(len(calls), answered, sum(one.tokens for one in calls), cost, at_most, judge_cost)


def total_costs(several: Sequence[QuestionCosts], model: str) -> QuestionCosts:
    """Return the sum of the estimates of several sessions."""
    return QuestionCosts(
        sum(one.calls for one in several),
        sum(one.answered for one in several),
        sum(one.tokens for one in several),
        together([one.cost for one in several], model),
        together([one.at_most for one in several], model),
        together([one.judge_cost for one in several], model),
    )


def in_batch(cost: Cost) -> Cost:
    return at_share(cost, batches.PRICE_FACTOR, "half the price, as a batch")


def saved_answers(bench: Bench, model: str) -> dict[str, Answer]:
    """Return the model's earlier answers in the run history, by request key. Raises BadInput for an unreadable run
    history."""
    return known_answers(fingerprint(bench.session), parse_model(model).model)


@dataclass(frozen=True, slots=True)
class RuleByVariant:
    """A watched rule and its state in each variant."""

    sentence: str
    verdicts: tuple[RuleVerdict, ...]


def rules_by_variant(bench: Bench, exam: Exam) -> tuple[RuleByVariant, ...]:
    """Judge each watched rule in every variant; an empty context has lost it. Reads every message: not for an event
    loop."""
    by_variant = [
        [state.after or state.now for state in rule_states(bench, source.outcome)] if source.messages else None
        for source in exam.contexts
    ]
    return tuple(
        RuleByVariant(sentence, tuple(states[at] if states else "gone" for states in by_variant))
        for at, sentence in enumerate(bench.watched)
    )


@dataclass(frozen=True)
class QuestionRun:
    """Graded answers, and the record for the run history, None if nothing was sent. `failed` gives the reason of
    each failed call. `cut`: the model's window was too small for a variant, and its oldest messages were left out."""

    answers: ProbeResults
    record: RunRecord | None
    failed: tuple[str, ...]
    cut: bool


async def ask(
    bench: Bench,
    exam: Exam,
    model: str,
    known: Mapping[str, Answer],
    spend_limit: SpendLimit,
    on_event: OnLiveEvent = ignore_event,
) -> QuestionRun:
    """Ask `model` the questions that `known` does not answer; each answer is saved in the run history at once. Raises
    BadInput without a key."""
    live = LiveRun(bench, parse_model(model))
    summarizer = await connect(live, spend_limit, on_event)
    run = await drive_live(
        live, receive_recorded_forms(exam.asking(known)), summarizer, keeps=True, edit=without_strategy
    )
    return await asyncio.to_thread(grade_run, exam, known, live, run)


async def ask_in_batch(
    bench: Bench,
    exam: Exam,
    model: str,
    known: Mapping[str, Answer],
    on_batch: batches.OnBatch,
    uploads: asyncio.Semaphore,
    keep: Callable[[RunRecord], object],
) -> QuestionRun:
    """Ask through the Message Batches API, at half the price; answers come within a day, mostly within an hour. A batch
    of an earlier run is resumed unless its record was saved. `keep` saves the record, in a thread. Raises BadInput; its
    text says whether a batch is still running."""
    live = LiveRun(bench, SummarizerName("anthropic", model))
    compacting = receive_recorded_forms(exam.asking(known))
    async with batches.batch_run(
        compacting, model, bench.session, on_batch, uploads, on_live_event=live.recorder.on_live_event
    ) as run:
        live.recorder.add_answers(run.requests, run.answers)
        done = grade_run(exam, known, live, run)
        if done.record is None:
            return done
        usages = [call.usage.billed for call in done.record.calls if call.usage]
        dollars = None if live.recorder.usage_problem else in_batch(actual_of_all(usages, model)).dollars
        record = done.record.model_copy(update={"dollars": dollars})
        await asyncio.to_thread(keep, record)
        return replace(done, record=record)


def grade_run(exam: Exam, known: Mapping[str, Answer], live: LiveRun, run: driver.Run) -> QuestionRun:
    """Grade the answers of a run. Renders the requests: not for an event loop."""
    record = without_strategy(live.finished(run, ())) if run.requests else None
    cut = any(isinstance(event, PromptShortened) for event in live.recorder.events)
    failed = tuple(answer.detail or answer.kind for answer in run.answers if isinstance(answer, SummaryFailed))
    return QuestionRun(
        graded(exam, {**known, **recorded_forms(run.answers_by_key)}, live.name.model), record, failed, cut
    )
