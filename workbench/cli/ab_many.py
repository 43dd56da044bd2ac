"""`cwb ab` on many sessions: one pair after the other, or all of them in batches; then a verdict over all pairs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from workbench.analysis.transcript import printable
from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.cli.compacting import NO_SUMMARY
from workbench.cli.output import interrupted, only, plain, warn, write_json, write_table
from workbench.cli.running import stopped_as_by_ctrl_c
from workbench.cli.several import Refused, refusal
from workbench.cli.spending import OVER_THE_LIMIT
from workbench.compaction.strategy import Answer
from workbench.sides import Side
from workbench.summarizers import batches
from workbench.summarizers.batches import UnderWay
from workbench.summarizers.purse import Purse, TooDear
from workbench.tokens.cost import added, money
from workbench.trials import MEASURES, Came, Trial, Verdict, Ways, foreseen, known_answers, trial_of, verdicts

Pair = tuple[Side, Side]


@dataclass(frozen=True)
class Waiting:
    """A session whose turn has not come: both sides, and what is known of either from before."""

    pair: Pair
    known: tuple[Mapping[str, Answer], Mapping[str, Answer]]
    calls: int
    most: float | None
    about: float | None
    why: str = ""
    """Why it was not tried."""

    @property
    def file(self) -> Path:
        path = self.pair[0].bench.session.path
        assert path is not None
        return path


def waiting(pair: Pair, *, again: bool, batch: bool) -> Waiting:
    """`again`: what the journal keeps is not asked for once more. Raises BadInput."""
    known = (known_answers(pair[0]), known_answers(pair[1])) if again else ({}, {})
    seen = [foreseen(side, already, batch=batch) for side, already in zip(pair, known, strict=True)]
    calls = sum(one.calls for one in seen)
    return Waiting(pair, known, calls, added(one.most for one in seen), added(one.about for one in seen))


def compared(
    several: Sequence[Waiting], refused: Sequence[Refused], purse: Purse, *, keeps: bool, batch: bool, as_json: bool
) -> None:
    """Try all pairs, and tell what came of each and of all together. Of what could cost more than the purse allows the
    rest is left for the same command with a higher limit."""
    calls = sum(one.calls for one in several)
    about, most = added(one.about for one in several), added(one.most for one in several)
    if calls:
        half = ", as a batch" if batch else ""
        warn(f"{counted(calls, 'call')} to make, about {money(about)}, at most {money(most)}{half}.")
    trials, failed, left = _tried(several, purse, keeps=keeps, batch=batch)
    if left:
        warn(f"{counted(len(left), 'session')} not tried: {left[0].why} The same command goes on with what is left.")
    gone = [*refused, *failed]
    _tell(trials, gone, left, several[0].pair if several else None, as_json=as_json)
    if left:
        raise click.exceptions.Exit(OVER_THE_LIMIT)
    if not any(trial.counts for trial in trials):
        raise click.exceptions.Exit(NO_SUMMARY)


def _tried(
    several: Sequence[Waiting], purse: Purse, *, keeps: bool, batch: bool
) -> tuple[list[Trial], list[Refused], list[Waiting]]:
    """What came of each session, the files that gave nothing, and those for which the purse has not enough left."""
    trials: list[Trial] = []
    failed: list[Refused] = []
    left: list[Waiting] = []

    async def one(each: Waiting, ways: Ways) -> None:
        try:
            trials.append(await trial_of(each.pair, each.known, ways, warn))
        except BadInput as reason:
            failed.append(refusal(each.file, reason))

    async def every() -> None:
        stopped_as_by_ctrl_c()
        if batch:
            sent: list[Waiting] = []
            for each in several:
                why = _too_dear(purse, added(one.most for one in (*sent, each)), each)
                (left if why else sent).append(replace(each, why=why))
            ways = Ways(purse, keeps, _told_once(), batches.few_at_once())
            await asyncio.gather(*(one(each, ways) for each in sent))
            return
        for number, each in enumerate(several):
            if why := _too_dear(purse, each.most, each):
                left.extend(replace(one, why=why) for one in several[number:])
                return
            await one(each, Ways(purse, keeps))

    try:
        asyncio.run(every())
    except (KeyboardInterrupt, asyncio.CancelledError):
        goes_on = "a batch that was sent goes on, and " if batch else ""
        raise interrupted(f"Left: {goes_on}what was answered is kept; the same command takes it up.") from None
    order = [each.file for each in several]
    return sorted(trials, key=lambda trial: order.index(trial.file)), failed, left


def _too_dear(purse: Purse, most: float | None, each: Waiting) -> str:
    try:
        purse.check(most, " and ".join(dict.fromkeys(side.name.model for side in each.pair if side.name.model)))
    except TooDear as reason:
        return str(reason)
    return ""


def _told_once() -> batches.OnBatch:
    seen = set[UnderWay]()

    def on_batch(now: UnderWay) -> None:
        if now not in seen:
            seen.add(now)
            warn(f"{now}.")

    return on_batch


# --- telling ----------------------------------------------------------------------------------------------------------


def _tell(
    trials: Sequence[Trial], refused: Sequence[Refused], left: Sequence[Waiting], pair: Pair | None, *, as_json: bool
) -> None:
    found = verdicts(trials)
    if as_json:
        labels = [side.label for side in pair] if pair else []
        rest = {"refused": refused, "not_tried": [one.file for one in left]}
        write_json({"labels": labels, "sessions": [_document(one) for one in trials], "verdicts": found, **rest})
        return
    if pair:
        click.echo(f"A: {printable(pair[0].label)}\nB: {printable(pair[1].label)}\n")
    if trials:
        heads = ["before", "after A", "after B"]
        for measure in MEASURES:
            heads += [f"{measure.split()[0]} A", "B"]
        write_table([*heads, "cost", "session"], [_row(one) for one in trials])
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
        click.echo("\nPercentage points; an interval over 0 says that either may be better.")
    out = [trial for trial in trials if not trial.counts]
    if out:
        click.echo(f"Not in the sums: {counted(len(out), 'session')} that one side or both did not compact.")


def _row(trial: Trial) -> list[str]:
    cells = [grouped(trial.before), grouped(trial.a.after), grouped(trial.b.after)]
    for measure in MEASURES:
        cells += [_percent(trial.a.share(measure)), _percent(trial.b.share(measure))]
    return [*cells, money(added((trial.a.dollars, trial.b.dollars))), printable(trial.file.name)]


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"


def _verdict_row(one: Verdict) -> list[str]:
    return [
        grouped(one.sessions),
        _percent(one.a),
        _percent(one.b),
        f"{100 * one.mean:+.1f}",
        f"{100 * one.low:+.1f} to {100 * one.high:+.1f}",
        one.better or "neither",
        one.measure,
    ]


def _document(trial: Trial) -> dict[str, Any]:
    return {**only(trial, "file", "epoch", "before"), "a": plain(trial.a), "b": plain(trial.b)}


@plain.register
def _(came: Came) -> dict[str, Any]:
    claims = {"founded": came.claims[0], "of": came.claims[1]} if came.claims else None
    return {
        **only(came, "status", "failed", "after", "drafted"),
        "shares": {measure: came.share(measure) for measure in MEASURES},
        "claims": claims,
        **only(came, "answered", "dollars"),
        "run": came.run or None,
    }


@plain.register
def _(one: Verdict) -> dict[str, Any]:
    return {**only(one, "measure", "sessions", "a", "b", "mean", "low", "high"), "better": one.better or None}
