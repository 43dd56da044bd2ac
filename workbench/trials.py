"""Two prompts or two models on many sessions: what each came to on every one, and whether one is better.

Both sides of a session are asked about the same head, so that they are compared pair by pair: the same facts, the same
questions. The interval of a difference draws sessions first, and then of each session drawn its pairs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import Literal, get_args

from workbench.analysis.grounding_of_runs import grounded
from workbench.analysis.probes import looked_up
from workbench.analysis.probes.graded import drawn_mean
from workbench.analysis.retention import HeldFact
from workbench.base.errors import BadInput
from workbench.compaction.checks import check
from workbench.compaction.strategy import Answer, Summary, SummaryFailed
from workbench.kept import as_it_goes, finished
from workbench.probing import exam_of, in_batch, questions
from workbench.quotes import quotes_for
from workbench.session import fingerprint
from workbench.sides import Side
from workbench.summarizers import batches, driver, journal
from workbench.summarizers.connections import DEFAULT
from workbench.summarizers.driver import drive
from workbench.summarizers.estimate import estimate
from workbench.summarizers.named import named, need_key
from workbench.summarizers.purse import Purse, Spending
from workbench.summarizers.recorded import but_known, recorded
from workbench.summarizers.server_side import can_be_read
from workbench.tokens.cost import actual_of_all, added

Measure = Literal["facts told rightly", "claims with ground", "questions answered"]
MEASURES: tuple[Measure, ...] = get_args(Measure)

HALF = 0.5
"""What a fact counts that is held in part."""


@dataclass(frozen=True)
class Came:
    """What a side came to on one session. `after` and `drafted` in tokens; `facts` of the head by kind, words and
    place, 1 where it is told rightly and 0 where not; of its claims how many have ground, and of how many; `answered`
    are the questions, looked up in what it left, in their order. `dollars` was spent now, None where that is not known;
    `run` is its record, "" where nothing was asked now or kept."""

    status: str
    failed: tuple[str, ...]
    after: int
    drafted: int
    facts: Mapping[tuple[str, str, int], float]
    claims: tuple[int, int] | None
    answered: tuple[bool | None, ...]
    dollars: float | None
    run: str

    def share(self, measure: Measure) -> float | None:
        """From 0 to 1; None where there is nothing to be held."""
        if measure == "facts told rightly":
            return sum(self.facts.values()) / len(self.facts) if self.facts else None
        if measure == "claims with ground":
            return self.claims[0] / self.claims[1] if self.claims and self.claims[1] else None
        known = [hit for hit in self.answered if hit is not None]
        return sum(known) / len(known) if known else None


@dataclass(frozen=True)
class Trial:
    """A session, the size of its context in tokens, and both sides."""

    file: Path
    epoch: int
    before: int
    a: Came
    b: Came

    @property
    def counts(self) -> bool:
        """Whether both sides were compacted; where one failed, or nothing was to be done, there is no pair."""
        return all(not side.failed and side.status == "compacted" for side in (self.a, self.b))

    def pairs(self, measure: Measure) -> list[tuple[float, float]]:
        """A's and B's: of every fact and question that both had, of claims the shares."""
        a, b = self.a, self.b
        if measure == "facts told rightly":
            return [(a.facts[key], b.facts[key]) for key in a.facts if key in b.facts]
        if measure == "questions answered":
            both = zip(a.answered, b.answered, strict=True) if a.answered and b.answered else ()
            return [(float(one), float(other)) for one, other in both if one is not None and other is not None]
        one, other = a.share(measure), b.share(measure)
        return [] if one is None or other is None else [(one, other)]


@dataclass(frozen=True)
class Verdict:
    """Over all pairs of the sessions that both sides compacted: each side's mean, and by how much B is above A
    (`mean`, from `low` to `high` in 95 % of the draws)."""

    measure: Measure
    sessions: int
    a: float
    b: float
    mean: float
    low: float
    high: float

    @property
    def better(self) -> Literal["A", "B", ""]:
        """The side that is better in 95 % of the draws, "" where neither is."""
        return "B" if self.low > 0 else "A" if self.high < 0 else ""


def verdicts(trials: Sequence[Trial]) -> tuple[Verdict, ...]:
    """One for each measure that some session has."""
    found = []
    for measure in MEASURES:
        sessions = [pairs for trial in trials if trial.counts and (pairs := trial.pairs(measure))]
        if drawn := drawn_mean([[b - a for a, b in pairs] for pairs in sessions]):
            every = [pair for pairs in sessions for pair in pairs]
            a, b = (fsum(side) / len(every) for side in zip(*every, strict=True))
            found.append(Verdict(measure, len(sessions), a, b, *drawn))
    return tuple(found)


# --- running ----------------------------------------------------------------------------------------------------------


def known_answers(side: Side) -> dict[str, Answer]:
    """By the request's key what the same summarizer has written about the session before, as the journal keeps it.
    Raises BadInput for a journal that cannot be read."""
    if not side.name.is_kept:
        return {}
    session, name = fingerprint(side.bench.session), str(side.name)
    ids = [one.id for one in journal.kept() if (one.session, one.summarizer) == (session, name)]
    found: dict[str, Answer] = {}
    for id in reversed(ids):
        with suppress(BadInput):  # one that is damaged is asked for again
            found |= {key: answer for key, answer in journal.load(id).answers.items() if isinstance(answer, Summary)}
    return found


@dataclass(frozen=True)
class Foreseen:
    """What a side still has to ask: so many calls, and what they can cost, None where a price is not known."""

    calls: int
    most: float | None
    about: float | None


def foreseen(side: Side, known: Mapping[str, Answer], *, batch: bool) -> Foreseen:
    """Renders and counts the requests: not for an event loop."""
    if not side.name.model:
        return Foreseen(0, 0.0, 0.0)
    run = drive(but_known(side.bench.compacting(), known), estimate)
    found = quotes_for(run, side.bench.layout.sizes.meter, side.name)
    share = batches.PRICE if batch else 1.0
    most, about = added(one.at_most.dollars for one in found), added(one.cost.dollars for one in found)
    return Foreseen(len(found), most and most * share, about and about * share)


@dataclass(frozen=True)
class Ways:
    """How sides are asked: what they may cost, whether their runs are kept, and of a batch what is told of it."""

    purse: Purse
    keeps: bool
    on_batch: batches.OnBatch | None = None
    uploads: asyncio.Semaphore | None = None


async def came_of(side: Side, known: Mapping[str, Answer], ways: Ways, tell: Callable[[str], None]) -> Came:
    """Ask what is not known yet, keep that, and judge the whole; `tell` hears why a run could not be kept. Raises
    BadInput without a key, and where a batch is not taken."""
    await need_key(side.name)
    bench, name, recorder = side.bench, side.name, side.recorder
    generator = but_known(bench.compacting(), known)
    kept = ways.keeps and name.is_kept
    if ways.on_batch is not None and name.model:
        if name.kind != DEFAULT:
            raise BadInput(f"{name} is asked over a connection without batches; leave --batch out.")
        gate = ways.uploads or batches.few_at_once()
        async with batches.ran(generator, name.model, bench.session, ways.on_batch, gate) as run:
            recorder.took(run)
            bills = [answer.usage for answer in run.answers if isinstance(answer, Summary) and answer.usage]
            dollars = in_batch(actual_of_all(bills, name.model)).dollars
            id = await asyncio.to_thread(_keep, side, run, dollars, tell) if kept and run.requests else ""
    else:
        spending = Spending(ways.purse, bench.layout.sizes.meter.text_tokens)
        summarizer = await asyncio.to_thread(
            lambda: named(name, on_event=recorder.heard, session=bench.session, spending=spending)
        )
        going = as_it_goes(bench, name, recorder, side.began) if kept and name.model else None
        run = await driver.run(generator, summarizer, on_event=recorder.told, keep=going)
        dollars = actual_of_all(recorder.bills, name.model).dollars if name.model else 0.0
        id = await asyncio.to_thread(_keep, side, run, dollars, tell) if kept and run.requests else ""
    return await asyncio.to_thread(_judged, side, {**known, **run.recording}, dollars, id)


def _keep(side: Side, run: driver.Run, dollars: float | None, tell: Callable[[str], None]) -> str:
    bench = side.bench
    checks = check(bench.context, run.outcome, bench.strategy, bench.policy)
    record = finished(side.record(run.seconds), run.outcome, bench.context, checks)
    record = record.model_copy(update={"dollars": dollars})
    if trouble := journal.keep(record):
        tell(trouble)
        return ""
    return record.id


def _judged(side: Side, answers: Mapping[str, Answer], dollars: float | None, id: str) -> Came:
    bench = side.bench
    run = drive(bench.compacting(), recorded(answers))
    outcome = run.outcome
    held = bench.held(outcome)
    readable = can_be_read(run.answers)
    ground = grounded(run) if readable and any(isinstance(one, Summary) for one in run.answers) else None
    probes = questions(bench).probes
    answered: tuple[bool | None, ...] = ()
    if probes and readable:
        found = looked_up(exam_of(bench, probes, [("", outcome)]))
        answered = tuple(found.hits(1))
    drafts = "\n\n".join(one.text for one in run.answers if isinstance(one, Summary))
    return Came(
        outcome.status,
        tuple(str(one) for one in run.answers if isinstance(one, SummaryFailed)),
        bench.context.outcome_size(outcome).tokens,
        bench.layout.sizes.meter.text_tokens(drafts),
        {(fact.kind, fact.text, fact.index): _told(fact) for fact in held.facts} if readable else {},
        (ground.claims - len(ground.unfounded), ground.claims) if ground else None,
        answered,
        dollars,
        id,
    )


def _told(fact: HeldFact) -> float:
    if not fact.right or fact.held in ("none", "unknown"):
        return 0.0
    return 1.0 if fact.held == "full" else HALF


async def trial_of(
    pair: Sequence[Side], known: Sequence[Mapping[str, Answer]], ways: Ways, tell: Callable[[str], None]
) -> Trial:
    """Both sides at once. Raises BadInput."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(came_of(side, already, ways, tell)) for side, already in zip(pair, known, strict=True)
            ]
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
    bench = pair[0].bench
    a, b = (task.result() for task in tasks)
    assert bench.session.path is not None
    return Trial(bench.session.path, bench.epoch, bench.context.total.tokens, a, b)
