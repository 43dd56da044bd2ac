"""`cwb retention`: the facts of the head that an outcome keeps, after one compaction or several."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from workbench.analysis.continuity import ContinuityFinding, continuity
from workbench.analysis.generations import Generation, Generations, generations
from workbench.analysis.model_judge import JudgeResult, facts_to_judge, judge_result, judge_run
from workbench.analysis.needed_items import LaterUse
from workbench.analysis.probes.generation import MOST
from workbench.analysis.recorded_claims import RecordedClaims, recorded_claims
from workbench.analysis.recorded_compactions import following, recorded_outcome
from workbench.analysis.retention import Retention, is_unreadable, new_messages
from workbench.analysis.retention_report import generations_table, kinds_table, lacking_table
from workbench.analysis.watched_rules import judge_recorded
from workbench.base.figures import grouped, percent
from workbench.base.printable import printable
from workbench.base.text import counted
from workbench.bench import Bench, rule_states
from workbench.cli.compacting import CHECK_FAILED, fail_on, failed_rules, refuse_estimate
from workbench.cli.jobs import Job, Jobs
from workbench.cli.load_bench import on_bench
from workbench.cli.load_epoch import epoch_words
from workbench.cli.outcomes import policy_words, print_trails, state_words
from workbench.cli.output import (
    csv_option,
    fields_of,
    only,
    plain,
    warn,
    write_csv,
    write_fields,
    write_json,
    write_tables,
)
from workbench.cli.running import call_words, max_cost, run_named, save_record
from workbench.cli.selection import Selection, selection
from workbench.compaction.context import Context
from workbench.compaction.edits import compacting
from workbench.compaction.outcome import Outcome, verdict
from workbench.summarizers.by_name import SummarizerName, parse_name
from workbench.summarizers.spend_limit import SpendLimit

NAMED = 12
"""Maximum number of lost facts listed; --json and --csv have all."""


@click.command(
    "retention",
    cls=Jobs,
    jobs=(
        Job(
            "",
            "part strategies presets params fields pins auto_pin split watched epoch window mask summarizer_name "
            "judge_name spend_limit count recorded fails_on as_json as_csv",
        ),
        Job(
            "--ask",
            "part strategies presets pins auto_pin watched epoch window mask summarizer_name model batch spend_limit "
            "recorded file most seed write no_journal as_json as_csv",
            "asks",
        ),
    ),
)
@selection(
    "part",
    "params",
    "pin",
    "auto_pin",
    "split_at",
    "watch",
    "epoch",
    "window",
    "mask",
    nargs=-1,
    strategy="How to compact; `cwb list strategies` lists them. With --ask several.",
    preset="Settings and prompt to start from. With --ask several, by default the agent's own.",
    set="Change a setting.",
)
@click.option("--ask", "asks", is_flag=True, help="Ask questions with one exact answer about each FILE.")
@click.option(
    "--summarizer", "summarizer_name", default="extractive", show_default=True, metavar="NAME",
    help="Who writes the summaries, as in `cwb compact`; extractive needs no model.",
)  # fmt: skip
@click.option(
    "--generations",
    "count",
    type=click.IntRange(1, 100),
    metavar="N",
    help="Compact N times, with the session's next messages between.",
)
@click.option("--recorded", is_flag=True, help="Judge the compactions that the session itself recorded.")
@click.option(
    "--judge", "judge_name", default="", metavar="NAME",
    help="Also ask a model, as `anthropic:MODEL`; shows how often it agrees with labelled pairs.",
)  # fmt: skip
@max_cost
@fail_on
@click.option("--json", "as_json", is_flag=True, help="One JSON document, with every fact or answer and its message.")
@csv_option("kinds", "lost", "generations", "variants", "questions")
@click.option(
    "--model", metavar="MODEL", default="", help="Ask this model, live; without it, answers come from text search."
)
@click.option("--batch", is_flag=True, help="Use Message Batches: half the price, within a day; resumable.")
@click.option(
    "--probes", "file", type=click.Path(path_type=Path), metavar="TOML",
    help="Questions from this file. Default: NAME.probes.toml next to FILE, else generated from the session.",
)  # fmt: skip
@click.option("--max", "most", type=click.IntRange(1, 1000), metavar="N", help=f"At most N questions [{MOST}].")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed for shuffling the questions.")
@click.option(
    "--write", is_flag=True, help="Write the questions to NAME.probes.toml next to FILE for editing; ask none."
)
@click.option("--no-journal", is_flag=True, help="Neither save answers nor use saved ones.")
def command(chosen: Selection, asks: bool, **options: Any) -> None:
    """Say which facts of FILE's replaced messages a compaction keeps: rules, requests, decisions,
    paths, commands, errors, identifiers, numbers and addresses, in full, in part or not.

    "kept" is the share still in the context; "correct" is kept and not contradicted; "wrong" counts the
    kept facts that are stated wrongly, "stale" those of them that are out of date but stated as current. "used" facts
    occur again in later messages; they count four times in "weighted". No model is asked unless --summarizer names one.
    With --generations the context grows by the messages that followed in the session.

    With --recorded, quotes and statements attributed to the user in a recorded summary are also searched in the
    context it replaced: one without a matching message is an unsupported claim. A line "continuity" tells of a lost
    newest request, finished or outdated work listed as open, a missing next step, and running work that is missing.

    If the session continues after the context, the output also shows what the agent used again before a message
    stated it again, found independently of the facts.

    --ask asks questions about each FILE (and the sessions in folders): of the full context, of what each compaction
    leaves, and of nothing. Code generates them from the session, first those whose answer was used later;
    controls ask about things that never occurred, where only "not known" is correct. A model answers at
    temperature 0, and its answers are saved, so an interrupted run can continue; without --model, text search
    answers: that shows what the text contains, not what a model knows.

    \b
    cwb retention FILE --preset claude-code --generations 5
    cwb retention FOLDER --ask --preset claude-code --preset codex
    """
    if asks:
        from workbench.cli.ask import ask_questions

        ask_questions(chosen, **options)
    else:
        _retention(chosen, **options)


def _retention(
    chosen: Selection,
    *,
    summarizer_name: str,
    judge_name: str,
    spend_limit: SpendLimit,
    count: int | None,
    recorded: bool,
    fails_on: tuple[str, ...],
    as_json: bool,
    as_csv: str | None,
) -> None:
    if fails_on and (recorded or count):
        raise click.UsageError("--fail-on judges one compaction; leave --recorded and --generations out.")
    if judge_name and (recorded or count):
        raise click.UsageError("--judge judges one compaction; leave --recorded and --generations out.")
    if as_csv and recorded:
        raise click.UsageError("--csv writes the tables of one compaction; leave --recorded out.")
    if recorded:
        if chosen.strategies or chosen.presets or count:
            raise click.UsageError("--recorded judges what the session recorded; leave strategy and generations out.")
        _recorded(chosen, as_json)
        return
    name = parse_name(summarizer_name)
    refuse_estimate(name, fails_on)
    bench = on_bench(chosen, chosen.policy)

    def compact(context: Context) -> Outcome:
        return _outcome(bench, context, name, spend_limit)

    if count is not None:
        found = generations(bench.context, compact, following(bench.session, bench.epoch), count, bench.watched)
        if as_csv:
            write_csv({"generations": generations_table(found, bench.watched)}, as_csv)
        else:
            _print_generations(bench, found, as_json)
        return
    outcome = compact(bench.context)
    retention, needed = bench.retention(outcome), bench.later_use(outcome)
    states = rule_states(bench, outcome)
    failed = failed_rules(retention, states, fails_on)
    judged = _judged(bench, outcome, retention, parse_name(judge_name), spend_limit) if judge_name else None
    if as_json:
        sizes = {
            "tokens_before": bench.context.total.tokens,
            "tokens_after": bench.context.outcome_size(outcome).tokens,
        }
        chosen_and_done = ({"summarizer": str(name)}, only(outcome, "status", "reason"), sizes)
        write_json(_head(bench), *chosen_and_done, retention, {"later_use": needed, "judge": judged, "watched": states})
    elif as_csv:
        write_csv({"kinds": kinds_table(retention), "lost": lacking_table(retention)}, as_csv)
    else:
        epoch = epoch_words(bench.session, bench.epoch)
        write_fields([("strategy", policy_words(bench)), *([("epoch", epoch)] if epoch else []),
                      ("status", verdict(outcome.status, outcome.reason)),
                      *([("watched", "\n".join(map(state_words, states)))] if states else [])])  # fmt: skip
        _print_retention(retention, needed)
        if judged:
            _print_judge(judge_name, judged)
    if failed:
        raise click.exceptions.Exit(CHECK_FAILED)


def _print_judge(name: str, judged: JudgeResult) -> None:
    click.echo(
        f"\n{name} judges {counted(judged.facts, 'fact')}: {percent(judged.present)} kept, {percent(judged.right)} "
        f"correct; of {grouped(judged.pairs)} pairs labelled by hand it agrees with "
        f"{percent(judged.agreed_present)} on kept, {percent(judged.agreed_right)} on correct"
    )


def _judged(
    bench: Bench, outcome: Outcome, retention: Retention, name: SummarizerName, spend_limit: SpendLimit
) -> JudgeResult:
    """Ask a model about the facts and the labelled pairs, and print the usage on stderr."""
    facts = facts_to_judge(retention)
    text = "\n".join(message.text for message in new_messages(outcome))
    call = run_named(bench, partial(judge_run, facts, text), name, spend_limit, journal=False)
    if words := call_words(call):
        warn(words)
    return judge_result(facts, call.run.answers)


def _outcome(bench: Bench, context: Context, name: SummarizerName, spend_limit: SpendLimit) -> Outcome:
    """Compact once. A live or rehearsed run is saved in the run history."""
    make = partial(compacting, context, bench.edits, bench.strategy, bench.policy)
    call = run_named(bench, make, name, spend_limit, journal=True)
    if name.has_run_record:
        save_record(call.record)
    return call.run.outcome


class _Recorded(Struct, frozen=True):
    """Judged compaction that ended `epoch`; `retention` is None if its summary cannot be read."""

    epoch: int
    retention: Retention | None
    breaks: tuple[ContinuityFinding, ...]
    needed: LaterUse | None
    claims: RecordedClaims | None


def _recorded(chosen: Selection, as_json: bool) -> None:
    """Print the retention of each recorded compaction, or of the one that ended the chosen epoch."""
    first = on_bench(replace(chosen, epoch=chosen.epoch or 1))
    session = first.session
    ended = [one.number for one in session.epochs if one.ended_by and one.number < len(session.epochs)]
    wanted = ended[-1:] if chosen.epoch == "last" else [one for one in ended if chosen.epoch in (None, one)]
    found: list[_Recorded] = []
    for number in wanted:
        bench = first if number == first.epoch else on_bench(replace(chosen, epoch=number))
        outcome = recorded_outcome(session, number)
        retention = None if is_unreadable(outcome) else bench.retention(outcome)
        breaks = continuity(bench.context.shape, outcome, retention) if retention else ()
        found.append(_Recorded(number, retention, breaks, bench.later_use(outcome), recorded_claims(session, number)))
    passed = [judge_recorded(one, session) for one in first.watched]
    if as_json:
        documents = [
            {
                "epoch": one.epoch,
                "summary_readable": one.retention is not None,
                **(plain(one.retention) if one.retention else {}),
                "continuity": one.breaks if one.retention else None,
                "later_use": one.needed,
                "claims": one.claims,
            }
            for one in found
        ]
        write_json({"recorded_compactions": documents, "watched": passed})
        return
    if not found:
        warn("this session records no such compaction.")
    for one in found:
        click.secho(f"compaction after epoch {one.epoch}", bold=True)
        if one.retention is None:
            click.echo("not known: its summary cannot be read (none, or encrypted)")
        else:
            _print_retention(one.retention, one.needed)
        for broken in one.breaks:
            click.echo(f"\ncontinuity: {printable(broken.text)}")
        if one.claims:
            click.echo(f"\n{printable(str(one.claims))} ({counted(one.claims.claims, 'claim')} checked)")
        click.echo()
    print_trails(passed)


def _head(bench: Bench) -> dict[str, Any]:
    return {"strategy": bench.strategy.id, "preset": bench.preset, "epoch": bench.epoch}


@plain.register
def _(step: Generation) -> dict[str, Any]:
    return {**fields_of(step), **only(step.retention, "head_facts=overall", "head_facts_by_kind=kinds")}


@plain.register
def later_use_document(found: LaterUse) -> dict[str, Any]:
    return {
        "kept_share": found.share,
        "by_kind": {kind: {"kept": kept, "needed": of} for kind, (kept, of) in found.kinds.items()},
        "lost": [{"kind": item.kind, "text": item.text} for item in found.lost],
    }


def _print_retention(retention: Retention, needed: LaterUse | None) -> None:
    click.echo(f"head: {counted(retention.head, 'message')}\n")
    write_tables([kinds_table(retention)])
    if needed:
        parts = ", ".join(f"{kind} {grouped(kept)} of {grouped(of)}" for kind, (kept, of) in needed.kinds.items())
        click.echo(f"\nneeded again later and not repeated in the session: {percent(needed.share)} ({parts})")
    write_tables([lacking_table(retention)], NAMED)


def _print_generations(bench: Bench, found: Generations, as_json: bool) -> None:
    if as_json:
        write_json(_head(bench), found)
        return
    write_fields([("strategy", policy_words(bench))])
    click.echo(f"\n{found.finding}.\n" if found.finding else "")
    write_tables([generations_table(found, bench.watched)])
