"""Variants of a compaction on many sessions: the figures of each, and whether one is better than the first.

    queue_session(file, open, …)        calls and cost of a session
    compare_live(file, open, asking)    every variant of a session at once
    compare_in_batches(file, open, …)   the same through Message Batches
    verdicts(sessions)                  each variant against the first, over all sessions

All variants of a session summarize the same head, so they are compared in pairs: the same fact or question under both.
The interval of a difference comes from random draws of sessions, and then of pairs in each drawn session.

Only one session is in memory at a time; of the others only figures are kept.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from math import fsum
from pathlib import Path
from typing import Literal, get_args

from workbench.analysis.head_index import texts_of
from workbench.analysis.probes import looked_up
from workbench.analysis.probes.results import bootstrap_mean
from workbench.analysis.retention import TrackedFact
from workbench.base.errors import BadInput
from workbench.bench import Bench, RuleState
from workbench.bench.assessment import Assessment, assess
from workbench.compaction.strategy import Compacting
from workbench.compaction.summary_request import Answer, Summary, SummaryFailed
from workbench.runs.cost_estimate import request_costs_of
from workbench.runs.live_run import FinishedRun, LiveRun, connect, drive_live
from workbench.runs.questions import exam_of, in_batch, questions
from workbench.session import fingerprint
from workbench.summarizers import batches, driver, run_history
from workbench.summarizers.by_name import check_key
from workbench.summarizers.connections import DEFAULT
from workbench.summarizers.driver import drive
from workbench.summarizers.estimate import estimate
from workbench.summarizers.recorded_answers import (
    ask_only_missing,
    receive_recorded_forms,
    recorded_forms,
    recorded_summarizer,
)
from workbench.summarizers.server_compaction import are_readable
from workbench.summarizers.spend_limit import SpendLimit
from workbench.tokens.cost import actual_of_all, added

Measure = Literal["facts correct", "supported claims", "questions answered", "watched rules kept"]
MEASURES: tuple[Measure, ...] = get_args(Measure)

HALF = 0.5
"""Credit for a fact that is kept in part."""


@dataclass(frozen=True)
class VariantFigures:
    """Figures of one assessment, which outlive its session.

    `after` and `summary` are tokens. `facts` has the credit of each fact of the head by kind, text and message index: 1
    if kept completely and correct, `HALF` if kept in part, else 0. `claims`: number of supported claims of the summary,
    and of all its claims. `answered` is True for each question that the outcome answers, `watched` for each rule that
    it keeps, verbatim or paraphrased; None if unknown. `dollars` was billed by this run, None if the price is unknown;
    `run` is the id of its record, "" without one.
    """

    status: str
    failures: tuple[str, ...]
    after: int
    summary: int
    facts: Mapping[tuple[str, str, int], float]
    claims: tuple[int, int] | None
    answered: tuple[bool | None, ...]
    watched: tuple[bool | None, ...]
    dollars: float | None
    run: str

    @property
    def is_compacted(self) -> bool:
        """False if a call failed, or the outcome is no compaction."""
        return not self.failures and self.status == "compacted"

    def share(self, measure: Measure) -> float | None:
        """Return the share from 0 to 1; None if nothing can be measured."""
        if measure == "facts correct":
            return sum(self.facts.values()) / len(self.facts) if self.facts else None
        if measure == "supported claims":
            return self.claims[0] / self.claims[1] if self.claims and self.claims[1] else None
        known = [hit for hit in self.hits(measure) if hit is not None]
        return sum(known) / len(known) if known else None

    def hits(self, measure: Measure) -> tuple[bool | None, ...]:
        """Return the result of each question or rule."""
        return self.answered if measure == "questions answered" else self.watched


def variant_figures(one: Assessment, dollars: float | None, run: str) -> VariantFigures:
    """Compute the figures. Reads every message: not for an event loop."""
    bench, answers, ground = one.bench, one.run.answers, one.grounding
    readable = are_readable(answers)
    probes = questions(bench).probes if readable else ()
    summaries = "\n\n".join(each.text for each in answers if isinstance(each, Summary))
    return VariantFigures(
        one.outcome.status,
        tuple(str(each) for each in answers if isinstance(each, SummaryFailed)),
        one.after.tokens,
        bench.layout.sizes.meter.text_tokens(summaries),
        {(fact.kind, fact.text, fact.index): _fact_credit(fact) for fact in one.retention.facts} if readable else {},
        (ground.claims - len(ground.unsupported), ground.claims) if ground else None,
        tuple(looked_up(exam_of(bench, probes, [("", one.outcome)])).hits(1)) if probes else (),
        tuple(map(_rule_survives, one.watched)),
        dollars,
        run,
    )


def _fact_credit(fact: TrackedFact) -> float:
    return {"full": 1.0, "part": HALF}.get(fact.state, 0.0)


def _rule_survives(one: RuleState) -> bool | None:
    """Return True if the outcome keeps the rule; None if the context had lost it before, or its state is unknown."""
    there = ("verbatim", "paraphrased")
    return one.after in there if one.now in there and one.after not in (None, "unknown") else None


@dataclass(frozen=True)
class SessionResult:
    """Result of one session: the size of its context in tokens, and the figures of every variant, in order."""

    file: Path
    epoch: int
    before: int
    variants: tuple[VariantFigures, ...]

    def counts(self, variant: int) -> bool:
        """True if this variant (from 0) and the first both compacted: only then are there pairs."""
        return self.variants[0].is_compacted and self.variants[variant].is_compacted

    def pairs(self, measure: Measure, variant: int) -> list[tuple[float, float]]:
        """Return the values of the first variant and of this one, for every fact, question and rule that both have; for
        claims the shares."""
        first, other = self.variants[0], self.variants[variant]
        if measure == "facts correct":
            return [(first.facts[key], other.facts[key]) for key in first.facts if key in other.facts]
        if measure == "supported claims":
            shares = first.share(measure), other.share(measure)
            return [] if shares[0] is None or shares[1] is None else [(shares[0], shares[1])]
        hits = first.hits(measure), other.hits(measure)
        both = zip(*hits, strict=True) if all(hits) else ()
        return [(float(one), float(two)) for one, two in both if one is not None and two is not None]


@dataclass(frozen=True)
class VariantVerdict:
    """One variant (from 0) against the first, over all pairs of the sessions that both compacted: the mean value of
    `first` and of this one (`share`), and the mean difference, between `low` and `high` in 95 % of the draws."""

    measure: Measure
    variant: int
    sessions: int
    first: float
    share: float
    mean: float
    low: float
    high: float

    @property
    def better(self) -> int | None:
        """Index of the variant that is better in 95 % of the draws: this one, or 0 for the first; else None."""
        return self.variant if self.low > 0 else 0 if self.high < 0 else None


def verdicts(sessions: Sequence[SessionResult]) -> tuple[VariantVerdict, ...]:
    """Compare each variant with the first, by each measure that some session has."""
    found = []
    count = len(sessions[0].variants) if sessions else 0
    for variant, measure in product(range(1, count), MEASURES):
        several = [pairs for one in sessions if one.counts(variant) and (pairs := one.pairs(measure, variant))]
        if drawn := bootstrap_mean([[other - first for first, other in pairs] for pairs in several]):
            every = [pair for pairs in several for pair in pairs]
            first, share = (fsum(values) / len(every) for values in zip(*every, strict=True))
            found.append(VariantVerdict(measure, variant, len(several), first, share, *drawn))
    return tuple(found)


# --- before anything is sent ------------------------------------------------------------------------------------------

Open = Callable[[Path], tuple[LiveRun, ...]]
"""Opens a file under each variant and counts its tokens; not for an event loop. Raises BadInput."""


@dataclass(frozen=True)
class QueuedSession:
    """A session to compare. `calls` is the number of calls to make, `most` their highest and `about` their expected
    cost in dollars, None if a price is unknown. `models` are named in words. `content` is equal for sessions with the
    same text. `reason` says why the session was not run."""

    file: Path
    labels: tuple[str, ...]
    models: str
    content: str
    calls: int
    most: float | None
    about: float | None
    reason: str = ""


def queue_session(file: Path, open: Open, *, again: bool, batch: bool) -> QueuedSession:
    """Count and price the calls of a session. With `again`, answers in the run history need no call. Renders and counts
    the requests: not for an event loop. Raises BadInput."""
    live = open(file)
    calls = 0
    costs: list[tuple[float | None, float | None]] = [(0.0, 0.0)]
    for one in live:
        if one.name.model:
            run = drive(ask_only_missing(one.bench.compacting(), known_answers(one) if again else {}), estimate)
            found = request_costs_of(run, one.bench.layout.sizes.meter, one.name)
            share = batches.PRICE_FACTOR if batch else 1.0
            most, about = added(each.at_most.dollars for each in found), added(each.cost.dollars for each in found)
            calls += len(found)
            costs.append((most and most * share, about and about * share))
    models = " and ".join(dict.fromkeys(one.name.model for one in live if one.name.model))
    most, about = (added(amounts) for amounts in zip(*costs, strict=True))
    labels = tuple(one.label for one in live)
    return QueuedSession(file, labels, models, _content_digest(live[0].bench), calls, most, about)


def _content_digest(bench: Bench) -> str:
    """Return a hash of roles and texts only, because ids, times and names differ in copied and forked sessions."""
    digest = hashlib.blake2b(digest_size=16)
    for message in bench.messages:
        for part in (message.role, *texts_of(message)):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(b"%d:%b" % (len(data), data))
    return digest.hexdigest()


def duplicates(several: Sequence[QueuedSession]) -> dict[Path, Path]:
    """Map each file whose context has the same text as that of an earlier file to that file."""
    first: dict[str, Path] = {}
    return {one.file: there for one in several if (there := first.setdefault(one.content, one.file)) != one.file}


def known_answers(live: LiveRun) -> dict[str, Answer]:
    """Return the answers of the same summarizer about the session in the run history, by request key. Raises BadInput
    for an unreadable run history."""
    if not live.name.has_run_record:
        return {}
    session, name = fingerprint(live.bench.session), str(live.name)
    ids = [one.id for one in run_history.list_runs() if (one.session, one.summarizer) == (session, name)]
    found: dict[str, Answer] = {}
    for id in reversed(ids):
        with suppress(BadInput):  # a damaged record is skipped; its requests are sent again
            found |= {
                key: answer for key, answer in run_history.load_run(id).answers.items() if isinstance(answer, Summary)
            }
    return found


# --- running ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExperimentOptions:
    """Spend limit of an experiment, and its callbacks. `saves`: save runs in the run history and reuse its answers;
    `warn` receives the reason when a run cannot be saved, `on_batch` the progress of a batch, asked every `every_s`
    seconds."""

    spend_limit: SpendLimit
    saves: bool
    warn: Callable[[str], None]
    on_batch: batches.OnBatch = lambda _: None
    every_s: float = batches.POLL_S


async def compare_live(file: Path, open: Open, asking: ExperimentOptions) -> SessionResult:
    """Run all variants at once. Raises BadInput."""
    live = await asyncio.to_thread(open, file)
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_run_live(one, asking)) for one in live]
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
    return _session_result(file, live[0].bench, [task.result() for task in tasks])


async def compare_in_batches(
    file: Path, open: Open, asking: ExperimentOptions, turn: asyncio.Semaphore
) -> SessionResult:
    """Run all variants through Message Batches. The session is open only while it has its `turn`, and closed while a
    batch runs. Raises BadInput without a key, and where a batch is rejected."""
    done: dict[int, VariantFigures] = {}
    while True:
        async with turn:
            bench, waits = await _run_until_batches_wait(file, open, asking, done)
            if bench is not None:
                return _session_result(file, bench, [done[place] for place in sorted(done)])
        for id, resumed in waits.items():
            await batches.wait_for_batch(id, asking.on_batch, asking.every_s, resumed=resumed)


async def _run_until_batches_wait(
    file: Path, open: Open, asking: ExperimentOptions, done: dict[int, VariantFigures]
) -> tuple[Bench | None, dict[str, bool]]:
    """Add the figures of finished variants to `done`. Return the bench if all are finished, else the ids of the batches
    to wait for, True for those that an earlier run sent. Exceptions are not returned: they would keep the session in
    memory."""
    live = await asyncio.to_thread(open, file)
    left = [place for place in range(len(live)) if place not in done]
    ends = await asyncio.gather(*(_run_in_batches(live[place], asking) for place in left), return_exceptions=True)
    waits: dict[str, bool] = {}
    for place, end in zip(left, ends, strict=True):
        if isinstance(end, VariantFigures):
            done[place] = end
        elif isinstance(end, batches.BatchPending):
            waits[end.id] = end.resumed
            end.__traceback__ = None
        else:
            raise end
    return None if waits else live[0].bench, waits


def _session_result(file: Path, bench: Bench, variants: Sequence[VariantFigures]) -> SessionResult:
    return SessionResult(file, bench.epoch, bench.context.total.tokens, tuple(variants))


async def _run_live(live: LiveRun, asking: ExperimentOptions) -> VariantFigures:
    """Send the requests without a known answer, save the answers, and assess the run. Raises BadInput without a key."""
    summarizer = await connect(live, asking.spend_limit)
    known = await asyncio.to_thread(known_answers, live) if asking.saves else {}
    run = await drive_live(live, _compacting_with_known(live, known), summarizer, keeps=asking.saves)
    dollars = live.recorder.cost(live.name.model).dollars if live.name.model else 0.0
    return await asyncio.to_thread(_assess_run, live, known, run, dollars, asking)


async def _run_in_batches(live: LiveRun, asking: ExperimentOptions) -> VariantFigures:
    """Run a variant with the batches that have ended. Raises BatchPending for one that has not."""
    name = live.name
    if not name.model:
        return await _run_live(live, asking)
    if name.kind != DEFAULT:
        raise BadInput(f"{name} uses a connection without batches; leave --batch out.")
    await check_key(name)
    known = await asyncio.to_thread(known_answers, live) if asking.saves else {}
    going = batches.batch_run_so_far(
        _compacting_with_known(live, known), name.model, live.bench.session, on_live_event=live.recorder.on_live_event
    )
    async with going as run:
        live.recorder.add_answers(run.requests, run.answers)
        bills = [answer.usage for answer in run.answers if isinstance(answer, Summary) and answer.usage]
        dollars = None if live.recorder.usage_problem else in_batch(actual_of_all(bills, name.model)).dollars
        return await asyncio.to_thread(_assess_run, live, known, run, dollars, asking)


def _compacting_with_known(live: LiveRun, known: Mapping[str, Answer]) -> Compacting:
    """Return a generator that asks only requests without a known answer. Secrets in new answers are masked as in saved
    ones, so that a resumed run equals an uninterrupted one."""
    return receive_recorded_forms(ask_only_missing(live.bench.compacting(), known))


def _assess_run(
    live: LiveRun, known: Mapping[str, Answer], run: driver.Run, dollars: float | None, asking: ExperimentOptions
) -> VariantFigures:
    """Save the new answers first, because they are paid for and the assessment may fail; then return the figures."""
    id = (
        _save_record(live, run, dollars, asking.warn)
        if asking.saves and live.name.has_run_record and run.requests
        else ""
    )
    complete = drive(live.bench.compacting(), recorded_summarizer({**known, **recorded_forms(run.answers_by_key)}))
    return variant_figures(assess(live.bench, complete), dollars, id)


def _save_record(live: LiveRun, run: driver.Run, dollars: float | None, warn: Callable[[str], None]) -> str:
    record = FinishedRun(live, run).record.model_copy(update={"dollars": dollars})
    if trouble := run_history.save_run(record):
        warn(trouble)
        return ""
    return record.id
