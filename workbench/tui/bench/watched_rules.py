"""Watched rules on the bench: turn them on and off, judge them after every change, apply the fixes for a lost one, and
copy the instruction that makes the agent's own compaction quote rules and pins.

The shown compaction is assessed here as well. All computing is done in threads."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from workbench.base.errors import BadInput
from workbench.bench import Bench, RuleState, rule_states, steps
from workbench.tui.bench import edits, planning
from workbench.tui.bench.host import Host, take_step
from workbench.tui.bench.store import BenchView

if TYPE_CHECKING:
    from workbench.analysis.compact_instruction import CompactInstruction
    from workbench.bench.assessment import Assessment
    from workbench.bench.fixes import RuleFix


def toggle_rule(host: Host, sentence: str) -> tuple[str, ...]:
    """Watch a sentence, or stop watching it, and return all watched sentences. Undo does not change them. Raises
    BadInput if the sentence cannot be watched."""
    before = host.store.bench.watched
    (one,) = steps.with_watched_rules(host.store.bench, (sentence,)).watched
    after = tuple(other for other in before if other != one) if one in before else (*before, one)
    host.store.everywhere(partial(steps.with_watched_rules, sentences=after))
    return after


def start_rule_states(host: Host, was: BenchView | None, now: BenchView) -> None:
    """Judge the watched rules again if they or the shown bench changed."""
    if planning.is_newly_previewed(was, now) and now.shown.watched:
        host.spawn("watched", update_rule_states, host)


async def update_rule_states(host: Host) -> None:
    """Show the states of the watched rules now, then after the compaction, then after a second one. Without a result
    of a run, the offline outcome is judged."""
    bench = host.store.view.shown
    for judged in (
        partial(rule_states, bench, None),
        partial(_states_after, bench),
        partial(_states_after, bench, again=True),
    ):
        found = await asyncio.to_thread(judged)
        if bench is not host.store.view.shown:
            return
        host.store.put(replace(host.store.view, rule_states=found, rule_states_bench=bench))
    host.spawn("fixes", update_fixes, host, bench, found)


async def update_fixes(host: Host, bench: Bench, states: Sequence[RuleState]) -> None:
    """Find fixes for the first lost watched rule."""
    from workbench.bench.fixes import find_fixes

    found = await asyncio.to_thread(find_fixes, bench, states, lambda: bench is host.store.view.shown)
    if bench is host.store.view.shown:
        host.store.put(replace(host.store.view, fixes=found))


def no_pin(view: BenchView) -> str:
    """Return the reason why no pin is offered to keep the lost rule; "" if one is."""
    return _no_fix(view) or ("" if view.fixes and view.fixes.pin else "Its message is pinned, or no longer here.")


def no_number(view: BenchView) -> str:
    """Return the reason why no setting is offered to keep the lost rule; "" if one is."""
    return _no_fix(view) or ("" if view.fixes and view.fixes.setting else "No setting that was tried keeps it.")


def _no_fix(view: BenchView) -> str:
    if not view.bench.watched:
        return "No rule is watched: W chooses one."
    return "" if view.fixes and view.fixes.bench is view.bench else "No watched rule is known to be lost."


def keep_by_pin(host: Host) -> None:
    if fixes := host.store.view.fixes:
        _apply(host, fixes.pin)


def keep_by_number(host: Host) -> None:
    if fixes := host.store.view.fixes:
        _apply(host, fixes.setting)


def _apply(host: Host, fix: RuleFix | None) -> None:
    if fix:
        take_step(host, lambda _: fix.bench, note=f"{fix.words}, which keeps it; u takes it back")


def no_instruction(view: BenchView) -> str:
    """Return the reason why there is no instruction to copy; "" if there is one, or it is not computed yet."""
    found = view.bench.known_instruction
    return edits.no_message(view) or (f"{found.words}: nothing to copy." if found and not found.line else "")


def copy_instruction(host: Host) -> None:
    host.spawn("instruction", _copy_instruction, host)


async def _copy_instruction(host: Host) -> None:
    bench = host.store.bench
    found = await _instruction(bench)
    if found.line:
        host.app.copy_to_clipboard(found.line)
        host.show_toast(f"Copied {found.words}. {found.remark}".rstrip())
    else:
        host.show_toast(f"{found.words}: nothing to copy.", is_warning=True)


async def _instruction(bench: Bench) -> CompactInstruction:
    return await asyncio.to_thread(lambda: bench.instruction)


def start_assessment(host: Host, was: BenchView | None, now: BenchView) -> None:
    """Assess the compaction again if the shown bench changed. A bench without a result of a run is assessed only if its
    context is small (`planning.is_small`)."""
    if planning.is_newly_previewed(was, now) and (now.shown.result or planning.is_small(now.shown)):
        host.spawn("receipt", assess_shown, host)


async def assess_shown(host: Host) -> None:
    bench = host.store.view.shown
    try:
        found = await asyncio.to_thread(_assess, bench)
    except BadInput:  # nothing to compact here; the status says so
        found = None
    if bench is host.store.view.shown:
        host.store.put(replace(host.store.view, assessment=found))
        if planning.is_small(bench):
            await _instruction(bench)  # cheap once the facts are known; the action that copies it is off if it is empty


def _assess(bench: Bench) -> Assessment:
    from workbench.bench.assessment import assess, compute

    return compute(assess(bench, bench.result or bench.offline), "receipt")


def _states_after(bench: Bench, *, again: bool = False) -> tuple[RuleState, ...]:
    try:
        outcome = bench.result.outcome if bench.result else bench.offline.outcome
        return rule_states(bench, outcome, again=again)
    except BadInput:  # nothing to compact here; the status says so
        return rule_states(bench, None)
