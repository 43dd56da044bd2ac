"""Actions that open other screens, and what their results do on the bench."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from workbench.base.errors import BadInput
from workbench.bench import Bench, steps
from workbench.compaction.outcome import verdict
from workbench.compaction.preset import load_preset
from workbench.compaction.strategies import DEFAULT
from workbench.tui.bench import edits, finding, policy, watched_rules
from workbench.tui.bench.host import Host, take_step
from workbench.tui.bench.planning import plan_step, run_offline, show_outcome, to_epoch
from workbench.tui.bench.saving import save_now
from workbench.tui.bench.store import BenchView
from workbench.tui.plain import several

if TYPE_CHECKING:
    from workbench.analysis.why.diagnosis import MessageFix
    from workbench.play.frames import Story
    from workbench.repairs.engine import Repair
    from workbench.runs.variants import Variant
    from workbench.summarizers.call_limits import CallLimits
    from workbench.tui.screens import retention, why
    from workbench.tui.screens import run as running


def export(host: Host) -> None:
    from workbench.tui.screens.export import ExportScreen

    host.ask(ExportScreen(host.store.bench), lambda _: host.spawn("run", _run_and_export, host))


async def _run_and_export(host: Host) -> None:
    """Run the compaction first, because a preview's summary is a placeholder."""
    await run_offline(host)
    export(host)


def rescue(host: Host) -> None:
    """Rescue as `cwb rescue` does: compact the newest epoch without a model, then choose where to put it."""
    host.spawn("epoch", _rescue, host)


async def _rescue(host: Host) -> None:
    store = host.store
    newest, before = len(store.bench.session.epochs), store.bench.epoch
    if before != newest:
        host.show_toast(f"The agent resumes epoch {newest}, the newest: that one is rescued, not epoch {before}.")
        await to_epoch(host, newest)
    bench = store.bench

    def compacted() -> Bench:
        from workbench.bench.rescue import without_model

        under = without_model(bench)
        return steps.with_result(under, under.offline)

    store.put(replace(store.view, running="rescuing"))
    try:
        after = await asyncio.to_thread(compacted)
    finally:
        store.put(replace(store.view, running=""))
    if after.outcome.status in ("unchanged", "not_smaller"):
        host.show_toast(verdict(after.outcome.status, after.outcome.reason), is_warning=True)
    elif store.bench is bench:
        store.step(after, note=f"compacted by {after.preset}, no model asked")
        export(host)


def repair(host: Host) -> None:
    """Repair as `cwb repair` does: show the fixes, then choose where to put the copy."""
    host.spawn("repair", _repair, host)


async def _repair(host: Host) -> None:
    session = host.store.bench.session
    path = session.path
    assert path is not None, "only a session from a file can be repaired"

    def repair_copy() -> Repair:
        from workbench.formats.files import branches_of
        from workbench.repairs.engine import repair

        part = session.facts.part
        # The repair of a file covers all its branches; any other part is a session of its own.
        return repair(path, part="" if part in {one.id for one in branches_of(path)} else part)

    try:
        found = await asyncio.to_thread(repair_copy)
    except BadInput as refused:
        host.show_toast(str(refused), is_warning=True)
        return
    if not found.fixes and not found.left:
        host.show_toast("Nothing to repair: the file is not damaged.")
        return
    from workbench.tui.screens.repair import RepairScreen

    host.ask(RepairScreen(found), lambda where: host.show_toast(f"The repaired copy is in {where}."))


def no_file(view: BenchView) -> str:
    """Reason why there is nothing to repair."""
    return "" if view.bench.session.path else "This session was not read from a file: there is nothing to repair."


async def _import_screen(screen: str) -> None:
    """Import the module of a large screen in a thread; drawing continues meanwhile, and keys wait."""
    if (module := f"workbench.tui.screens.{screen}") not in sys.modules:
        await asyncio.to_thread(import_module, module)


async def compare(host: Host, *, on_plot: bool = False) -> None:
    await _import_screen("compare")
    from workbench.tui.screens.compare import CompareScreen

    def chosen(choice: Variant | str) -> None:
        if isinstance(choice, str):
            go_to(host, choice)
            return
        plan_step(host, partial(steps.choose_preset, preset=choice.preset), note=choice.label)
        if choice.summarizer.kind != "extractive":
            host.store.everywhere(partial(steps.with_summarizer, name=str(choice.summarizer)))

    screen: Screen[Any] = CompareScreen(host.store.bench, host.counter, on_plot=on_plot)
    host.ask(screen, chosen)


async def choose_file(host: Host) -> None:
    save_now(host)
    await host.app.run_action("sessions")


# --- running ----------------------------------------------------------------------------------------------------------


def run_with(host: Host, limits: CallLimits | None = None, *, history: bool = False) -> None:
    from workbench.tui.screens.run import RunScreen

    host.ask(RunScreen(host.store.bench, limits, history=history), partial(_use_run, host))


def _use_run(host: Host, result: running.RunScreenResult) -> None:
    store = host.store
    if result.summarizer != store.bench.summarizer:
        store.everywhere(partial(steps.with_summarizer, name=result.summarizer))
    if (run := result.run) is None:
        return
    if result.pins != store.bench.pins:
        take_step(host, partial(steps.with_pins, pins=result.pins), note="pinned")
    take_step(host, partial(steps.with_result, run=run), note="committed; u takes it back")
    show_outcome(host)


# --- rules, facts kept -----------------------------------------------------------------------------------------------


def nothing_to_lose(view: BenchView) -> str:
    return "" if view.bench.messages else "This epoch holds no messages: there is nothing to lose."


async def show_rules(host: Host) -> None:
    """Show the rules, and go to the message of the one that was chosen."""
    from workbench.tui.screens.rules import BenchAccess, RulesScreen

    def go_there(index: int) -> None:
        finding.go_to(host, index)
        host.store.put(replace(host.store.view, tab="message"))

    on_bench = BenchAccess(
        bench=lambda: host.store.bench,
        toggle_rule=partial(watched_rules.toggle_rule, host),
        take_step=lambda make, note: take_step(host, make, note=note),
        undo=partial(edits.undo, host),
        index=host.cursor.index,
        in_view=host.text_in_view,
    )
    await host.ask(RulesScreen(on_bench), go_there)


async def show_retention(host: Host, tab: str = "facts") -> None:
    await _import_screen("retention")
    from workbench.tui.retention.pane import RetentionState
    from workbench.tui.screens.retention import RetentionScreen

    shared = RetentionState(host.store.view.history, partial(watched_rules.toggle_rule, host), host.counter)
    host.ask(RetentionScreen(shared, tab), partial(_use_retention, host))


def _use_retention(host: Host, result: retention.RetentionResult) -> None:
    store = host.store
    if result.history is not None:
        # Counting went on while the screen was open: the steps in its history get the bench's token figures.
        host.cancel("run")
        watched = partial(steps.with_watched_rules, sentences=store.bench.watched)
        store.travel(result.history.relaid(store.bench.epoch, store.bench.layout).change_all(watched))
    if result.message is not None:
        go_to(host, result.message)


# --- why it overflowed ------------------------------------------------------------------------------------------------


def show_why(host: Host) -> None:
    from workbench.tui.screens.why import WhyScreen

    def use_choice(choice: str | why.FixRequest) -> None:
        if isinstance(choice, str):
            go_to(host, choice)
        else:
            host.spawn("jump", _apply_fix, host, choice)

    screen: Screen[Any] = WhyScreen(host.store.bench, host.counter)
    host.ask(screen, use_choice)


async def _apply_fix(host: Host, applied: why.FixRequest) -> None:
    """Go to the epoch of a finding's fix and apply it there, as one step to undo."""
    from workbench.analysis.why.diagnosis import PresetFix

    await to_epoch(host, applied.epoch)
    fix = applied.fix
    if isinstance(fix, PresetFix):
        policy.choose(host, fix.preset)
    elif fix.does == "pin":
        take_step(host, lambda bench: steps.with_pins(bench, bench.pins | frozenset(fix.messages)), note=_fix_note(fix))
    else:
        edit = steps.toggle_dropped if fix.does == "drop" else steps.toggle_shortened
        plan_step(host, partial(edit, ids=fix.messages), note=_fix_note(fix))


def _fix_note(fix: MessageFix) -> str:
    past = {"pin": "pinned", "drop": "dropped", "shorten": "shortened"}[fix.does]
    return f"{past} {several(len(fix.messages), 'message')}; u takes it back"


def play(host: Host) -> None:
    """Show the session as a demo, under the bench's settings and under the default preset."""
    host.spawn("run", _play, host)


async def _play(host: Host) -> None:
    from workbench.play.story import offline, story
    from workbench.tui.screens.play import PlayScreen

    store, bench = host.store, host.store.bench

    def make_story() -> Story:
        from workbench.tui.simulations import course_on, own_preset

        there, course = course_on(bench, host.counter, lambda _: None, first=1)
        default = [load_preset(DEFAULT)] if bench.preset != DEFAULT else []
        name = bench.session.path.name if bench.session.path else bench.session.id
        return story(
            course, [own_preset(bench), *default], there.original.limit, note=offline(name), watched=bench.watched
        )

    store.put(replace(store.view, running="preparing the demo"))
    try:
        found = await asyncio.to_thread(make_story)
    except BadInput as refused:
        host.show_toast(str(refused), is_warning=True)
    else:
        host.ask(PlayScreen(found))
    finally:
        store.put(replace(store.view, running=""))


def go_to(host: Host, message: str) -> None:
    """Put the cursor on a message, in the nearest epoch that holds it."""
    epoch = epoch_of(host.store.bench, message)
    if epoch is None:
        host.show_toast("That message is in no context: the bench cannot show it.", is_warning=True)
    else:
        host.spawn("jump", _go_to_message, host, message, epoch)


async def _go_to_message(host: Host, message: str, epoch: int) -> None:
    await to_epoch(host, epoch)
    store = host.store
    store.put(replace(store.view, tab="message"))
    host.show_pane("rounds")
    finding.go_to(host, store.bench.layout.shape.index_of[message])


def epoch_of(bench: Bench, message: str) -> int | None:
    """Nearest epoch to the bench's that holds the message, None if none does."""
    if message in bench.layout.shape.index_of:
        return bench.epoch
    session = bench.session
    places = {place for place, one in enumerate(session.messages) if one.id == message}
    holding = [epoch.number for epoch in session.epochs if not places.isdisjoint(epoch.members)]
    return min(holding, key=lambda number: abs(number - bench.epoch), default=None)


# --- exact counts, prompts, run history ----------------------------------------------------------------------------


def count_exactly(host: Host) -> None:
    from workbench.tui.bench import exact_counts

    exact_counts.ask_and_count(host)
