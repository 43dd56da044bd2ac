"""`cwb compare` with several prompts or models: drafts for the same messages; for several sessions verdicts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from workbench.analysis.prompt_use import prompt_by_id
from workbench.base.figures import grouped
from workbench.cli.compacting import NO_SUMMARY
from workbench.cli.experiment import experiment
from workbench.cli.load_bench import on_bench
from workbench.cli.outcomes import found_rows, policy_words, state_words
from workbench.cli.output import interrupted, only, plain, size_words, warn, write_fields, write_json
from workbench.cli.running import OverTheLimit, run_to_end, save_record
from workbench.cli.selection import Selection
from workbench.cli.session_files import release_session, sessions_in
from workbench.compaction.outcome import verdict
from workbench.runs.live_run import FinishedRun, LiveRun
from workbench.runs.variants import check_count, prompt_variants, run_all
from workbench.summarizers.by_name import SummarizerName, parse_model, parse_name
from workbench.summarizers.spend_limit import SpendLimit, SpendLimitExceeded
from workbench.tokens.cost import usage_words


def side_by_side(
    chosen: Selection,
    *,
    prompts: tuple[str, ...],
    models: tuple[str, ...],
    summarizers: tuple[str, ...],
    batch: bool,
    spend_limit: SpendLimit,
    no_journal: bool,
    as_json: bool,
    as_csv: str | None,
) -> None:
    """Compact with each prompt and each model, and write every draft and its lost facts; for several sessions the
    verdicts. Raises BadInput for a single variant."""
    named = [*(parse_model(model) for model in models), *map(parse_name, summarizers)]
    files = sessions_in(chosen.files)
    if batch or len(files) > 1 or files != list(chosen.files):
        chosen = replace(chosen, files=tuple(files))
        _compare_sessions(
            chosen, prompts, named, spend_limit, not no_journal, batch=batch, as_json=as_json, as_csv=as_csv
        )
        return
    if as_csv:
        raise click.UsageError("--csv writes the tables of several sessions; name more FILEs, or a folder.")
    found = [prompt_by_id(prompt) for prompt in prompts]
    check_count(found, named)
    bench = on_bench(chosen, chosen.policy if chosen.strategies or chosen.presets else None)
    live = [one.live(bench) for one in prompt_variants(bench, found, named)]
    _report_addresses(named)
    for each in live:
        for doubt in each.bench.prompt_problems if each.name.model else ():
            warn(f"{each.label}: {doubt}")
    done = _run(live, spend_limit, journal=not no_journal)
    run_ids = ["" if no_journal or not one.live.name.has_run_record else save_record(one.record) for one in done]
    if as_json:
        tries = [{**plain(one), "run": run or None} for one, run in zip(done, run_ids, strict=True)]
        write_json({"before": done[0].assessment.before, "variants": tries})
        _exit_without_summary(done)
        return
    click.echo(f"before: {size_words(done[0].assessment.before)}")
    for one, run in zip(done, run_ids, strict=True):
        click.echo()
        click.secho(one.live.label, bold=True)
        write_fields([(name, value) for name, value in _rows(one, run) if value])
    if len({one.draft for one in done}) == 1 and done[0].draft:
        click.echo("\nAll drafts are identical.")
    _exit_without_summary(done)


def _compare_sessions(
    chosen: Selection, prompts: tuple[str, ...], named: list[SummarizerName], spend_limit: SpendLimit, keeps: bool, *,
    batch: bool, as_json: bool, as_csv: str | None,
) -> None:  # fmt: skip
    """Compare the variants on every session."""
    if chosen.part:
        raise click.UsageError("--part needs one session; name one FILE.")
    found = [prompt_by_id(prompt) for prompt in prompts]
    check_count(found, named)
    _report_addresses(named)
    policy = chosen.policy if chosen.strategies or chosen.presets else None

    def opened(path: Path) -> tuple[LiveRun, ...]:
        release_session()
        bench = on_bench(replace(chosen, files=(path,)), policy)
        return tuple(one.live(bench) for one in prompt_variants(bench, found, named))

    experiment(chosen.files, opened, spend_limit, keeps=keeps, batch=batch, as_json=as_json, as_csv=as_csv)


def _report_addresses(named: Sequence[SummarizerName]) -> None:
    """Report the addresses of the models before anything is sent."""
    for name in dict.fromkeys(named):
        if name.model:
            warn(f"{name.model} is asked at {name.connection.address}.")


def _exit_without_summary(done: Sequence[FinishedRun]) -> None:
    """Exit with an error if no variant has a summary."""
    if all(one.failures and not one.draft for one in done):
        raise click.exceptions.Exit(NO_SUMMARY)


def _run(live: Sequence[LiveRun], spend_limit: SpendLimit, *, journal: bool) -> tuple[FinishedRun, ...]:
    clock = time.perf_counter()
    try:
        return run_to_end(run_all(live, spend_limit, keeps=journal))
    except SpendLimitExceeded as refused:
        raise OverTheLimit(str(refused)) from None
    except KeyboardInterrupt:
        seconds = time.perf_counter() - clock
        run_ids = [save_record(one.unfinished(seconds)) for one in live if journal and one.name.has_run_record]
        where = f"; the received part is saved as {', '.join(filter(None, run_ids))}" if any(run_ids) else ""
        raise interrupted(f"Cancelled: nothing was written{where}.") from None


def _rows(one: FinishedRun, run_id: str) -> list[tuple[str, str]]:
    failed = [f"{check.name}: {check.detail}" for check in one.assessment.failed]
    wrote = f"{grouped(len(one.draft))} characters, ≈{grouped(one.draft_tokens)} tokens" if one.draft else "nothing"
    return [
        ("strategy", policy_words(one.live.bench)),
        ("summary by", str(one.live.name)),
        ("wrote", f"{wrote}, {one.run.seconds:.1f} s"),
        ("billed", usage_words(one.usage) + f", {one.cost}" if one.usage else ""),
        ("failed", "\n".join(str(call) for call in one.failures if call.detail not in one.run.outcome.reason)),
        ("after", size_words(one.assessment.after)),
        ("checks", "\n".join([f"{len(one.assessment.checks) - len(failed)} passed", *failed])),
        ("problems", "\n".join(one.live.bench.prompt_problems)),
        ("status", verdict(one.run.outcome.status, one.run.outcome.reason)),
        *found_rows(one.assessment.grounding, one.assessment.lost),
        ("watched", "\n".join(map(state_words, one.assessment.watched))),
        ("saved as", f"run {run_id}" if run_id else ""),
        ("draft", one.draft),
    ]


@plain.register
def _(one: FinishedRun) -> dict[str, Any]:
    bench, run = one.live.bench, one.run
    return {
        "label": one.live.label,
        "strategy": bench.strategy.id,
        "preset": bench.preset,
        "summarizer": str(one.live.name),
        **only(one, "summary=draft", "summary_tokens=draft_tokens"),
        "calls": run.answers,
        **only(one, "usage", "billed=cost"),
        "seconds": round(run.seconds, 3),
        **only(one.assessment, "after", "checks"),
        "prompt_problems": bench.prompt_problems,
        **only(run.outcome, "status", "reason"),
        **only(one.assessment, "grounding", "lost_facts=lost", "watched"),
    }
