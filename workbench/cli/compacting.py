"""One compaction by a command: run, judged, kept in the journal, and written in memory."""

from __future__ import annotations

from dataclasses import replace

from msgspec import Struct

from workbench.bench import Bench
from workbench.bench.assessment import Assessment
from workbench.cli.running import keep, run_named
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


class Compacted(Struct, frozen=True):
    """A run that has ended. `checks` are those of its assessment, and that of the export. `kept` is its id in the run
    history, "" where it is not saved; `made` is not on disk, None where no export was asked for."""

    call: FinishedRun
    checks: tuple[Check, ...]
    kept: str
    made: Export | None

    @property
    def found(self) -> Assessment:
        return self.call.assessment

    @property
    def code(self) -> int:
        """The exit code, were nothing forced."""
        if self.found.outcome.status in ("unchanged", "not_smaller"):
            failed = any(isinstance(answer, SummaryFailed) for answer in self.call.run.answers)
            return NO_SUMMARY if failed else NOTHING
        return CHECK_FAILED if any(one.hard and not one.passed for one in self.checks) else DONE


def compacted(
    bench: Bench, name: SummarizerName, purse: SpendLimit, *, journal: bool, to: str | None, by_hand: bool = True
) -> Compacted:
    """Compact what is on the bench and, where `to` names a format or one of its ways, write it in memory.

    `by_hand` is whether a person wants it so, and not only the policy's thresholds. Raises BadInput.
    """
    if to is not None:
        registry.target(to)  # refused before a model is asked, where it cannot be written
    bench = replace(bench, original=bench.original.with_(manual=by_hand))
    call = run_named(bench, bench.compacting, name, purse, journal=journal)
    outcome = call.run.outcome
    checks = call.assessment.checks
    # First of all: whatever follows may fail, and a live run has been paid for.
    kept = keep(call.record) if name.has_run_record and journal else ""
    made = None
    if to is not None:
        messages = messages_for(outcome, call.run.answers, to)
        made = export_compacted(bench.session, bench.context.from_outcome(outcome), messages, to)
        checks = (*checks, export_check(not made.problems, made.verdict))
    return Compacted(call, checks, kept, made)
