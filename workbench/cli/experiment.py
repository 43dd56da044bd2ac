"""Two prompts or models on many sessions, one pair after the other or in batches, and a verdict over all pairs."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from workbench.base.errors import BadInput
from workbench.base.figures import grouped, percent
from workbench.base.printable import printable
from workbench.base.tables import Row, Table, columns
from workbench.base.text import counted
from workbench.cli.compacting import NO_SUMMARY
from workbench.cli.output import interrupted, only, plain, warn, write_csv, write_json, write_table
from workbench.cli.several import Refused, refusal
from workbench.cli.spending import OVER_THE_LIMIT
from workbench.cli.stopping import stopped_as_by_ctrl_c
from workbench.summarizers import batches
from workbench.summarizers.batches import UnderWay
from workbench.summarizers.purse import Purse, TooDear
from workbench.tokens.cost import added, money
from workbench.trials import (
    MEASURES,
    Came,
    Foreseen,
    Measure,
    Open,
    Trial,
    Verdict,
    Ways,
    copies,
    foreseen,
    tried,
    tried_in_batches,
    verdicts,
)


def compared(files: Sequence[Path], open: Open, purse: Purse, *, keeps: bool, batch: bool, as_json: bool,
             as_csv: str | None) -> None:  # fmt: skip
    """Try all pairs, and tell what came of each and of all together. Of what could cost more than the purse allows the
    rest is left for the same command with a higher limit; a file that gives nothing keeps none of the others from
    theirs."""
    waiting: list[Foreseen] = []
    gone: list[Refused] = []
    for path in files:
        try:
            waiting.append(foreseen(path, open, again=keeps, batch=batch))
        except BadInput as reason:
            gone.append(refusal(path, reason))
    twice = copies(waiting)
    for file, of in twice.items():
        warn(printable(f"{file} duplicates {of}; counted once."))
    several = [one for one in waiting if one.file not in twice]
    if calls := sum(one.calls for one in several):
        half = ", as a batch" if batch else ""
        about, most = added(one.about for one in several), added(one.most for one in several)
        warn(f"{counted(calls, 'call')} to make, about {money(about)}, at most {money(most)}{half}.")
    trials, failed, left = _tried(several, open, purse, keeps=keeps, batch=batch)
    if left:
        warn(f"{counted(len(left), 'session')} not tried: {left[0].why} The same command continues with the rest.")
    labels = several[0].labels if several else None
    if as_csv:
        write_csv(csv_tables(trials), as_csv)
    else:
        _tell(trials, [*gone, *failed], left, twice, labels, as_json=as_json)
    if left:
        raise click.exceptions.Exit(OVER_THE_LIMIT)
    if not any(trial.counts for trial in trials):
        raise click.exceptions.Exit(NO_SUMMARY)


def _tried(
    several: Sequence[Foreseen], open: Open, purse: Purse, *, keeps: bool, batch: bool
) -> tuple[list[Trial], list[Refused], list[Foreseen]]:
    """What came of each session, the files that gave nothing, and those for which the purse has not enough left."""
    trials: list[Trial] = []
    failed: list[Refused] = []
    left: list[Foreseen] = []
    ways = Ways(purse, keeps, warn, _told_once())

    async def one(file: Path, trying: Coroutine[Any, Any, Trial]) -> None:
        try:
            trials.append(await trying)
        except BadInput as reason:
            failed.append(refusal(file, reason))

    async def in_batches() -> None:
        sent: list[Foreseen] = []
        for each in several:
            why = _too_dear(purse, added(one.most for one in (*sent, each)), each)
            (left if why else sent).append(replace(each, why=why))
        turn = asyncio.Semaphore(1)
        await asyncio.gather(*(one(each.file, tried_in_batches(each.file, open, ways, turn)) for each in sent))

    async def live() -> None:
        for number, each in enumerate(several):
            if why := _too_dear(purse, each.most, each):
                left.extend(replace(one, why=why) for one in several[number:])
                return
            await one(each.file, tried(each.file, open, ways))

    async def every() -> None:
        stopped_as_by_ctrl_c()
        await (in_batches() if batch else live())

    try:
        asyncio.run(every())
    except (KeyboardInterrupt, asyncio.CancelledError):
        goes_on = "the batch continues, and " if batch else ""
        raise interrupted(f"Stopped: {goes_on}the answers are saved; the same command continues.") from None
    order = [each.file for each in several]
    return sorted(trials, key=lambda trial: order.index(trial.file)), failed, left


def _too_dear(purse: Purse, most: float | None, each: Foreseen) -> str:
    try:
        purse.check(most, each.asked)
    except TooDear as reason:
        return str(reason)
    return ""


def _told_once() -> batches.OnBatch:
    """Each state of a batch once. What this run has sent and looks at again was not sent before."""
    seen = set[UnderWay]()
    ours = set[str]()

    def on_batch(now: UnderWay) -> None:
        if not now.resumed:
            ours.add(now.id)
        now = replace(now, resumed=now.resumed and now.id not in ours)
        if now not in seen:
            seen.add(now)
            warn(f"{now}.")

    return on_batch


# --- telling ----------------------------------------------------------------------------------------------------------


def _tell(
    trials: Sequence[Trial],
    refused: Sequence[Refused],
    left: Sequence[Foreseen],
    twice: Mapping[Path, Path],
    labels: tuple[str, str] | None,
    *,
    as_json: bool,
) -> None:
    found = verdicts(trials)
    if as_json:
        same = [{"file": file, "same_as": of} for file, of in twice.items()]
        rest = {"failed": refused, "not_run": [one.file for one in left], "duplicates": same}
        sessions = [_document(one) for one in trials]
        write_json({"labels": labels or (), "sessions": sessions, "verdicts": found, **rest})
        return
    if labels:
        click.echo(f"A: {printable(labels[0])}\nB: {printable(labels[1])}\n")
    if trials:
        measures = [one for one in MEASURES if one != "watched rules kept" or any(t.a.watched for t in trials)]
        heads = ["before", "after A", "after B"]
        for measure in measures:
            heads += [f"{measure.split()[0]} A", "B"]
        write_table([*heads, "cost", "session"], [_row(one, measures) for one in trials])
    for one in trials:
        for letter, came in (("A", one.a), ("B", one.b)):
            for failure in came.failed:
                warn(f"{printable(one.file.name)}, {letter}: {printable(failure)}")
    if found:
        click.echo()
        write_table(
            ["sessions", "A", "B", "B is above A by", "95 %", "better", "of all pairs"],
            [_verdict_row(one) for one in found],
        )
        click.echo("\nPercentage points; an interval that includes 0 means that either may be better.")
    out = [trial for trial in trials if not trial.counts]
    if out:
        click.echo(f"Not in the sums: {counted(len(out), 'session')} that at least one variant did not compact.")


def csv_tables(trials: Sequence[Trial]) -> dict[str, Table]:
    """Each session with the shares of both sides, and the verdict by measure."""
    names = [one.replace(" ", "_") for one in MEASURES]
    shares = " ".join(f"{name}_{side}:share" for name in names for side in "ab")
    sessions = (
        Row((str(one.file), one.epoch, one.before, one.a.after, one.b.after,
             *(side.share(measure) for measure in MEASURES for side in (one.a, one.b)), one.a.dollars, one.b.dollars))
        for one in trials
    )  # fmt: skip
    spec = f"file epoch:count before:tokens after_a:tokens after_b:tokens {shares} cost_a:money cost_b:money"
    verdict = "measure sessions:count a:share b:share mean:share low:share high:share better"
    found = (
        Row((one.measure, one.sessions, one.a, one.b, one.mean, one.low, one.high, one.better or None))
        for one in verdicts(trials)
    )
    return {
        "sessions": Table("sessions", "", columns(spec), tuple(sessions)),
        "verdicts": Table("verdicts", "", columns(verdict), tuple(found)),
    }


def _row(trial: Trial, measures: Sequence[Measure]) -> list[str]:
    cells = [grouped(trial.before), grouped(trial.a.after), grouped(trial.b.after)]
    for measure in measures:
        cells += [percent(trial.a.share(measure)), percent(trial.b.share(measure))]
    return [*cells, money(added((trial.a.dollars, trial.b.dollars))), printable(trial.file.name)]


def _verdict_row(one: Verdict) -> list[str]:
    return [
        grouped(one.sessions),
        percent(one.a),
        percent(one.b),
        f"{100 * one.mean:+.1f}",
        f"{100 * one.low:+.1f} to {100 * one.high:+.1f}",
        one.better or "neither",
        one.measure,
    ]


_MEASURE_KEYS: Mapping[Measure, str] = {
    "facts correct": "correct_facts",
    "supported claims": "supported_claims",
    "questions answered": "answered_questions",
    "watched rules kept": "kept_rules",
}


def _document(trial: Trial) -> dict[str, Any]:
    return {**only(trial, "file", "epoch", "tokens_before=before"), "a": plain(trial.a), "b": plain(trial.b)}


@plain.register
def _(came: Came) -> dict[str, Any]:
    claims = {"supported": came.claims[0], "claims": came.claims[1]} if came.claims else None
    return {
        **only(came, "status", "failures=failed", "tokens_after=after", "summary_tokens=drafted"),
        "shares": {_MEASURE_KEYS[measure]: came.share(measure) for measure in MEASURES},
        "claims": claims,
        **only(came, "correct_answers=answered", "watched", "usd=dollars"),
        "run": came.run or None,
    }


@plain.register
def _(one: Verdict) -> dict[str, Any]:
    figures = only(one, "sessions", "a", "b", "mean_difference=mean", "low", "high")
    return {"measure": _MEASURE_KEYS[one.measure], **figures, "better": one.better or None}
