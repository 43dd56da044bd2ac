"""`cwb compare` with several sessions: means of the kept facts and total cost for each preset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import starmap
from math import fsum, inf
from pathlib import Path

import click
from msgspec import Struct

from workbench.analysis.outcome_comparison import Fit
from workbench.base.errors import BadInput
from workbench.base.tables import Row, Table, columns
from workbench.bench.assessment import Assessment, assess_recorded, compare
from workbench.cli.load_bench import on_bench
from workbench.cli.output import write_csv, write_json, write_tables
from workbench.cli.selection import Selection
from workbench.cli.session_files import FailedFile, refusal, release_session
from workbench.compaction.preset import Preset
from workbench.summarizers.summarizer import PureSummarizer
from workbench.tokens.cost import added


class OfflineFigures(Struct, frozen=True):
    """Figures of one assessment, which outlive its session. Shares are of the context's facts, None without any;
    `saved_share` is a share of the context's tokens. `dollars` is None if the price is unknown."""

    preset: str
    fit: Fit
    after: int
    saved_share: float | None
    kept_share: float | None
    correct_share: float | None
    dollars: float | None


class ComparedSession(Struct, frozen=True):
    """A session, the compacted epoch, the size of its context in tokens, and the figures of every variant, best
    first."""

    file: Path
    epoch: int
    before: int
    variants: tuple[OfflineFigures, ...]


class VariantMean(Struct, frozen=True):
    """Means of a variant over the `sessions` that have it. `fits` counts results below the trigger. Shares are means
    over the sessions where they are known; `dollars` is the cost of all summaries, None if a price is unknown."""

    preset: str
    sessions: int
    fits: int
    saved_share: float | None
    kept_share: float | None
    correct_share: float | None
    dollars: float | None


def compare_many(
    chosen: Selection, files: Sequence[Path], answerer: PureSummarizer, *, as_json: bool, as_csv: str | None
) -> None:
    """Compact every session under every preset, offline. A file that fails is a row with its reason."""
    for option, is_given in (("--part", chosen.part), ("--watch", chosen.watched)):
        if is_given:
            raise click.UsageError(f"{option} needs one session; name one FILE.")
    policies = chosen.policies()
    found: list[ComparedSession] = []
    failed: list[FailedFile] = []
    for file in files:
        release_session()
        try:
            found.append(_compare_session(replace(chosen, files=(file,)), file, policies, answerer))
        except BadInput as reason:
            failed.append(refusal(file, reason))
    if not found:
        raise BadInput("No session could be compared; the reasons are above.")
    means = means_of(found)
    if as_json:
        write_json({"variants": means, "sessions": found, "failed": failed})
        return
    tables = (_variants(means), _sessions(found, failed))
    if as_csv:
        write_csv({one.key: one for one in tables}, as_csv)
        return
    write_tables(tables)


def _compare_session(
    chosen: Selection, file: Path, policies: Sequence[Preset], answerer: PureSummarizer
) -> ComparedSession:
    bench = on_bench(chosen)
    recorded = assess_recorded(bench)
    # The preset's own name is the same in every session; the name in an assessment may depend on the agent's version.
    named = [(recorded.name, recorded)] if recorded else []
    named += zip((preset.name for preset in policies), compare(bench, policies, answerer), strict=True)
    ranked = sorted(named, key=lambda pair: pair[1].rank)
    return ComparedSession(file, bench.epoch, bench.context.total.tokens, tuple(starmap(_figures, ranked)))


def _figures(name: str, one: Assessment) -> OfflineFigures:
    kept, before = one.retention.whole, one.before.tokens
    dollars = one.summary_cost if one.rates.known else None
    share = one.saved / before if before else None
    return OfflineFigures(name, one.fit, one.after.tokens, share, kept.share, kept.right, dollars)


def means_of(sessions: Iterable[ComparedSession]) -> tuple[VariantMean, ...]:
    """Return the means of each variant, sorted by most fits, then most kept facts, then lowest cost; an unknown cost is
    last."""
    by_preset: dict[str, list[OfflineFigures]] = {}
    for session in sessions:
        for one in session.variants:
            by_preset.setdefault(one.preset, []).append(one)
    means = (
        VariantMean(
            preset,
            len(several),
            sum(one.fit == "fits" for one in several),
            _mean(one.saved_share for one in several),
            _mean(one.kept_share for one in several),
            _mean(one.correct_share for one in several),
            added(one.dollars for one in several),
        )
        for preset, several in by_preset.items()
    )
    return tuple(sorted(means, key=_rank))


def _rank(one: VariantMean) -> tuple[float, ...]:
    return -one.fits / one.sessions, -(one.kept_share or 0.0), inf if one.dollars is None else one.dollars


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known else None


def _variants(means: Sequence[VariantMean]) -> Table:
    spec = columns("preset sessions:count fits:count saved:share kept:share correct:share summary_cost:money")
    rows = (
        Row((one.preset, one.sessions, one.fits, one.saved_share, one.kept_share, one.correct_share, one.dollars))
        for one in means
    )
    return Table("variants", "", spec, tuple(rows))


def _sessions(found: Sequence[ComparedSession], failed: Sequence[FailedFile]) -> Table:
    spec = columns(
        "file:text:session epoch:count before:tokens preset:text:best_preset fit after:tokens kept:share error"
    )
    rows = [
        Row((one.file.name, one.epoch, one.before, best.preset, best.fit, best.after, best.kept_share, None))
        for one in found
        for best in one.variants[:1]
    ]
    rows += [Row((one.file.name, *[None] * 6, one.error)) for one in failed]
    return Table("sessions", "Sessions", spec, tuple(rows))
