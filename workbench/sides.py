"""Two prompts, or two models, on the same head: tried side by side, each a whole run, and what came of either."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from math import fsum

from workbench.analysis.prompt_use import Found, meant_for, policy_with, strategy_of
from workbench.assessment import compute
from workbench.base.errors import BadInput
from workbench.bench import Bench, choose_preset, set_policy
from workbench.compaction.preset import default_preset
from workbench.live_run import FinishedRun, LiveRun, connect, drive_live
from workbench.quotes import quotes
from workbench.summarizers.live_events import LiveEvent, nobody
from workbench.summarizers.named import Name, need_key
from workbench.summarizers.purse import Purse
from workbench.tokens.cost import added

OnHeard = Callable[[int, LiveEvent], None]
"""Told what a side's summarizer tells: the side's number, from 0, and the event."""


def check_two(prompts: Sequence[Found], names: Sequence[Name]) -> None:
    """Raises BadInput where there are not two of one thing and at most one of the other."""
    if sorted((len(prompts), len(names))) not in ([0, 2], [1, 2]):
        raise BadInput("Give two prompts and at most one summarizer, or two summarizers and at most one prompt.")


def sides(bench: Bench, prompts: Sequence[Found], names: Sequence[Name]) -> tuple[LiveRun, LiveRun]:
    """The two sides: two prompts by one summarizer, or one prompt (the bench's own where none is given) by two.

    Prompts of another strategy than the bench's take it to its first preset. Raises BadInput where there are not two
    of one thing and at most one of the other, and for prompts that cannot be tried.
    """
    check_two(prompts, names)
    known = next((one.strategy for one in prompts if one.strategy), bench.strategy.id)
    prompts = [meant_for(one, known) for one in prompts]
    if prompts and (wanted := strategy_of(prompts, bench.strategy.id)) != bench.strategy.id:
        bench = choose_preset(bench, default_preset(wanted))
    if len(prompts) == 2:
        name = names[0] if names else Name("extractive")
        first, second = (LiveRun(with_prompt(bench, one), name, one.id) for one in prompts)
    else:
        there = with_prompt(bench, prompts[0]) if prompts else bench
        first, second = (LiveRun(there, name, str(name)) for name in names)
    return first, second


def with_prompt(bench: Bench, one: Found) -> Bench:
    """The bench with another prompt in its policy, which has a field for it."""
    return set_policy(bench, policy_with(bench.policy, one))


def at_most(pair: Sequence[LiveRun]) -> list[tuple[float | None, str]]:
    """What each side that asks a model can cost, None where the price is not known; and the model. Renders and counts
    its requests: not for an event loop."""
    asked = [side for side in pair if side.name.model]
    return [(added(one.at_most.dollars for one in quotes(side.bench, side.name)), side.name.model) for side in asked]


async def tried(
    pair: Sequence[LiveRun], purse: Purse, on_heard: OnHeard | None = None, *, keeps: bool
) -> tuple[FinishedRun, ...]:
    """Run all sides at once. Cancelling leaves the session as it is; what each had heard stays in its recorder, and
    where the runs are to be kept, each answer lies in the journal before the next is asked for.

    Raises BadInput before anything is sent for a summarizer that cannot be had, and TooDear where both together could
    cost more than `purse` allows.
    """
    for side in pair:
        await need_key(side.name)
    if purse.limit is not None:
        asked = await asyncio.to_thread(at_most, pair)
        for model in dict.fromkeys(model for most, model in asked if most is None):
            await purse.allow(None, model)
        known = [(most, model) for most, model in asked if most is not None]
        await purse.allow(fsum(most for most, _ in known), " and ".join(dict.fromkeys(model for _, model in known)))
    running = [_one(number, side, purse, on_heard, keeps=keeps) for number, side in enumerate(pair)]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in running]
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
    return tuple(task.result() for task in tasks)


async def _one(number: int, side: LiveRun, purse: Purse, on_heard: OnHeard | None, *, keeps: bool) -> FinishedRun:
    summarizer = await connect(side, purse, partial(on_heard, number) if on_heard else nobody)
    done = FinishedRun(side, await drive_live(side, side.bench.compacting(), summarizer, keeps=keeps))
    await asyncio.to_thread(compute, done.found, "after", "checks", "grounding", "lost", "watched")
    return done
