"""`cwb compare` with several prompts or models on many sessions: figures per session, and verdicts over all."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from workbench.analysis.pictures import sign_of
from workbench.base.errors import BadInput
from workbench.base.printable import printable
from workbench.base.tables import Row, Table, columns
from workbench.base.text import counted
from workbench.cli.compacting import NO_SUMMARY
from workbench.cli.output import interrupted, only, plain, warn, write_csv, write_json, write_tables
from workbench.cli.running import OVER_THE_LIMIT, cancel_on_signals
from workbench.cli.session_files import FailedFile, refusal
from workbench.runs.experiment import (
    MEASURES,
    ExperimentOptions,
    Measure,
    Open,
    QueuedSession,
    SessionResult,
    VariantFigures,
    VariantVerdict,
    compare_in_batches,
    compare_live,
    duplicates,
    queue_session,
    verdicts,
)
from workbench.summarizers import batches
from workbench.summarizers.batches import BatchProgress
from workbench.summarizers.spend_limit import SpendLimit, SpendLimitExceeded
from workbench.tokens.cost import added, money


def experiment(files: Sequence[Path], open: Open, spend_limit: SpendLimit, *, keeps: bool, batch: bool, as_json: bool,
               as_csv: str | None) -> None:  # fmt: skip
    """Compare the variants on every session, and write the figures of each session and the verdicts.

    Sessions that could exceed the spend limit are skipped; the same command with a higher limit continues with them.
    A file that fails does not stop the others.
    """
    waiting: list[QueuedSession] = []
    failed: list[FailedFile] = []
    for path in files:
        try:
            waiting.append(queue_session(path, open, again=keeps, batch=batch))
        except BadInput as reason:
            failed.append(refusal(path, reason))
    copies = duplicates(waiting)
    for file, of in copies.items():
        warn(printable(f"{file} duplicates {of}; counted once."))
    several = [one for one in waiting if one.file not in copies]
    if calls := sum(one.calls for one in several):
        half = ", as a batch" if batch else ""
        about, most = added(one.about for one in several), added(one.most for one in several)
        warn(f"{counted(calls, 'call')} to make, about {money(about)}, at most {money(most)}{half}.")
    options = ExperimentOptions(spend_limit, keeps, warn, _each_state_once())
    sessions, refused, left = _run(several, open, options, batch=batch)
    if left:
        warn(f"{counted(len(left), 'session')} not run: {left[0].reason} The same command continues with the rest.")
    labels = several[0].labels if several else ()
    found = verdicts(sessions)
    if as_csv:
        tables = sessions_table(labels, sessions), verdicts_table(labels, found)
        write_csv({one.key: one for one in tables}, as_csv)
    elif as_json:
        same = [{"file": file, "same_as": of} for file, of in copies.items()]
        rest = {"failed": [*failed, *refused], "not_run": [one.file for one in left], "duplicates": same}
        documents = [_document(labels, one) for one in sessions]
        write_json({"labels": labels, "sessions": documents, "verdicts": found, **rest})
    else:
        _report(labels, sessions, found)
    if left:
        raise click.exceptions.Exit(OVER_THE_LIMIT)
    if not any(one.counts(variant) for one in sessions for variant in range(1, len(labels))):
        raise click.exceptions.Exit(NO_SUMMARY)


def _run(
    several: Sequence[QueuedSession], open: Open, options: ExperimentOptions, *, batch: bool
) -> tuple[list[SessionResult], list[FailedFile], list[QueuedSession]]:
    """Return the compared sessions, the failed files, and the sessions that the spend limit leaves out."""
    done: list[SessionResult] = []
    failed: list[FailedFile] = []
    left: list[QueuedSession] = []

    async def one(file: Path, comparing: Coroutine[Any, Any, SessionResult]) -> None:
        try:
            done.append(await comparing)
        except BadInput as reason:
            failed.append(refusal(file, reason))

    async def in_batches() -> None:
        sent: list[QueuedSession] = []
        for each in several:
            reason = _over_limit(options.spend_limit, added(one.most for one in (*sent, each)), each)
            (left if reason else sent).append(replace(each, reason=reason))
        turn = asyncio.Semaphore(1)
        await asyncio.gather(*(one(each.file, compare_in_batches(each.file, open, options, turn)) for each in sent))

    async def live() -> None:
        for number, each in enumerate(several):
            if reason := _over_limit(options.spend_limit, each.most, each):
                left.extend(replace(one, reason=reason) for one in several[number:])
                return
            await one(each.file, compare_live(each.file, open, options))

    async def every() -> None:
        cancel_on_signals()
        await (in_batches() if batch else live())

    try:
        asyncio.run(every())
    except (KeyboardInterrupt, asyncio.CancelledError):
        goes_on = "the batch continues, and " if batch else ""
        raise interrupted(f"Stopped: {goes_on}the answers are saved; the same command continues.") from None
    order = [each.file for each in several]
    return sorted(done, key=lambda one: order.index(one.file)), failed, left


def _over_limit(spend_limit: SpendLimit, most: float | None, each: QueuedSession) -> str:
    try:
        spend_limit.check(most, each.models)
    except SpendLimitExceeded as reason:
        return str(reason)
    return ""


def _each_state_once() -> batches.OnBatch:
    """Return a callback that prints each state of a batch once. A batch that this run sent is not called resumed."""
    seen = set[BatchProgress]()
    ours = set[str]()

    def on_batch(now: BatchProgress) -> None:
        if not now.resumed:
            ours.add(now.id)
        now = replace(now, resumed=now.resumed and now.id not in ours)
        if now not in seen:
            seen.add(now)
            warn(f"{now}.")

    return on_batch


# --- output -----------------------------------------------------------------------------------------------------------


_MEASURE_KEYS: Mapping[Measure, str] = {
    "facts correct": "correct_facts",
    "supported claims": "supported_claims",
    "questions answered": "answered_questions",
    "watched rules kept": "kept_rules",
}


def sessions_table(labels: Sequence[str], sessions: Sequence[SessionResult]) -> Table:
    """Return a row for each variant of each session; `variant` is its letter."""
    shares = " ".join(f"{_MEASURE_KEYS[measure]}:share:{measure.split()[0]}" for measure in MEASURES)
    spec = (
        "file epoch:count label variant tokens_before:tokens:before tokens_after:tokens:after "
        f"{shares} usd:money:cost name:text:session"
    )
    rows = (
        Row((str(one.file), one.epoch, labels[place], sign_of(place), one.before, each.after,
             *map(each.share, MEASURES), each.dollars, one.file.name))
        for one in sessions
        for place, each in enumerate(one.variants)
    )  # fmt: skip
    return Table("sessions", "", columns(spec), tuple(rows))


def verdicts_table(labels: Sequence[str], found: Sequence[VariantVerdict]) -> Table:
    """Return a row for each measure and each variant except the first; `first_share` is the first variant's share."""
    spec = (
        "label variant sessions:count variant_share:share:share first_share:share:A's_share "
        "mean_difference:points:above_A_by low:points:95_%_from high:points:to better measure"
    )
    rows = (
        Row((labels[one.variant], sign_of(one.variant), one.sessions, one.share, one.first, one.mean, one.low,
             one.high, _better(one), one.measure))
        for one in found
    )  # fmt: skip
    return Table("verdicts", "", columns(spec), tuple(rows))


def _report(labels: Sequence[str], sessions: Sequence[SessionResult], found: Sequence[VariantVerdict]) -> None:
    for place, label in enumerate(labels):
        click.echo(f"{sign_of(place)}: {printable(label)}")
    if sessions:
        click.echo()
        watches = any(each.watched for one in sessions for each in one.variants)
        hidden = ("file", "epoch", "label", *(() if watches else ("kept_rules",)))
        write_tables([sessions_table(labels, sessions).without(*hidden)])
    for one in sessions:
        for place, each in enumerate(one.variants):
            for failure in each.failures:
                warn(f"{printable(one.file.name)}, {sign_of(place)}: {printable(failure)}")
    if found:
        click.echo()
        write_tables([verdicts_table(labels, found).without("label")])
        click.echo("\nPercentage points; an interval that includes 0 means that either may be better.")
    out = [one for one in sessions if not all(map(one.counts, range(1, len(labels))))]
    if out:
        click.echo(f"Not in the sums: {counted(len(out), 'session')} that at least one variant did not compact.")


def _better(one: VariantVerdict) -> str | None:
    return None if one.better is None else sign_of(one.better)


def _document(labels: Sequence[str], one: SessionResult) -> dict[str, Any]:
    variants = [
        {"variant": sign_of(place), "label": labels[place], **plain(each)} for place, each in enumerate(one.variants)
    ]
    return {**only(one, "file", "epoch", "tokens_before=before"), "variants": variants}


@plain.register
def _(one: VariantFigures) -> dict[str, Any]:
    claims = {"supported": one.claims[0], "claims": one.claims[1]} if one.claims else None
    return {
        **only(one, "status", "failures", "tokens_after=after", "summary_tokens=summary"),
        "shares": {_MEASURE_KEYS[measure]: one.share(measure) for measure in MEASURES},
        "claims": claims,
        **only(one, "correct_answers=answered", "watched", "usd=dollars"),
        "run": one.run or None,
    }


@plain.register
def _(one: VariantVerdict) -> dict[str, Any]:
    figures = only(one, "sessions", "first_share=first", "variant_share=share", "mean_difference=mean", "low", "high")
    return {"measure": _MEASURE_KEYS[one.measure], "variant": sign_of(one.variant), **figures, "better": _better(one)}
