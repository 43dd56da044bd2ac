"""Compact once for a command: run, assess, save in the run history, and export in memory."""

from __future__ import annotations

from dataclasses import replace

from msgspec import Struct

from workbench.bench import Bench
from workbench.bench.assessment import Assessment
from workbench.cli.running import run_named, save_record
from workbench.compaction.checks import Check, export_check
from workbench.compaction.exporting import export_compacted
from workbench.compaction.summary_request import SummaryFailed
from workbench.formats import registry
from workbench.formats.export import Export
from workbench.runs.live_run import FinishedRun
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
