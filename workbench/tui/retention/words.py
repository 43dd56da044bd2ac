"""Texts of the facts tab: which compaction is assessed, its figures, the table by kind, and one fact in full."""

from __future__ import annotations

from rich.text import Text

from workbench.analysis.retention import Retention, TrackedFact
from workbench.analysis.retention_report import kinds_table
from workbench.base.tables import text
from workbench.bench import Bench
from workbench.bench.assessment import Assessment, assess, assess_recorded, compute
from workbench.tui.plain import figure, one_line, percent, several


def assessed(bench: Bench, is_recorded: bool) -> Assessment:
    """Assessment of the recorded compaction if `is_recorded`, else of the run on the bench, else of an offline run.
    Takes seconds for a long session. Raises KeyError if `is_recorded` and no compaction is recorded."""
    found = assess_recorded(bench) if is_recorded else assess(bench, bench.result or bench.offline)
    if found is None:
        raise KeyError(bench.epoch)
    return compute(found, "retention", "later_use")


def is_recorded(bench: Bench) -> bool:
    """True if a recorded compaction ended the bench's epoch."""
    session, epoch = bench.session, bench.epoch
    return epoch < len(session.epochs) and session.epochs[epoch - 1].ended_by is not None


def whose(bench: Bench, is_recorded: bool) -> str:
    if is_recorded:
        return f"the agent's own compaction after epoch {bench.epoch}, as recorded"
    policy = bench.as_preset.name
    return f"{policy}, {'the run on the bench' if bench.result else 'run offline with extractive summaries'}"


def summary_line(found: Assessment) -> str:
    """Shares of facts that are kept and correct. Shortened messages of the tail count as replaced."""
    held, overall = found.retention, found.retention.overall
    if not held.head:
        return "nothing was compacted, so nothing is lost"
    facts = f"{several(overall.facts, 'fact')} in the {several(held.head, 'message')} that it replaces"
    if found.is_unreadable:
        return f"not known how much of {facts} is kept: the summary cannot be read (none, or encrypted)"
    words = f"{percent(overall.share)} kept, {percent(overall.right)} correct, of {facts}"
    words += f", {figure(overall.stale)} stale" if overall.stale else ""
    if held.in_tail:
        words += f" · with the {figure(held.in_tail)} in the tail: {percent(held.of_context)}"
    if later := found.later_use:
        words += f" · needed later: {percent(later.share)} of {figure(len(later.items))}"
    return words


def kind_lines(held: Retention) -> list[str]:
    """Table by kind as lines: headings, all kinds, then each, within 80 columns."""
    heads, *kinds, overall = text(kinds_table(held).without("stale"))
    return [heads, overall, *kinds]


def fact_words(fact: TrackedFact | None, pins: frozenset[str]) -> Text:
    """Fact under the cursor in full, and the cost of pinning its message."""
    if fact is None:
        return Text("no such fact is lost", "dim")
    state = {"stale": " · stale: stated as if it still held", "wrong": " · wrong"}.get(fact.state, "")
    used = "used again later" if fact.used else "not used again"
    if fact.message in pins:
        cost = "its message is pinned"
    elif fact.pin_tokens:
        cost = f"p pins message {figure(fact.index + 1)}: +{figure(fact.pin_tokens)} tokens"
    else:
        cost = "its message is kept anyway"
    return Text(f"{fact.kind}, {one_line(fact.why, 60)}{state} · {used} · {cost}\n", "dim").append(
        one_line(fact.text, 600), "not dim"
    )
