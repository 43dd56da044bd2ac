"""`cwb compact`: one compaction, from a file to a file that its tool can load again."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from workbench.analysis.grounding import Grounding
from workbench.analysis.receipt import Receipt
from workbench.analysis.retention import HeldFact
from workbench.base.environment import PREFIX
from workbench.base.figures import change, grouped
from workbench.bench import Bench, Stand, stands
from workbench.cli.compacting import CHECK_FAILED, DONE, compacted
from workbench.cli.exact import ExactSizes, counted_exactly
from workbench.cli.full import of_outcome
from workbench.cli.loading import on_bench
from workbench.cli.opening import epoch_words
from workbench.cli.outcomes import found_rows, policy_words
from workbench.cli.output import only, only_in_json, plain, size_words, write_fields, write_json
from workbench.cli.running import call_words, changed_words
from workbench.cli.selection import Selection, selection
from workbench.cli.spending import max_cost
from workbench.cli.watched import stand_words
from workbench.compaction.checks import Check
from workbench.compaction.edits import given
from workbench.compaction.memories import changes
from workbench.compaction.outcome import Rung, verdict
from workbench.compaction.preset import Preset
from workbench.compaction.strategy import Answer, Trigger
from workbench.formats.export import Export, Saved, refuse_place, save, send
from workbench.formats.steps import steps
from workbench.live_run import FinishedRun
from workbench.mending import Mend, ways_of
from workbench.session import Usage
from workbench.summarizers.named import asking, parsed
from workbench.summarizers.purse import Purse
from workbench.summarizers.server_side import with_blocks
from workbench.tokens.cost import Cost
from workbench.tokens.sizes import Size

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
    purse: Purse,
    no_journal: bool,
    exact: str | None,
    out: Path | None,
    to: str | None,
    force: bool,
    as_json: bool,
    full: bool,
) -> None:
    """Compact FILE, which itself never changes, and say what happens to every message.

    By default it is the newest epoch that overflowed or was compacted, as on the screen. A file made of an older epoch
    lacks the messages after it, which this says; --epoch last compacts what the agent has now.

    Without -o nothing is written. A live summarizer takes its key from the environment; Ctrl-C cancels it.

    \b
    Exit codes:
      0    done
      1    nothing to compact, not triggered, or not smaller
      2    bad input or usage
      3    a required check failed, and nothing was written
      4    the summarizer failed, and nothing was written
      5    it could cost more than --max-cost, and nothing was sent
      130  cancelled, and nothing was written
    """
    if as_json and out == STDOUT:
        raise click.UsageError("--json and -o - would both write to stdout; name a file with -o.")
    only_in_json(full, as_json=as_json)
    if out is not None and out != STDOUT:
        refuse_place(out, chosen.file, overwrite=force)
    name = asking(model) if model else parsed(summarizer_name)
    presets: list[Preset] = []

    def policy(own: str) -> Preset:
        presets.append(chosen.policy(own))
        return presets[-1]

    bench = on_bench(chosen, policy)
    to = to or (bench.session.format if out is not None else None)
    done = compacted(bench, name, purse, journal=not no_journal, to=to, by_hand=not if_triggered)
    call, context, checks, made, code = done.call, done.context, done.checks, done.made, done.code
    outcome, answers = done.outcome, call.run.answers
    exactly = counted_exactly(bench.session, context, with_blocks(outcome, answers), exact) if exact else None
    saved = _put(made, out, overwrite=force) if made and out and (force or code == DONE) else None
    judged = None if name.kind == "estimate" else call.found
    watched = stands(bench, None if name.kind == "estimate" else outcome)
    triggers = bench.strategy.triggered(given(context, bench.edits), bench.policy)
    result = Result(
        strategy=bench.strategy.id,
        preset=bench.preset,
        setting_sources=presets[-1].told_sources,
        epoch=bench.epoch,
        left_out=bench.left_behind,
        summarizer=str(call.live.name),
        trigger=_fired(triggers, by_hand=context.manual),
        triggers=triggers,
        before=context.total,
        after=context.outcome_size(outcome),
        counting=context.layout.sizes.meter.method,
        fates={fate.value: count for fate, count in outcome.fate_counts.items()},
        checks=checks,
        status=outcome.status,
        reason=outcome.reason,
        rungs=outcome.rungs,
        trace=outcome.trace,
        prompt_problems=bench.doubts,
        memories=outcome.memories,
        memory_changes=() if outcome.memories is None else tuple(changes(context.memories, outcome.memories)),
        calls=answers,
        adjustments=tuple(changed_words(call)),
        usage=call.usage,
        billed=call.cost,
        seconds=round(call.run.seconds, 3),
        run=done.kept or None,
        grounding=judged.grounding if judged else None,
        receipt=judged.receipt if judged and outcome.status != "unchanged" else None,
        watched=watched,
        fixes=_kept_by(bench, watched),
        lost_facts=judged.lost if judged else None,
        exact=exactly,
        output_file=str(saved.where) if saved else None,
        written=saved is not None and saved.word == "written",
        export=made,
        resume_steps=steps(made.written, _lies(made, saved)) if made and saved else (),
    )
    if as_json:
        write_json(result, of_outcome(context, outcome, call.run.requests) if full else {})
    else:
        _report(result, call, saved, code, err=out == STDOUT)
    raise click.exceptions.Exit(DONE if saved and code == CHECK_FAILED else code)


def _put(made: Export, out: Path, *, overwrite: bool) -> Saved:
    """Write an export to a file or to stdout."""
    return send(made, sys.stdout.buffer, STDOUT) if out == STDOUT else save(made, out, overwrite=overwrite)


def _lies(made: Export, saved: Saved) -> Path:
    """Where the export is, as though what went to stdout lay here under its own name."""
    return Path(made.written.name) if saved.where == STDOUT else saved.where


@dataclass(frozen=True, slots=True)
class Fired:
    """Why it was compacted: a person's own command is a reason, too."""

    fired: bool
    reasons: list[str]
    all: list[str]


def _fired(triggers: Sequence[Trigger], *, by_hand: bool) -> Fired:
    reasons = ["run by hand"] * by_hand + [str(trigger) for trigger in triggers if trigger.fires]
    return Fired(bool(reasons), reasons, list(map(str, triggers)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One compaction and everything that is said about it; as JSON as it stands here."""

    strategy: str
    preset: str
    setting_sources: Mapping[str, str]
    epoch: int
    left_out: str
    summarizer: str
    trigger: Fired
    triggers: tuple[Trigger, ...]
    before: Size
    after: Size
    counting: str
    fates: dict[str, int]
    checks: tuple[Check, ...]
    status: str
    reason: str
    rungs: tuple[Rung, ...]
    trace: tuple[str, ...]
    prompt_problems: tuple[str, ...]
    memories: str | None
    memory_changes: tuple[str, ...]
    calls: tuple[Answer, ...]
    adjustments: tuple[str, ...]
    usage: Usage | None
    billed: Cost | None
    seconds: float
    run: str | None
    grounding: Grounding | None
    receipt: Receipt | None
    watched: tuple[Stand, ...]
    fixes: tuple[Mend, ...]
    lost_facts: tuple[HeldFact, ...] | None
    exact: ExactSizes | None
    output_file: str | None
    written: bool
    export: Export | None
    resume_steps: tuple[str, ...]


def _kept_by(bench: Bench, watched: Sequence[Stand]) -> tuple[Mend, ...]:
    """What would keep the first watched sentence that is lost, tried offline."""
    ways = ways_of(bench, watched) if watched else None
    return tuple(one for one in (ways.pin, ways.number) if one) if ways else ()


@plain.register
def _(made: Export) -> dict[str, Any]:
    return {
        "format": made.format.id,
        **only(made.written, "id", "file_name=name"),
        "resume_command": steps(made.written, Path(made.written.name))[-1] if made.written.commands else "",
        **only(made.written, "agent_path=home", "notes"),
        "losses": [{"kind": loss.kind.name.lower(), "count": loss.count} for loss in made.written.losses],
        "bytes": len(made.written.data),
    }


def _report(result: Result, call: FinishedRun, saved: Saved | None, code: int, *, err: bool) -> None:
    bench, before, after = call.live.bench, result.before, result.after
    changed = f" ({change(before.tokens, after.tokens)})" if before.tokens else ""
    fates = (f"{fate} {grouped(count)}" for fate, count in result.fates.items() if count)
    failed = [one for one in result.checks if not one.passed]
    rows = [
        ("strategy", policy_words(bench)),
        ("epoch", epoch_words(bench.session, bench.epoch)),
        ("variables", ", ".join(source for source in result.setting_sources.values() if source.startswith(PREFIX))),
        ("fires", "\n".join(result.trigger.reasons) or "no trigger"),
        ("before", size_words(before)),
        ("after", size_words(after) + changed),
        ("exact", result.exact.words() if result.exact else ""),
        ("fates", ", ".join(fates) or "none"),
        ("checks", "\n".join([f"{len(result.checks) - len(failed)} passed", *map(_check_words, failed)])),
        ("doubts", "\n".join(result.prompt_problems)),
        ("status", verdict(call.run.outcome.status, call.run.outcome.reason)),
        ("why", "\n".join(result.trace)),
        ("memories", "\n".join(result.memory_changes)),
        ("summary by", call_words(call)),
        ("kept as", f"run {result.run}; `cwb list runs show {result.run}`" if result.run else ""),
        ("receipt", str(result.receipt) if result.receipt else ""),
        ("watched", "\n".join(map(stand_words, result.watched))),
        ("kept by", "\n".join(f"{one.option}: {one} tokens" for one in result.fixes)),
        *found_rows(result.grounding, result.lost_facts),
    ]
    if saved and result.export:
        written = result.export.written
        rows += [(saved.word, str(saved.where)), ("resume", "\n".join(result.resume_steps))]
        left_out = f"{result.left_out}; --epoch last compacts that one" if result.left_out else ""
        rows += [("left out", left_out), ("notes", "\n".join(written.notes))]
    else:
        rows.append(("written", _why_nothing(result.status, code)))
    write_fields([(name, value) for name, value in rows if value], err=err)


def _why_nothing(status: str, code: int) -> str:
    if code == DONE:
        return "nothing; name a file with -o"
    if code == CHECK_FAILED:
        return "nothing: a required check failed; --force with -o writes anyway"
    return f"nothing: the outcome is {status.replace('_', ' ')}"


def _check_words(failed: Check) -> str:
    return f"{'✗' if failed.hard else '!'} {failed.name}: {failed.detail}"
