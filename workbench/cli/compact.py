"""`cwb compact`: one compaction of a session, exported to a file that its agent can load."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import click

from workbench.base.environment import PREFIX
from workbench.base.figures import change, grouped
from workbench.bench import RuleState, rule_states
from workbench.bench.assessment import Assessment
from workbench.bench.fixes import RuleFix, find_fixes
from workbench.cli.compacting import (
    CHECK_FAILED,
    DONE,
    CompactionResult,
    fail_on,
    failed_rules,
    refuse_estimate,
    run_compaction,
)
from workbench.cli.exact import ExactSizes, counted_exactly
from workbench.cli.full import of_outcome
from workbench.cli.load_bench import on_bench
from workbench.cli.load_epoch import epoch_words
from workbench.cli.outcomes import found_rows, policy_words, state_words
from workbench.cli.output import only, only_in_json, plain, size_words, write_fields, write_json
from workbench.cli.running import call_words, changed_words, max_cost
from workbench.cli.selection import Selection, selection
from workbench.compaction.checks import Check
from workbench.compaction.memories import changes
from workbench.compaction.outcome import verdict
from workbench.compaction.preset import Preset
from workbench.formats.export import Export, Saved, refuse_place, save, write_to_stream
from workbench.formats.steps import steps
from workbench.summarizers.by_name import parse_model, parse_name
from workbench.summarizers.server_compaction import with_server_block
from workbench.summarizers.spend_limit import SpendLimit

STDOUT = Path("-")


@click.command("compact")
@selection(
    "part",
    "strategy",
    "params",
    "auto_pin",
    "drop",
    "shorten",
    "watch",
    "epoch",
    "window",
    "mask",
    preset="Settings and prompt to start from; default: the strategy's first preset.",
    set="Change a setting; group.field reaches into a group; @FILE is --params.",
    pin="Keep a message verbatim: id, beginning of an id, or number.",
    split_at="First message kept verbatim after the summary, instead of the strategy's split.",
)
@click.option("--if-triggered", is_flag=True, help="Compact only when the strategy's thresholds say so.")
@click.option(
    "--summarizer",
    "summarizer_name",
    default="extractive",
    show_default=True,
    metavar="NAME",
    help="Who writes the summary: extractive (no model), estimate, typed:FILE, command:CMD (a program, which reads the "
    "request), anthropic:MODEL or another CONNECTION:MODEL (live; `cwb list models` lists connections), "
    "server:compact:MODEL, server:context-management:MODEL or server:clear-tool-uses:MODEL (the server's own "
    "compaction), recorded:RUN_ID, or rehearse:KIND (fails on purpose).",
)
@click.option("--model", metavar="MODEL", help="Ask this model, live: one of Anthropic's, or CONNECTION/MODEL.")
@max_cost
@click.option(
    "--no-journal", is_flag=True, help="Do not save a live or rehearsed run in the run history (`cwb list runs`)."
)
@click.option("--exact", metavar="MODEL", help="Let the API count the context before and after, for this model.")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Write the compacted session to this file or folder, - for stdout.",
)
@click.option("--to", metavar="FORMAT", help="Write another format, or a variant of it (codex:appended).")
@click.option(
    "--force",
    is_flag=True,
    help="Write even if a required check failed or nothing got smaller; replace an existing file.",
)
@fail_on
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of a report.")
@click.option(
    "--full",
    is_flag=True,
    help="With --json: every message and what happens to it, the split, the new context, requests; secrets masked.",
)
def command(
    chosen: Selection,
    if_triggered: bool,
    summarizer_name: str,
    model: str | None,
    spend_limit: SpendLimit,
    no_journal: bool,
    exact: str | None,
    out: Path | None,
    to: str | None,
    force: bool,
    fails_on: tuple[str, ...],
    as_json: bool,
    full: bool,
) -> None:
    """Compact FILE, which itself never changes, and say what happens to every message.

    The default epoch is the newest that overflowed or was compacted, as on the screen. An export of an older epoch
    lacks the later messages, and the report says so; --epoch last compacts the agent's current context.

    Without -o nothing is written. A live summarizer takes its key from the environment; Ctrl-C cancels it.

    \b
    Exit codes:
      0    done
      1    nothing to compact, not triggered, or not smaller
      2    bad input or usage
      3    a required check or --fail-on failed, and nothing was written
      4    the summarizer failed, and nothing was written
      5    it could cost more than --max-cost, and nothing was sent
      130  cancelled, and nothing was written
    """
    if as_json and out == STDOUT:
        raise click.UsageError("--json and -o - would both write to stdout; name a file with -o.")
    only_in_json(full, as_json=as_json)
    if out is not None and out != STDOUT:
        refuse_place(out, chosen.file, overwrite=force)
    name = parse_model(model) if model else parse_name(summarizer_name)
    refuse_estimate(name, fails_on)
    presets: list[Preset] = []

    def policy(own: str) -> Preset:
        presets.append(chosen.policy(own))
        return presets[-1]

    bench = on_bench(chosen, policy)
    to = to or (bench.session.format if out is not None else None)
    done = run_compaction(bench, name, spend_limit, journal=not no_journal, to=to, by_hand=not if_triggered)
    found, export, code = done.assessment, done.export, done.code
    if code == DONE and failed_rules(found.retention, rule_states(found.bench, found.outcome), fails_on):
        code = CHECK_FAILED
    messages = with_server_block(found.outcome, found.run.answers)
    exactly = counted_exactly(bench.session, found.context, messages, exact) if exact else None
    saved = _write_export(export, out, overwrite=force) if export and out and (force or code == DONE) else None
    result = CompactReport(done, presets[-1].changed_sources, exactly, saved, code)
    if as_json:
        write_json(result, of_outcome(found.context, found.outcome, found.run.requests) if full else {})
    else:
        _report(result, err=out == STDOUT)
    raise click.exceptions.Exit(DONE if saved and code == CHECK_FAILED else code)


def _write_export(export: Export, out: Path, *, overwrite: bool) -> Saved:
    """Write an export to a file or to stdout."""
    return (
        write_to_stream(export, sys.stdout.buffer, STDOUT) if out == STDOUT else save(export, out, overwrite=overwrite)
    )


def _export_path(export: Export, saved: Saved) -> Path:
    """Return the path of the export; for stdout its own name, as if it were in this folder."""
    return Path(export.written.name) if saved.where == STDOUT else saved.where


@dataclass(frozen=True)
class CompactReport:
    """A compaction with its assessment, the sources of its settings, exact counts, and the written file."""

    done: CompactionResult
    setting_sources: Mapping[str, str]
    exact: ExactSizes | None
    saved: Saved | None
    code: int

    @property
    def judged(self) -> Assessment | None:
        """Assessment of the compaction; None for an estimated summary, which has a size but no facts."""
        return None if self.done.call.live.name.kind == "estimate" else self.done.assessment

    @property
    def reasons(self) -> list[str]:
        """Reasons for the compaction: the user's command, and the triggers that fire."""
        found = self.done.assessment
        by_hand = ["run by hand"] * found.context.manual
        return by_hand + [str(trigger) for trigger in found.triggers if trigger.fires]

    @cached_property
    def watched(self) -> tuple[RuleState, ...]:
        return self.judged.watched if self.judged else rule_states(self.done.assessment.bench, None)

    @cached_property
    def fixes(self) -> tuple[RuleFix, ...]:
        """Changes that would keep the first lost watched rule, tested offline."""
        bench = self.done.assessment.bench
        by_hand = replace(bench, original=bench.original.with_(manual=True))
        ways = find_fixes(by_hand, self.watched) if self.watched else None
        return tuple(one for one in (ways.pin, ways.setting) if one) if ways else ()

    @property
    def resume_steps(self) -> tuple[str, ...]:
        export, saved = self.done.export, self.saved
        return steps(export.written, _export_path(export, saved)) if export and saved else ()


@plain.register
def _(result: CompactReport) -> dict[str, Any]:
    done, judged, saved = result.done, result.judged, result.saved
    call, found, bench, outcome = done.call, done.assessment, done.assessment.bench, done.assessment.outcome
    reasons, memories = result.reasons, outcome.memories
    return {
        "strategy": found.strategy,
        "preset": bench.preset,
        "setting_sources": result.setting_sources,
        **only(bench, "epoch", "left_out=export_gap"),
        "summarizer": str(call.live.name),
        "trigger": {"fired": bool(reasons), "reasons": reasons, "all": list(map(str, found.triggers))},
        **only(found, "triggers", "before", "after"),
        "counting": found.context.layout.sizes.meter.method,
        "fates": {fate.value: count for fate, count in outcome.fate_counts.items()},
        "checks": done.checks,
        **only(outcome, "status", "reason", "rungs", "trace"),
        "prompt_problems": bench.prompt_problems,
        "memories": memories,
        "memory_changes": () if memories is None else tuple(changes(found.context.memories, memories)),
        "calls": found.run.answers,
        "adjustments": changed_words(call),
        **only(call, "usage", "billed=cost"),
        "seconds": round(found.run.seconds, 3),
        "run": done.run_id or None,
        "grounding": judged.grounding if judged else None,
        "receipt": _receipt(judged) if judged and outcome.status != "unchanged" else None,
        **only(result, "watched", "fixes"),
        "lost_facts": judged.lost if judged else None,
        "exact": result.exact,
        "output_file": str(saved.where) if saved else None,
        "written": saved is not None and saved.word == "written",
        "export": done.export,
        "resume_steps": result.resume_steps,
    }


def _receipt(one: Assessment) -> dict[str, Any]:
    (kept, rules), facts = one.retention.rule_counts, one.retention.whole
    return {
        "rules": rules,
        "kept_rules": kept,
        **only(facts, "facts", "kept_share=share", "lost_facts=lost"),
        "summary_unreadable": facts.unknown > 0,
        "summary_price": one.summary_price,
        "paid_back_after_calls": one.pays_off_after,
    }


@plain.register
def _(export: Export) -> dict[str, Any]:
    return {
        "format": export.format.id,
        **only(export.written, "id", "file_name=name"),
        "resume_command": steps(export.written, Path(export.written.name))[-1] if export.written.commands else "",
        **only(export.written, "agent_path=home", "notes"),
        "losses": [{"kind": loss.kind.name.lower(), "count": loss.count} for loss in export.written.losses],
        "bytes": len(export.written.data),
    }


def _report(result: CompactReport, *, err: bool) -> None:
    done, found, judged, saved = result.done, result.done.assessment, result.judged, result.saved
    bench, outcome, before, after = found.bench, found.outcome, found.before, found.after
    changed = f" ({change(before.tokens, after.tokens)})" if before.tokens else ""
    fates = (f"{fate.value} {grouped(count)}" for fate, count in outcome.fate_counts.items() if count)
    failed = [one for one in done.checks if not one.passed]
    memories = [] if outcome.memories is None else changes(found.context.memories, outcome.memories)
    rows = [
        ("strategy", policy_words(bench)),
        ("epoch", epoch_words(bench.session, bench.epoch)),
        ("variables", ", ".join(source for source in result.setting_sources.values() if source.startswith(PREFIX))),
        ("fires", "\n".join(result.reasons) or "no trigger"),
        ("before", size_words(before)),
        ("after", size_words(after) + changed),
        ("exact", result.exact.words() if result.exact else ""),
        ("fates", ", ".join(fates) or "none"),
        ("checks", "\n".join([f"{len(done.checks) - len(failed)} passed", *map(_check_words, failed)])),
        ("problems", "\n".join(bench.prompt_problems)),
        ("status", verdict(outcome.status, outcome.reason)),
        ("why", "\n".join(outcome.trace)),
        ("memories", "\n".join(memories)),
        ("summary by", call_words(done.call)),
        ("saved as", f"run {done.run_id}; `cwb list runs show {done.run_id}`" if done.run_id else ""),
        ("receipt", " · ".join(judged.receipt) if judged and outcome.status != "unchanged" else ""),
        ("watched", "\n".join(map(state_words, result.watched))),
        ("kept by", "\n".join(f"{one.option}: {one} tokens" for one in result.fixes)),
        *found_rows(judged.grounding if judged else None, judged.lost if judged else None),
    ]
    if saved and done.export:
        rows += [(saved.word, str(saved.where)), ("resume", "\n".join(result.resume_steps))]
        left_out = f"{bench.export_gap}; --epoch last compacts that one" if bench.export_gap else ""
        rows += [("left out", left_out), ("notes", "\n".join(done.export.written.notes))]
    else:
        rows.append(("written", _why_nothing(outcome.status, result.code)))
    write_fields([(name, value) for name, value in rows if value], err=err)


def _why_nothing(status: str, code: int) -> str:
    if code == DONE:
        return "nothing; name a file with -o"
    if code == CHECK_FAILED:
        return "nothing: a required check failed; --force with -o writes anyway"
    return f"nothing: the outcome is {status.replace('_', ' ')}"


def _check_words(failed: Check) -> str:
    return f"{'✗' if failed.hard else '!'} {failed.name}: {failed.detail}"
