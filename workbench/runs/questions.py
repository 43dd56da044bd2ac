"""Probes on the bench: which questions, put to whom, what asking a model costs, and its answers as they are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.analysis.later_use import folder_of
from workbench.analysis.probes import (
    MOST,
    Exam,
    Probe,
    Probing,
    beside,
    graded,
    probes_of,
    read_probes,
    sourced,
    sources_of,
)
from workbench.analysis.probes.journalled import answers_before, as_probe
from workbench.analysis.recorded import recorded_outcome
from workbench.analysis.retention import unread
from workbench.analysis.watched import Verdict
from workbench.base.errors import BadInput
from workbench.bench import Bench, rule_states
from workbench.compaction.outcome import Outcome
from workbench.compaction.summary_request import Answer, SummaryFailed
from workbench.runs.cost_estimate import request_costs_of
from workbench.runs.live_run import LiveRun, connect, drive_live
from workbench.session import fingerprint
from workbench.summarizers import batches, driver
from workbench.summarizers.estimate import estimate
from workbench.summarizers.live_events import OnLiveEvent, Shrunk, nobody
from workbench.summarizers.named import Name, asking
from workbench.summarizers.purse import Purse
from workbench.summarizers.recorded import heard_as_kept, kept
from workbench.summarizers.runs import Run
from workbench.tokens.cost import Cost, actual_of_all, added, at_share, together

RECORDED = "recorded"
"""The arm of the agent's own compaction."""


@dataclass(frozen=True, slots=True)
class Questions:
    """The probes, and the file they are from, None where they were made from the session."""

    probes: tuple[Probe, ...]
    file: Path | None

    @property
    def origin(self) -> str:
        return str(self.file) if self.file else "generated from the session"


def questions(bench: Bench, file: Path | None = None, most: int | None = None) -> Questions:
    """Those of `file`, else of the one beside the session, else made of what the epoch says, which may be none; at most
    `most`. Raises BadInput for a file that is none."""
    lies = beside(bench.session)
    path = file or (lies if lies and lies.exists() else None)
    if path:
        return Questions(sourced(read_probes(path)[:most], bench.context.messages), path)
    return Questions(generated_questions(bench, most), None)


def generated_questions(bench: Bench, most: int | None = None) -> tuple[Probe, ...]:
    """The questions that what the epoch says gives, which may be none."""
    folder = folder_of(bench.session)
    return probes_of(bench.context.shape, folder, bench.needed, MOST if most is None else most)


def no_questions_error(bench: Bench) -> BadInput:
    lies = beside(bench.session)
    where = lies.name if lies else "a file"
    return BadInput(
        f"Epoch {bench.epoch} has no fact for a question with one exact answer; choose another epoch, or write "
        f"questions into {where}."
    )


def count_from_other_epochs(bench: Bench, probes: Sequence[Probe]) -> int:
    """How many ask of messages that the epoch on the bench does not have."""
    known = bench.context.shape.index_of
    return sum(bool(probe.source) and probe.source not in known for probe in probes)


def recorded_compaction(bench: Bench) -> Outcome:
    """The compaction that the session records of this epoch. Raises BadInput where none did, or none can read it."""
    try:
        outcome = recorded_outcome(bench.session, bench.epoch)
    except KeyError:
        raise BadInput(f"No recorded compaction ended epoch {bench.epoch}; name another with --epoch.") from None
    if unread(outcome):
        raise BadInput(
            f"The summary that ended epoch {bench.epoch} is encrypted or not in the file; it cannot be judged."
        )
    return outcome


def exam_of(bench: Bench, probes: tuple[Probe, ...], outcomes: Sequence[tuple[str, Outcome]], seed: int = 0) -> Exam:
    return Exam(bench.session, probes, sources_of(bench.context, outcomes), seed)


@dataclass(frozen=True, slots=True)
class QuestionCosts:
    """What asking will take: so many calls, beside those `answered` before, and about so many tokens at about this
    cost, and at most; and what a judge can cost at most beside them, whose calls are not counted."""

    calls: int
    answered: int
    tokens: int
    cost: Cost
    at_most: Cost
    judged: Cost

    @property
    def most(self) -> float | None:
        """All that it can cost, in dollars; None where that is not known."""
        return added((self.at_most.dollars, self.judged.dollars))


def question_costs(
    bench: Bench, exam: Exam, model: str, known: Mapping[str, Answer], *, batch: bool = False
) -> QuestionCosts:
    """As any run is quoted, by what would be sent. Renders the requests: not for an event loop. Raises BadInput for a
    broken table of models."""
    meter, whom = bench.layout.sizes.meter, asking(model)
    foreseen = request_costs_of(driver.drive(exam.asking(known), estimate), meter, whom)
    judging = request_costs_of(driver.drive(exam.judged_at_most(), estimate), meter, whom) if foreseen else ()
    answered = len({sheet.request.key for sheet in exam.sheets} & known.keys())
    costs = ([one.cost for one in foreseen], [one.at_most for one in foreseen], [one.at_most for one in judging])
    cost, at_most, judged = (in_batch(one) if batch else one for one in (together(several, model) for several in costs))
    return QuestionCosts(len(foreseen), answered, sum(one.tokens for one in foreseen), cost, at_most, judged)


def total_costs(quotes: Sequence[QuestionCosts], model: str) -> QuestionCosts:
    """What it will take to ask after several sessions."""
    return QuestionCosts(
        sum(one.calls for one in quotes),
        sum(one.answered for one in quotes),
        sum(one.tokens for one in quotes),
        together([one.cost for one in quotes], model),
        together([one.at_most for one in quotes], model),
        together([one.judged for one in quotes], model),
    )


def in_batch(cost: Cost) -> Cost:
    return at_share(cost, batches.PRICE, "half the price, as a batch")


def saved_answers(bench: Bench, model: str) -> dict[str, Answer]:
    """What the journal keeps of earlier questions to the model. Raises BadInput for a journal that cannot be read."""
    return answers_before(fingerprint(bench.session), asking(model).model)


@dataclass(frozen=True, slots=True)
class RuleByVariant:
    """A watched sentence, and by arm how it stands in what the questions are answered from."""

    sentence: str
    verdicts: tuple[Verdict, ...]


def rules_by_variant(bench: Bench, exam: Exam) -> tuple[RuleByVariant, ...]:
    """Each watched sentence in every arm; in nothing it is gone. Reads every message: not for an event loop."""
    by_arm = [
        [stand.after or stand.now for stand in rule_states(bench, source.outcome)] if source.messages else None
        for source in exam.sources
    ]
    return tuple(
        RuleByVariant(sentence, tuple(those[at] if those else "gone" for those in by_arm))
        for at, sentence in enumerate(bench.watched)
    )


@dataclass(frozen=True)
class QuestionRun:
    """What a model answered, as it is graded, and the record of the run for the journal; None where all of it was
    answered before. `failed` says of each call that gave no answer why; `cut`: the model's window was too small for
    an arm, and its oldest messages were left out."""

    probing: Probing
    record: Run | None
    failed: tuple[str, ...]
    cut: bool


async def ask(
    bench: Bench, exam: Exam, model: str, known: Mapping[str, Answer], purse: Purse, on_event: OnLiveEvent = nobody
) -> QuestionRun:
    """Ask `model` whatever `known` has no answer to; each answer is in the journal when it has come. Raises BadInput
    without a key."""
    live = LiveRun(bench, asking(model))
    summarizer = await connect(live, purse, on_event)
    run = await drive_live(live, heard_as_kept(exam.asking(known)), summarizer, keeps=True, as_kept=as_probe)
    return await asyncio.to_thread(grade_run, exam, known, live, run)


async def ask_in_batch(
    bench: Bench,
    exam: Exam,
    model: str,
    known: Mapping[str, Answer],
    on_batch: batches.OnBatch,
    uploads: asyncio.Semaphore,
    keep: Callable[[Run], object],
) -> QuestionRun:
    """The same through the Message Batches API, at half the price: within a day, mostly within the hour. A batch that
    an earlier run sent is taken up, until the record of its answers has been given to `keep`, in a thread. Raises
    BadInput, which says whether a batch goes on."""
    live = LiveRun(bench, Name("anthropic", model))
    compacting = heard_as_kept(exam.asking(known))
    async with batches.ran(compacting, model, bench.session, on_batch, uploads, tell=live.recorder.heard) as run:
        live.recorder.took(run.requests, run.answers)
        done = grade_run(exam, known, live, run)
        if done.record is None:
            return done
        bills = [call.usage.billed for call in done.record.calls if call.usage]
        dollars = None if live.recorder.misbilled else in_batch(actual_of_all(bills, model)).dollars
        record = done.record.model_copy(update={"dollars": dollars})
        await asyncio.to_thread(keep, record)
        return replace(done, record=record)


def grade_run(exam: Exam, known: Mapping[str, Answer], live: LiveRun, run: driver.Run) -> QuestionRun:
    """Grade what a run answered. Renders the requests: not for an event loop."""
    record = as_probe(live.finished(run, ())) if run.requests else None
    cut = any(isinstance(event, Shrunk) for event in live.recorder.events)
    failed = tuple(answer.detail or answer.kind for answer in run.answers if isinstance(answer, SummaryFailed))
    return QuestionRun(graded(exam, {**known, **kept(run.recording)}, live.name.model), record, failed, cut)
