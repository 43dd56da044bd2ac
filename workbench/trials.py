"""Two prompts or two models on many sessions: what each came to on every one, and whether one is better.

Both sides of a session are asked about the same head, so that they are compared pair by pair: the same facts, the same
questions. The interval of a difference draws sessions first, and then of each session drawn its pairs.

A session is held only while it is its turn: of those that wait there are figures, and each is opened anew.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import Literal, get_args

from workbench.analysis.head_index import texts_of
from workbench.analysis.probes import looked_up
from workbench.analysis.probes.graded import drawn_mean
from workbench.analysis.retention import HeldFact
from workbench.assessment import assess
from workbench.base.errors import BadInput
from workbench.bench import Bench, Stand
from workbench.compaction.strategy import Answer, Compacting, Summary, SummaryFailed
from workbench.live_run import FinishedRun, LiveRun, connect, drive_live
from workbench.probing import exam_of, in_batch, questions
from workbench.quotes import quotes_for
from workbench.session import fingerprint
from workbench.summarizers import batches, driver, journal
from workbench.summarizers.connections import DEFAULT
from workbench.summarizers.driver import drive
from workbench.summarizers.estimate import estimate
from workbench.summarizers.named import need_key
from workbench.summarizers.purse import Purse
from workbench.summarizers.recorded import but_known, heard_as_kept, kept, recorded
from workbench.summarizers.server_side import can_be_read
from workbench.tokens.cost import actual_of_all, added

Measure = Literal["facts correct", "supported claims", "questions answered", "watched rules kept"]
MEASURES: tuple[Measure, ...] = get_args(Measure)

HALF = 0.5
"""What a fact counts that is held in part."""


@dataclass(frozen=True)
class Came:
    """What a side came to on one session. `after` and `drafted` in tokens; `facts` of the head by kind, words and
    place, 1 where it is told rightly and 0 where not; of its claims how many have ground, and of how many; `answered`
    are the questions, looked up in what it left, in their order, and `watched` whether each sentence that stood there
    still does, in these words or others; None where nobody can tell. `dollars` was spent now, None where that is not
    known; `run` is its record, "" where nothing was asked now or kept."""

    status: str
    failed: tuple[str, ...]
    after: int
    drafted: int
    facts: Mapping[tuple[str, str, int], float]
    claims: tuple[int, int] | None
    answered: tuple[bool | None, ...]
    watched: tuple[bool | None, ...]
    dollars: float | None
    run: str

    def share(self, measure: Measure) -> float | None:
        """From 0 to 1; None where there is nothing to be held."""
        if measure == "facts correct":
            return sum(self.facts.values()) / len(self.facts) if self.facts else None
        if measure == "supported claims":
            return self.claims[0] / self.claims[1] if self.claims and self.claims[1] else None
        known = [hit for hit in self.hits(measure) if hit is not None]
        return sum(known) / len(known) if known else None

    def hits(self, measure: Measure) -> tuple[bool | None, ...]:
        """Of what either is or is not, one by one."""
        return self.answered if measure == "questions answered" else self.watched


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
        """A's and B's: of every fact, question and sentence that both had, of claims the shares."""
        a, b = self.a, self.b
        if measure == "facts correct":
            return [(a.facts[key], b.facts[key]) for key in a.facts if key in b.facts]
        if measure == "supported claims":
            one, other = a.share(measure), b.share(measure)
            return [] if one is None or other is None else [(one, other)]
        hits = a.hits(measure), b.hits(measure)
        both = zip(*hits, strict=True) if all(hits) else ()
        return [(float(one), float(other)) for one, other in both if one is not None and other is not None]


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


# --- what waits -------------------------------------------------------------------------------------------------------

Pair = tuple[LiveRun, LiveRun]
Open = Callable[[Path], Pair]
"""Opens a file, its tokens counted, as both sides; not for an event loop. Raises BadInput."""


@dataclass(frozen=True)
class Foreseen:
    """A session whose turn has not come: so many `calls` are still to be made, which can cost that, None where a price
    is not known. `asked` are the models, in words; `told` is alike for all that say the same. `why` it was not tried.
    """

    file: Path
    labels: tuple[str, str]
    asked: str
    told: str
    calls: int
    most: float | None
    about: float | None
    why: str = ""


def foreseen(file: Path, open: Open, *, again: bool, batch: bool) -> Foreseen:
    """`again`: what the journal keeps is not asked for once more. Renders and counts the requests: not for an event
    loop. Raises BadInput."""
    pair = open(file)
    calls = 0
    costs: list[tuple[float | None, float | None]] = [(0.0, 0.0)]
    for side in pair:
        if side.name.model:
            run = drive(but_known(side.bench.compacting(), known_answers(side) if again else {}), estimate)
            found = quotes_for(run, side.bench.layout.sizes.meter, side.name)
            share = batches.PRICE if batch else 1.0
            most, about = added(one.at_most.dollars for one in found), added(one.cost.dollars for one in found)
            calls += len(found)
            costs.append((most and most * share, about and about * share))
    asked = " and ".join(dict.fromkeys(side.name.model for side in pair if side.name.model))
    most, about = (added(side) for side in zip(*costs, strict=True))
    return Foreseen(file, (pair[0].label, pair[1].label), asked, _told_in(pair[0].bench), calls, most, about)


def _told_in(bench: Bench) -> str:
    """A hash of roles and texts: ids, times and names are others where a session was copied, or forked."""
    digest = hashlib.blake2b(digest_size=16)
    for message in bench.messages:
        for part in (message.role, *texts_of(message)):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(b"%d:%b" % (len(data), data))
    return digest.hexdigest()


def copies(several: Sequence[Foreseen]) -> dict[Path, Path]:
    """The files whose context says just what that of an earlier one says, which is no other trial; and which one."""
    first: dict[str, Path] = {}
    return {one.file: there for one in several if (there := first.setdefault(one.told, one.file)) != one.file}


def known_answers(side: LiveRun) -> dict[str, Answer]:
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


# --- running ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ways:
    """How sides are asked: what they may cost, whether their runs are kept and what was kept before is taken, who is
    told why one could not be, and of batches what is told."""

    purse: Purse
    keeps: bool
    tell: Callable[[str], None]
    on_batch: batches.OnBatch = lambda _: None
    every_s: float = batches.EVERY_S


async def tried(file: Path, open: Open, ways: Ways) -> Trial:
    """Both sides at once. Raises BadInput."""
    pair = await asyncio.to_thread(open, file)
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_live(side, ways)) for side in pair]
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
    a, b = (task.result() for task in tasks)
    return _trial(file, pair[0].bench, a, b)


async def tried_in_batches(file: Path, open: Open, ways: Ways, turn: asyncio.Semaphore) -> Trial:
    """The same through Message Batches. While one is under way the session is let go of, and it is opened, with all
    that belongs to it, only while it has its `turn`. Raises BadInput without a key, and where a batch is not taken."""
    came: dict[int, Came] = {}
    while True:
        async with turn:
            bench, waits = await _as_far_as_it_goes(file, open, ways, came)
            if bench is not None:
                return _trial(file, bench, came[0], came[1])
        for id, resumed in waits.items():
            await batches.until_ended(id, ways.on_batch, ways.every_s, resumed=resumed)


async def _as_far_as_it_goes(
    file: Path, open: Open, ways: Ways, came: dict[int, Came]
) -> tuple[Bench | None, dict[str, bool]]:
    """Put into `came` what either side came to. The bench where both did, else the batches to be waited for, and
    whether an earlier run sent them; not the exceptions, which hold all that was at hand where they were raised."""
    pair = await asyncio.to_thread(open, file)
    left = [number for number in range(2) if number not in came]
    ends = await asyncio.gather(*(_in_batches(pair[number], ways) for number in left), return_exceptions=True)
    waits: dict[str, bool] = {}
    for number, end in zip(left, ends, strict=True):
        if isinstance(end, Came):
            came[number] = end
        elif isinstance(end, batches.StillUnderWay):
            waits[end.id] = end.resumed
            end.__traceback__ = None
        else:
            raise end
    return None if waits else pair[0].bench, waits


def _trial(file: Path, bench: Bench, a: Came, b: Came) -> Trial:
    return Trial(file, bench.epoch, bench.context.total.tokens, a, b)


async def _live(side: LiveRun, ways: Ways) -> Came:
    """Ask what is not known yet, keep that, and judge the whole. Raises BadInput without a key."""
    summarizer = await connect(side, ways.purse)
    known = await asyncio.to_thread(known_answers, side) if ways.keeps else {}
    run = await drive_live(side, _asking(side, known), summarizer, keeps=ways.keeps)
    dollars = side.recorder.cost(side.name.model).dollars if side.name.model else 0.0
    return await asyncio.to_thread(_came, side, known, run, dollars, ways)


async def _in_batches(side: LiveRun, ways: Ways) -> Came:
    """The same, as far as batches have ended. Raises StillUnderWay."""
    name = side.name
    if not name.model:
        return await _live(side, ways)
    if name.kind != DEFAULT:
        raise BadInput(f"{name} uses a connection without batches; leave --batch out.")
    await need_key(name)
    known = await asyncio.to_thread(known_answers, side) if ways.keeps else {}
    going = batches.ran_so_far(_asking(side, known), name.model, side.bench.session, tell=side.recorder.heard)
    async with going as run:
        side.recorder.took(run.requests, run.answers)
        bills = [answer.usage for answer in run.answers if isinstance(answer, Summary) and answer.usage]
        dollars = None if side.recorder.misbilled else in_batch(actual_of_all(bills, name.model)).dollars
        return await asyncio.to_thread(_came, side, known, run, dollars, ways)


def _asking(side: LiveRun, known: Mapping[str, Answer]) -> Compacting:
    """New answers are heard as they are kept: a run that is gone on with comes to what an unbroken one does."""
    return heard_as_kept(but_known(side.bench.compacting(), known))


def _came(side: LiveRun, known: Mapping[str, Answer], run: driver.Run, dollars: float | None, ways: Ways) -> Came:
    """What was asked goes into the journal first: judging may fail, and it has been paid for."""
    id = _keep(side, run, dollars, ways.tell) if ways.keeps and side.name.is_kept and run.requests else ""
    return _judged(side, {**known, **kept(run.recording)}, dollars, id)


def _keep(side: LiveRun, run: driver.Run, dollars: float | None, tell: Callable[[str], None]) -> str:
    record = FinishedRun(side, run).record.model_copy(update={"dollars": dollars})
    if trouble := journal.keep(record):
        tell(trouble)
        return ""
    return record.id


def _judged(side: LiveRun, answers: Mapping[str, Answer], dollars: float | None, id: str) -> Came:
    bench = side.bench
    one = assess(bench, drive(bench.compacting(), recorded(answers)))
    run, ground = one.run, one.grounding
    readable = can_be_read(run.answers)
    probes = questions(bench).probes
    answered: tuple[bool | None, ...] = ()
    if probes and readable:
        found = looked_up(exam_of(bench, probes, [("", one.outcome)]))
        answered = tuple(found.hits(1))
    drafts = "\n\n".join(one.text for one in run.answers if isinstance(one, Summary))
    return Came(
        one.outcome.status,
        tuple(str(one) for one in run.answers if isinstance(one, SummaryFailed)),
        one.after.tokens,
        bench.layout.sizes.meter.text_tokens(drafts),
        {(fact.kind, fact.text, fact.index): _told(fact) for fact in one.retention.facts} if readable else {},
        (ground.claims - len(ground.unfounded), ground.claims) if ground else None,
        answered,
        tuple(map(_stands, one.watched)),
        dollars,
        id,
    )


def _told(fact: HeldFact) -> float:
    return {"full": 1.0, "part": HALF}.get(fact.state, 0.0)


def _stands(one: Stand) -> bool | None:
    """Nobody can keep what did not stand there."""
    there = ("verbatim", "paraphrased")
    return one.after in there if one.now in there and one.after not in (None, "unknown") else None
