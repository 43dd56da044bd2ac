"""One compaction of a command and its exit code: run, assess, save in the run history, export in memory, and fail on
lost rules (`--fail-on`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click
from msgspec import Struct

from workbench.analysis.retention import Retention
from workbench.base.printable import one_line, printable
from workbench.bench import Bench, RuleState
from workbench.bench.assessment import Assessment
from workbench.cli.running import run_named, save_record
from workbench.compaction.checks import Check, export_check
from workbench.compaction.exporting import export_compacted
from workbench.compaction.summary_request import SummaryFailed
from workbench.formats import registry
from workbench.formats.export import Export
from workbench.runs.live_run import FinishedRun
from workbench.runs.requirements import FAILS_ON, rule_failures
from workbench.summarizers.by_name import SummarizerName
from workbench.summarizers.server_compaction import messages_for
from workbench.summarizers.spend_limit import SpendLimit

DONE, NOTHING, CHECK_FAILED, NO_SUMMARY = 0, 1, 3, 4


class CompactionResult(Struct, frozen=True):
    """A finished run. `checks` are those of its assessment and of the export. `run_id` is its id in the run history, ""
    if it was not saved; `export` is in memory, None if none was requested."""

    call: FinishedRun
    checks: tuple[Check, ...]
    run_id: str
    export: Export | None

    @property
    def assessment(self) -> Assessment:
        return self.call.assessment

    @property
    def code(self) -> int:
        """Exit code without --force."""
        if self.assessment.outcome.status in ("unchanged", "not_smaller"):
            failed = any(isinstance(answer, SummaryFailed) for answer in self.call.run.answers)
            return NO_SUMMARY if failed else NOTHING
        return CHECK_FAILED if any(one.hard and not one.passed for one in self.checks) else DONE


def run_compaction(
    bench: Bench, name: SummarizerName, spend_limit: SpendLimit, *, journal: bool, to: str | None, by_hand: bool = True
) -> CompactionResult:
    """Compact the bench and, if `to` names a format or a variant of it, export the result in memory. `by_hand`: the
    user started it, not a trigger. Raises BadInput."""
    if to is not None:
        registry.target(to)  # raises before a model is asked
    bench = replace(bench, original=bench.original.with_(manual=by_hand))
    call = run_named(bench, bench.compacting, name, spend_limit, journal=journal)
    outcome = call.run.outcome
    checks = call.assessment.checks
    # Saved first: a later step may fail, and a live run is paid for.
    run_id = save_record(call.record) if name.has_run_record and journal else ""
    export = None
    if to is not None:
        messages = messages_for(outcome, call.run.answers, to)
        export = export_compacted(bench.session, bench.context.from_outcome(outcome), messages, to)
        checks = (*checks, export_check(not export.problems, export.verdict))
    return CompactionResult(call, checks, run_id, export)


fail_on = click.option(
    "--fail-on",
    "fails_on",
    type=click.Choice(FAILS_ON),
    multiple=True,
    metavar="STATE",
    help="Exit 3 if a rule of the user's or a watched sentence is lost or wrong, or any fact stale. Repeatable.",
)


def refuse_estimate(name: SummarizerName, fails_on: Sequence[str]) -> None:
    """Raise UsageError for `--fail-on` with an estimated summary, which has no words to judge."""
    if fails_on and name.kind == "estimate":
        raise click.UsageError("--fail-on needs a summary with words; choose another --summarizer than estimate.")


def failed_rules(held: Retention, watched: Sequence[RuleState], fails_on: Sequence[str]) -> bool:
    """Print a line on stderr for each failure that `--fail-on` names; return True if there is any."""
    found = rule_failures(held, watched, fails_on) if fails_on else []
    for one in found:
        click.echo(printable(one_line(f"{one.requirement}: {one.message}")), err=True)
    return bool(found)
