"""`cwb compact`: one compaction, from a file to a file that its tool can load again."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click

from workbench.analysis.grounding import Grounding
from workbench.analysis.grounding_of_runs import grounded
from workbench.analysis.transcript import printable
from workbench.base.figures import grouped
from workbench.bench import Bench, choose_preset
from workbench.cli.by_hand import by_hand
from workbench.cli.exact import ExactSizes, counted_exactly
from workbench.cli.grounding import grounding_fields, grounding_rows
from workbench.cli.loading import on_bench
from workbench.cli.output import size_fields, size_words, trigger_fields, write_fields, write_json
from workbench.cli.running import Call, answer_fields, call_words, cost_fields, keep_run, run_named, usage_fields
from workbench.cli.selection import Selection, selection
from workbench.compaction.checks import Check, check, export_check
from workbench.compaction.context import Context
from workbench.compaction.edits import compacting, given
from workbench.compaction.outcome import Outcome
from workbench.compaction.strategy import Trigger
from workbench.formats.export import Export, export, resume_words, save
from workbench.summarizers.named import parsed
from workbench.summarizers.server_side import can_be_read, messages_for, with_blocks

STDOUT = Path("-")

DONE, NOTHING, CHECK_FAILED = 0, 1, 3


@click.command("compact")
@selection(
    "part",
    "strategy",
    "params",
    "auto_pin",
    "drop",
    "shorten",
    "epoch",
    "window",
    preset="Numbers and prompt to start from; else the strategy's first preset.",
    set="Change a field; group.field reaches into a group; @FILE is --params.",
    pin="Keep a message verbatim: id, beginning of one, or number.",
    split_at="The first message of the tail, instead of the strategy's own split.",
)
@click.option("--if-triggered", is_flag=True, help="Compact only when the strategy's thresholds say so.")
@click.option(
    "--summarizer",
    "summarizer_name",
    default="extractive",
    show_default=True,
    metavar="NAME",
    help="Who writes the summary: extractive, estimate, typed:FILE, anthropic:MODEL (live), server:compact:MODEL, "
    "server:context-management:MODEL or server:clear-tool-uses:MODEL (the server's own compaction), recorded:RUN_ID, "
    "or rehearse:KIND (fails on purpose).",
)
@click.option("--no-journal", is_flag=True, help="Do not keep a live or rehearsed run; else `cwb runs` lists it.")
@click.option("--exact", metavar="MODEL", help="Have the API count the context before and after for this model.")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Write the compacted session to this file or folder, - for stdout.",
)
@click.option(
    "--to", metavar="FORMAT", help="Write another format than the session's own, or another way (codex:appended)."
)
@click.option(
    "--force",
    is_flag=True,
    help="Write although a hard check failed or nothing became smaller, and over an existing file.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of a report.")
def command(
    chosen: Selection,
    if_triggered: bool,
    summarizer_name: str,
    no_journal: bool,
    exact: str | None,
    out: Path | None,
    to: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Compact FILE, which itself never changes, and say what became of every message.

    Without -o nothing is written. A live summarizer takes its key from ANTHROPIC_API_KEY; Ctrl-C cancels it.

    \b
    Exit codes:
      0    done
      1    nothing to compact, not triggered, or not smaller
      2    bad input or usage
      3    a hard check failed, and nothing was written
      130  cancelled, and nothing was written
    """
    if as_json and out == STDOUT:
        raise click.UsageError("--json and -o - would both write to stdout; give -o a file.")
    name = parsed(summarizer_name)
    preset = chosen.policy()
    bench = by_hand(choose_preset(on_bench(chosen), preset), chosen)
    context = bench.context.with_(manual=not if_triggered)
    generator = compacting(context, bench.edits, bench.strategy, bench.policy)
    call = run_named(bench, generator, name, journal=not no_journal)
    outcome = call.run.outcome
    checks = check(context, outcome, bench.strategy, bench.policy)
    # First of all: whatever follows may fail, and a live run has been paid for.
    kept = keep_run(call, context, checks) if name.is_kept and not no_journal else ""
    left = given(context, bench.edits)
    result = Result(
        bench,
        context,
        bench.strategy.triggered(left, bench.policy),
        outcome,
        checks,
        call,
        kept,
        None if name.kind == "estimate" or not can_be_read(call.run.answers) else grounded(call.run),
        counted_exactly(bench.session, context, with_blocks(outcome, call.run.answers), exact) if exact else None,
    )
    if out is not None or to is not None:
        messages = messages_for(outcome, call.run.answers, to or bench.session.format)
        made = export(bench.session, messages, to, outcome.memories)
        result = replace(result, export=made)
    where = None
    if result.export and out is not None and (force or result.code == DONE):
        where = _put(result.export, out, chosen.file, overwrite=force)
    if as_json:
        write_json(_document(result, where))
    else:
        _report(result, where, err=out == STDOUT)
    raise click.exceptions.Exit(DONE if where and result.code == CHECK_FAILED else result.code)


def _put(made: Export, out: Path, source: Path, *, overwrite: bool) -> str:
    """Write an export to a file or to stdout; returns where it went."""
    if out == STDOUT:
        sys.stdout.buffer.write(made.written.data)
        return str(STDOUT)
    return str(save(made, out, source, overwrite=overwrite))


@dataclass(frozen=True)
class Result:
    """One compaction and everything that is said about it."""

    bench: Bench
    context: Context
    triggers: tuple[Trigger, ...]
    outcome: Outcome
    outcome_checks: tuple[Check, ...]
    call: Call
    kept: str
    grounding: Grounding | None
    exact: ExactSizes | None
    export: Export | None = None

    @property
    def checks(self) -> tuple[Check, ...]:
        if self.export is None:
            return self.outcome_checks
        return (*self.outcome_checks, export_check(not self.export.problems, self.export.verdict))

    @property
    def code(self) -> int:
        """The exit code, were nothing forced."""
        if self.outcome.status in ("unchanged", "not_smaller"):
            return NOTHING
        return CHECK_FAILED if any(c.hard and not c.passed for c in self.checks) else DONE

    @property
    def reasons(self) -> list[str]:
        """Why it was compacted: the person's own command is a trigger too (spec/strategies.md, What holds §8)."""
        by_hand = ["run by hand"] if self.context.manual else []
        return [*by_hand, *(str(trigger) for trigger in self.triggers if trigger.fires)]


def _document(result: Result, where: str | None) -> dict[str, Any]:
    bench, outcome = result.bench, result.outcome
    before, after = result.context.total, result.context.outcome_size(outcome)
    return {
        "strategy": bench.strategy.id,
        "preset": bench.preset,
        "epoch": bench.epoch,
        "summarizer": str(result.call.name),
        "trigger": {"fired": bool(result.reasons), "reasons": result.reasons, "all": [str(t) for t in result.triggers]},
        "triggers": [trigger_fields(trigger) for trigger in result.triggers],
        "before": size_fields(before),
        "after": size_fields(after),
        "method": result.context.layout.sizes.meter.method,
        "fates": {fate.value: count for fate, count in outcome.fate_counts.items()},
        "checks": [{"name": c.name, "hard": c.hard, "passed": c.passed, "detail": c.detail} for c in result.checks],
        "status": outcome.status,
        "reason": outcome.reason,
        "rungs": [asdict(rung) for rung in outcome.rungs],
        "trace": list(outcome.trace),
        "memories": outcome.memories,
        "calls": [answer_fields(answer) for answer in result.call.run.answers],
        "usage": usage_fields(result.call.usage) if result.call.usage else None,
        "cost": cost_fields(result.call.cost) if result.call.cost else None,
        "seconds": round(result.call.run.seconds, 3),
        "run": result.kept or None,
        "grounding": grounding_fields(result.grounding) if result.grounding else None,
        "exact": result.exact.document() if result.exact else None,
        "out": where,
        "export": _export_document(result.export) if result.export else None,
    }


def _export_document(made: Export) -> dict[str, Any]:
    written = made.written
    return {
        "format": made.format.id,
        "id": written.id,
        "name": written.name,
        "resume": written.resume,
        "home": written.home,
        "notes": list(written.notes),
        "bytes": len(written.data),
    }


def _report(result: Result, where: str | None, *, err: bool) -> None:
    bench, outcome = result.bench, result.outcome
    before, after = result.context.total, result.context.outcome_size(outcome)
    change = f" ({100 * (after.tokens - before.tokens) / before.tokens:+.0f} %)" if before.tokens else ""
    fates = (f"{fate.value} {grouped(count)}" for fate, count in outcome.fate_counts.items() if count)
    failed = [c for c in result.checks if not c.passed]
    passed = len(result.checks) - len(failed)
    rows = [
        ("strategy", bench.strategy.id + (f", preset {bench.preset}" if bench.preset else "")),
        ("trigger", "\n".join(result.reasons) or "none fires"),
        ("before", size_words(before)),
        ("after", size_words(after) + change),
        ("exact", result.exact.words() if result.exact else ""),
        ("fates", ", ".join(fates) or "none"),
        ("checks", "\n".join([f"{passed} passed", *(_check_words(c) for c in failed)])),
        ("status", f"{outcome.status.replace('_', ' ')}: {outcome.reason}"),
        ("why", "\n".join(outcome.trace)),
        ("summary by", call_words(result.call)),
        ("kept as", f"run {result.kept}; `cwb runs show {result.kept}`" if result.kept else ""),
        *(grounding_rows(result.grounding) if result.grounding else ()),
    ]
    if where and result.export:
        rows.append(("written", where))
        rows.append(("resume", resume_words(result.export.written, Path(where))))
        rows.append(("notes", "\n".join(result.export.written.notes)))
    else:
        rows.append(("written", _why_nothing(result)))
    write_fields([(name, printable(value)) for name, value in rows if value], err=err)


def _why_nothing(result: Result) -> str:
    if result.code == DONE:
        return "nothing; name a file with -o"
    if result.code == CHECK_FAILED:
        return "nothing, because a hard check failed; --force with -o writes it all the same"
    return f"nothing, because the outcome is {result.outcome.status.replace('_', ' ')}"


def _check_words(failed: Check) -> str:
    return f"{'✗' if failed.hard else '!'} {failed.name}: {failed.detail}"
