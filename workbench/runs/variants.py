"""Variants of one compaction: presets, numbers, prompts or summarizers, each on the same messages.

    preset_variants(bench, presets)                the settings of the bench, and each preset
    setting_variants(preset, ["FIELD=A..B:STEP"])  a preset with several values of one or two settings
    prompt_variants(bench, prompts, summarizers)   each prompt by each summarizer
    assess_offline(bench, variant)                 the outcome of an offline run, assessed
    run_all(live, spend_limit)                     live runs of several variants, all at once

`analysis.replay` simulates the session under a variant's preset; `experiment` runs variants on many sessions. The
tables at the end of this module compare any number of assessments.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import fsum

from workbench.analysis.compaction_cost import back_after
from workbench.analysis.prompt_use import StoredPrompt, as_strategy_prompt, common_strategy, policy_with
from workbench.analysis.retention_report import variants_table
from workbench.analysis.sweep.plan import WINDOW, plan_of, setting_words
from workbench.analysis.watched_rules import sentence_columns
from workbench.base.errors import BadInput
from workbench.base.tables import Row, Table, Value, columns
from workbench.bench import Bench, choose_preset, rule_states
from workbench.bench.assessment import FIGURES, Assessment, compare, compute
from workbench.compaction.preset import Preset, default_preset, preset_for_version
from workbench.runs.cost_estimate import request_costs
from workbench.runs.live_run import FinishedRun, LiveRun, connect, drive_live
from workbench.summarizers.by_name import SummarizerName, check_key
from workbench.summarizers.extractive import extractive
from workbench.summarizers.live_events import LiveEvent, ignore_event
from workbench.summarizers.spend_limit import SpendLimit
from workbench.tokens.cost import added

OFFLINE = SummarizerName("extractive")

BENCH_LABEL = "on the bench"
"""Label of the bench's own settings and run."""

OnVariantEvent = Callable[[int, LiveEvent], None]
"""Receives each event of a summarizer, with the index of its variant."""


@dataclass(frozen=True)
class Variant:
    """One of several things compared: a preset, with its settings and prompt, and a summarizer."""

    label: str
    preset: Preset
    summarizer: SummarizerName = OFFLINE

    def live(self, bench: Bench) -> LiveRun:
        """Return a run of this variant on the bench."""
        return LiveRun(choose_preset(bench, self.preset), self.summarizer, self.label)


# --- making variants --------------------------------------------------------------------------------------------------


def preset_variants(bench: Bench, presets: Iterable[Preset]) -> tuple[Variant, ...]:
    """Return a variant for the bench's own settings, then one for each preset. The first is left out if a preset has
    the same settings and the bench holds no result of a run. The preset of the session's agent gets the numbers of the
    agent version that wrote the session."""
    presets, own = [preset_for_version(one, bench.session) for one in presets], bench.as_preset
    known = any((one.strategy, one.policy) == (own.strategy, own.policy) for one in presets)
    first = () if known and not bench.result else (Variant(BENCH_LABEL, own),)
    return (*first, *(Variant(one.name, one) for one in presets))


def setting_variants(preset: Preset, vary: Sequence[str]) -> tuple[Variant, ...]:
    """Return a variant for each combination of values. Raises BadInput for a field that the policy does not have, and
    for the window, which is no setting."""
    plan = plan_of(preset, vary, None, retained=False)
    if any(axis.field == WINDOW for axis in plan.axes):
        raise BadInput("The window belongs to the model, not to the preset; `cwb compare --vary` varies it.")
    return tuple(Variant(setting_words(plan.axes, setting), plan.preset_with(setting)) for setting in plan.settings)


def check_count(prompts: Sequence[StoredPrompt], names: Sequence[SummarizerName]) -> None:
    """Raise BadInput if prompts and summarizers make only one variant."""
    if len(prompts) < 2 and len(names) < 2:
        raise BadInput("Give at least two prompts, or two summarizers.")


def prompt_variants(
    bench: Bench, prompts: Sequence[StoredPrompt], names: Sequence[SummarizerName]
) -> tuple[Variant, ...]:
    """Return a variant for each pair of a prompt (default: the bench's own) and a summarizer (default: offline).

    If the prompts belong to another strategy than the bench's, the variants use that strategy's first preset. Raises
    BadInput for prompts that are never sent to a model, and for prompts of different strategies.
    """
    known = next((one.strategy for one in prompts if one.strategy), bench.strategy.id)
    prompts = [as_strategy_prompt(one, known) for one in prompts]
    base = bench.as_preset
    if prompts and (strategy := common_strategy(prompts, bench.strategy.id)) != bench.strategy.id:
        base = preset_for_version(default_preset(strategy), bench.session)
    variants = []
    for one in prompts or (None,):
        preset = with_prompt(base, one) if one else base
        for name in names or (OFFLINE,):
            words = ([one.id] if one else []) + ([str(name)] if len(names) > 1 else [])
            variants.append(Variant(" · ".join(words), preset, name))
    return tuple(variants)


def with_prompt(preset: Preset, one: StoredPrompt) -> Preset:
    """Return the preset with another prompt. Its policy must have a field for a prompt."""
    return replace(preset, policy=policy_with(preset.policy, one), earlier=())


def assess_offline(bench: Bench, one: Variant) -> Assessment:
    """Run a variant offline and compute the figures that need no facts. For the bench's own settings, the run that the
    bench holds is assessed."""
    if one.label == BENCH_LABEL:
        found = Assessment(bench, bench.result or bench.offline, one.preset)
    else:
        (found,) = compare(bench, [one.preset], extractive)
    return compute(found, *FIGURES)


# --- asking summarizers -----------------------------------------------------------------------------------------------


def highest_costs(live: Sequence[LiveRun]) -> list[tuple[float | None, str]]:
    """Return the highest cost in dollars and the model of each run that calls a model. The cost is None if the model's
    price is unknown. Renders and counts all requests, so do not call it in an event loop."""
    asking = [one for one in live if one.name.model]
    return [
        (added(each.at_most.dollars for each in request_costs(one.bench, one.name)), one.name.model) for one in asking
    ]


async def run_all(
    live: Sequence[LiveRun], spend_limit: SpendLimit, on_event: OnVariantEvent | None = None, *, keeps: bool
) -> tuple[FinishedRun, ...]:
    """Run all variants at once. `keeps`: save each answer in the run history before the next request is sent. When
    cancelled, the session is unchanged, and each run's recorder holds the events so far.

    Before anything is sent, raises BadInput if a summarizer cannot be used, and SpendLimitExceeded if all runs together
    could cost more than `spend_limit` allows.
    """
    for one in live:
        await check_key(one.name)
    if spend_limit.limit is not None:
        costs = await asyncio.to_thread(highest_costs, live)
        for model in dict.fromkeys(model for most, model in costs if most is None):
            await spend_limit.allow(None, model)
        known = [(most, model) for most, model in costs if most is not None]
        await spend_limit.allow(
            fsum(most for most, _ in known), " and ".join(dict.fromkeys(model for _, model in known))
        )
    running = [_run_variant(number, one, spend_limit, on_event, keeps=keeps) for number, one in enumerate(live)]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in running]
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
    return tuple(task.result() for task in tasks)


async def _run_variant(
    number: int, live: LiveRun, spend_limit: SpendLimit, on_event: OnVariantEvent | None, *, keeps: bool
) -> FinishedRun:
    summarizer = await connect(live, spend_limit, partial(on_event, number) if on_event else ignore_event)
    done = FinishedRun(live, await drive_live(live, live.bench.compacting(), summarizer, keeps=keeps))
    await asyncio.to_thread(compute, done.assessment, "after", "checks", "grounding", "lost", "watched")
    return done


# --- tables -----------------------------------------------------------------------------------------------------------


def figures_table(bench: Bench, several: Sequence[Assessment]) -> Table:
    """Return a table of the figures that need no facts, one row per variant. Cells are empty for figures that the
    agent's own compaction does not record."""
    rates = several[0].rates.kind if several else "money"
    spec = (
        "preset fit strategy fired:flag head:tokens tail:tokens tokens_after:tokens:after saved:share calls:count "
        f"summary_cost:{rates} unchanged_tokens:tokens:stays_cached rebilled_tokens:tokens:billed_again paid_back "
        "kept:count:kept_messages pinned:count summarized:count dropped:count checks status"
    )
    return Table("variants", "", columns(spec), tuple(map(_figures_row, several)))


def _figures_row(one: Assessment) -> Row:
    fates = {fate.value: count for fate, count in one.outcome.fate_counts.items()}
    is_recorded = one.preset is None
    values: tuple[Value, ...] = (
        one.name,
        one.fit,
        one.strategy or "the agent's own",
        None if is_recorded else one.fired,
        one.head.tokens,
        one.tail.tokens,
        one.after.tokens,
        one.saved / one.before.tokens if one.before.tokens else None,
        one.calls,
        one.summary_cost,
        one.cache.first_changed,
        one.cache.rebilled,
        paid_back_words(one),
        fates["kept"] + fates["compressed"],
        fates["pinned"],
        fates["summarized"],
        fates["dropped"] + fates["abridged"],
        None if is_recorded else ", ".join(check.name for check in one.failed) or "passed",
        one.outcome.status.replace("_", " "),
    )
    return Row(values)


def paid_back_words(one: Assessment) -> str | None:
    """Return after how many calls a variant is paid back, in words; None if it changed nothing. If the cost of the
    summary is not recorded, only the cost of the lost cache counts, and the words say so."""
    if one.outcome.status == "unchanged":
        return None
    return back_after(one.pays_off_after) + ("" if one.spent else " (cache)")


def retention_table(bench: Bench, several: Iterable[Assessment]) -> Table:
    """Return a table of the share of facts that each variant keeps."""
    rows = ((one.name, one.retention, one.later_use) for one in several)
    return variants_table(rows, goes_on=bool(bench.needed))


def rules_table(bench: Bench, several: Iterable[Assessment]) -> Table:
    """Return a table of the states of the watched rules: before the compaction, and after that of each variant."""
    before = Row(("(before)", *(one.now for one in rule_states(bench, None))))
    rows = (Row((one.name, *(state.after for state in one.watched))) for one in several)
    spec = (*columns("preset"), *sentence_columns(bench.watched))
    return Table("watched", "Watched sentences", spec, (before, *rows))
