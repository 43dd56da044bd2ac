"""The questions of `cwb probe`, put to a model: live one session after the other, or in batches all at once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.analysis.probes import Exam, Probing
from workbench.analysis.probes.journalled import as_probe
from workbench.analysis.transcript import printable
from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.bench import Bench
from workbench.cli.output import interrupted, warn
from workbench.cli.running import keep, run_named
from workbench.cli.several import Refused, refusal
from workbench.cli.spending import within
from workbench.compaction.strategy import Answer, Compacting
from workbench.probing import (
    Asked,
    answered_before,
    ask_in_batch,
    asked,
    quoted,
    quoted_together,
)
from workbench.summarizers import batches, runs
from workbench.summarizers.batches import UnderWay
from workbench.summarizers.named import asking as asking_of
from workbench.summarizers.named import need_key
from workbench.summarizers.purse import Purse
from workbench.summarizers.recorded import heard_as_kept
from workbench.tokens.cost import added, money, usage_words


@dataclass(frozen=True)
class Sitting:
    """A session, and what is asked of whom. `origin` is where the questions are from, in words."""

    bench: Bench
    origin: str
    exam: Exam

    @property
    def file(self) -> Path:
        assert self.bench.session.path is not None
        return self.bench.session.path


def answers(
    sittings: Sequence[Sitting], model: str, purse: Purse, *, journal: bool, batch: bool
) -> tuple[list[tuple[Sitting, Probing]], list[Refused]]:
    """The model's answers, those that the journal keeps and the others asked now; and the sessions that gave none. What
    all of it costs is told once, before and after."""
    if not sittings:
        return [], []
    known = [answered_before(one.bench, model) if journal else {} for one in sittings]
    quotes = [
        quoted(one.bench, one.exam, model, before, batch=batch) for one, before in zip(sittings, known, strict=True)
    ]
    quote = quoted_together(quotes, model)
    before = f", {counted(quote.answered, 'call')} answered before" if quote.answered else ""
    calls = counted(quote.calls, "call")
    at_most = f", at most {money(quote.at_most.dollars)}" if quote.at_most.dollars is not None else ""
    warn(f"{model} is asked {calls}, ≈{grouped(quote.tokens)} tokens: about {quote.cost}{at_most}{before}.")
    within(purse, quote.at_most.dollars, model)
    asking = [Asking(one, model, before, journal) for one, before in zip(sittings, known, strict=True)]
    if quote.calls:
        asyncio.run(need_key(asking_of(model)))
    done = _in_batches(asking) if batch else [_live(one, purse) for one in asking]
    pairs = list(zip(sittings, done, strict=True))
    answered = [(one, found) for one, found in pairs if isinstance(found, Asked)]
    _tell_bill(answered, model, batch=batch)
    for one, found in answered:
        where = f"{printable(one.file.name)}: " if len(sittings) > 1 else ""
        for failure, many in Counter(found.failed).items():
            warn(f"{where}{counted(many, 'call')} gave no answer, and the same command asks again: {failure}")
    if any(found.cut for _, found in answered):
        warn(f"a context is too long for {model}: its oldest messages were left out, and what stood there is missed.")
    failed = [refusal(one.file, reason) for one, reason in pairs if isinstance(reason, BadInput)]
    return [(one, found.probing) for one, found in answered], failed


@dataclass(frozen=True)
class Asking:
    """A session's exam, and what `model` has answered of it before."""

    sitting: Sitting
    model: str
    known: Mapping[str, Answer]
    journal: bool

    def keep(self, record: runs.Run) -> None:
        if self.journal:
            keep(record)


def _live(asking: Asking, purse: Purse) -> Asked | BadInput:
    bench, exam = asking.sitting.bench, asking.sitting.exam
    name = asking_of(asking.model)

    def make() -> Compacting:
        return heard_as_kept(exam.asking(asking.known))

    try:
        call = run_named(
            bench,
            lambda: heard_as_kept(exam.asking(asking.known)),
            name,
            purse,
            journal=asking.journal,
            keeping=as_probe,
        )
    except BadInput as refused:
        return refused
    done = asked(bench, exam, name, asking.known, call.run, call.recorder, call.began)
    if done.record:
        asking.keep(done.record)
    return done


def _in_batches(several: Sequence[Asking]) -> list[Asked | BadInput]:
    """Every session as a batch of its own, all at once. What Ctrl-C leaves under way the same command takes up."""

    async def one(asking: Asking, uploads: asyncio.Semaphore) -> Asked | BadInput:
        sitting, seen = asking.sitting, set[UnderWay]()

        def on_batch(now: UnderWay) -> None:
            if now not in seen:
                seen.add(now)
                warn(f"{now}.")

        try:
            return await ask_in_batch(
                sitting.bench, sitting.exam, asking.model, asking.known, on_batch, uploads, asking.keep
            )
        except BadInput as refused:
            return refused

    async def every() -> list[Asked | BadInput]:
        uploads = batches.few_at_once()
        return await asyncio.gather(*(one(asking, uploads) for asking in several))

    try:
        return asyncio.run(every())
    except KeyboardInterrupt:
        raise interrupted("Left: a batch that was sent goes on; the same command takes it up.") from None


def _tell_bill(answered: Sequence[tuple[Sitting, Asked]], model: str, *, batch: bool) -> None:
    records = [found.record for _, found in answered if found.record]
    if not records:
        return
    usage, calls = runs.total(one.usage for one in records), counted(sum(len(one.calls) for one in records), "call")
    cost = money(added(one.dollars for one in records))
    warn(f"{model}: {calls}, {usage_words(usage)}, {cost}{' (half the price, as a batch)' if batch else ''}")
