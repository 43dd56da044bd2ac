"""Planning in a thread, so that keys respond at once in a long session; changes of epoch, checks, the offline run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count as count_from

from workbench.base.errors import BadInput
from workbench.bench import Bench, steps
from workbench.compaction.layers import layers_after
from workbench.compaction.summary_request import Answer, SummaryRequest
from workbench.formats.format import Progress
from workbench.session import Message
from workbench.tui.background import WorkCancelled, in_steps
from workbench.tui.bench.counting import count
from workbench.tui.bench.host import Host, take_step
from workbench.tui.bench.store import BenchView, PendingChange, is_drawable, moved, to_count, with_present_drawn
from workbench.tui.fields import changes_model_text
from workbench.tui.plain import percent
from workbench.tui.rows import Groups

REST_S = 0.15
"""Time without a change before the plan is run offline and checked."""

MOST_AT_ONCE = 8_000_000
"""Most characters of a context that is run offline after every change. Running a larger one and searching it for facts
takes seconds, so its preview stays an estimate."""


def plan_and_measure(bench: Bench) -> None:
    """Plan a bench and measure what is drawn of it, so that both are cached. Takes up to seconds for a long session."""
    _ = bench.plan
    _measure(bench)


def _measure(bench: Bench) -> None:
    bench.context.outcome_size(bench.outcome)
    bench.strategy.view.layers(bench.context, bench.outcome)
    layers_after(bench.context, bench.outcome)


def plan_present(host: Host, was: BenchView | None, now: BenchView) -> None:
    """Plan the present bench in a thread if it is not drawn yet."""
    if now.shown is not now.bench and not host.busy("plan"):
        host.spawn("plan", make_plan, host)


async def make_plan(host: Host) -> None:
    """Plan the present bench in a thread until it is drawn. A bench that was replaced meanwhile is not drawn, so
    that many keys in a row draw only the last bench."""
    store = host.store
    while store.view.shown is not (bench := store.bench):
        await asyncio.to_thread(plan_and_measure, bench)
        view = store.view
        if not view.is_planned and view.bench.layout.shape is bench.layout.shape:
            view = replace(
                view, shown=bench, is_planned=True
            )  # the first plan is drawn even if the bench has changed meanwhile
        store.put(with_present_drawn(view))
        if store.view.pending_split and is_drawable(store.bench):
            move_split(host, 0)


def move_split(host: Host, by: int) -> None:
    """Move the split `by` steps from its planned place; without a plan, note the steps in `pending_split` for later."""
    store = host.store
    by += store.view.pending_split
    ready = store.view.is_planned and is_drawable(store.bench)
    store.put(replace(store.view, pending_split=0 if ready else by))
    if ready:
        take_step(host, partial(steps.move_split, by=by), key="split")


# --- changes that are planned before they are made --------------------------------------------------------------------


def plan_step(
    host: Host,
    make: Callable[[Bench], Bench],
    key: str = "",
    note: str | Callable[[Bench, Bench], str] = "",
) -> None:
    """Take a step whose plan may need more than a frame: plan it in a thread, then draw it.

    If the bench changes meanwhile, the step is made again from the changed bench. The step replaces a pending one with
    the same `key`, unless that is "". `note` describes it, or returns its description from the bench before and after.
    """
    describe = note if callable(note) else lambda before, after: str(note)
    view = host.store.view
    others = (change for change in view.pending if not key or change.key != key)
    host.store.put(replace(view, pending=(*others, PendingChange(make, key, describe))))
    if not host.busy("change"):
        host.spawn("change", make_changes, host)


async def make_changes(host: Host) -> None:
    """Make the pending changes one after another; a refused one is explained and discarded."""
    store = host.store
    while store.view.pending:
        change, before = store.view.pending[0], store.bench
        try:
            after, note = await asyncio.to_thread(_plan_change, change, before)
        except BadInput as refused:
            host.show_toast(str(refused), is_warning=True)
            after, note = before, ""
        except Exception:
            _discard_change(host, change)
            raise
        if before is store.bench and change in store.view.pending:
            _discard_change(host, change)
            if after is not before:
                host.cancel("run")
                store.step(after, change.key, note)


def _plan_change(change: PendingChange, before: Bench) -> tuple[Bench, str]:
    after = change.make(before)
    plan_and_measure(after)
    return after, change.describe(before, after)


def _discard_change(host: Host, change: PendingChange) -> None:
    view = host.store.view
    host.store.put(replace(view, pending=tuple(one for one in view.pending if one is not change)))


# --- epochs -----------------------------------------------------------------------------------------------------------


def no_epoch(view: BenchView, by: int) -> str:
    """Reason why there is no epoch `by` further, "" if there is one."""
    number, last = view.bench.epoch + by, len(view.bench.session.epochs)
    if 1 <= number <= last:
        return ""
    if last == 1:
        return "No compaction is recorded in this session: it has only one epoch."
    return f"This is the {'first' if by < 0 else 'last'} of {last} epochs."


def change_epoch(host: Host, by: int) -> None:
    host.spawn("epoch", to_epoch, host, host.store.bench.epoch + by)


async def to_epoch(host: Host, number: int) -> None:
    """Go to epoch `number`, laid out and planned in a thread; does nothing if there is none or it is on the bench."""
    store = host.store
    if number == store.bench.epoch or not 1 <= number <= len(store.bench.session.epochs):
        return

    def other() -> tuple[Bench, Groups]:
        bench = steps.at_epoch(store.bench, number, host.counter)
        bench.context.outcome_size(bench.plan.outcome)
        return bench, Groups(bench.layout)

    bench, groups = await asyncio.to_thread(other)
    host.cancel("run")
    view = replace(store.view, groups=groups, counting=to_count(bench), note="")
    store.put(moved(view, view.history.then(bench)))
    count(host)


# --- offline preview, checks and remark -------------------------------------------------------------------------------


def start_preview(host: Host, was: BenchView | None, now: BenchView) -> None:
    """Run a newly shown bench offline in a thread, after counting, planning, and reading the rest of the session."""
    other = was is None or was.bench is not now.bench or was.shown is not now.shown or was.counting is not now.counting
    if other and now.counting is None and now.shown is now.bench and not now.bench.session.begins_at:
        host.spawn("try", run_preview, host)


async def run_preview(host: Host) -> None:
    """Run the shown bench offline once it has not changed for `REST_S`: the preview then shows that result. A large one
    stays an estimate. Checks and assessments wait for the `previewed` that this sets."""
    await asyncio.sleep(REST_S)
    bench = host.store.view.shown
    if bench.result is None and is_small(bench):
        await asyncio.to_thread(_compute_preview, bench)
    if bench is host.store.view.shown:
        host.store.put(replace(host.store.view, previewed=bench))


def is_small(bench: Bench) -> bool:
    return bench.layout.shape.chars[-1] <= MOST_AT_ONCE


def _compute_preview(bench: Bench) -> None:
    try:
        _ = bench.offline
    except BadInput:  # nothing to compact here; the status says so
        return
    _measure(bench)


def is_newly_previewed(was: BenchView | None, now: BenchView) -> bool:
    """True if the preview of the outcome on screen has just ended, so that it can be assessed."""
    return now.previewed is now.shown and (was is None or was.previewed is not now.previewed)


def start_checks(host: Host, was: BenchView | None, now: BenchView) -> None:
    """Check the outcome on screen, and find its strategy's remark, once its preview has ended."""
    if is_newly_previewed(was, now):
        host.spawn("checks", run_checks, host)
        if now.shown.strategy.view.remark is not None:
            host.spawn("remark", find_remark, host)


async def run_checks(host: Host) -> None:
    from workbench.compaction.checks import check

    bench = host.store.view.shown
    checks = await asyncio.to_thread(check, bench.context, bench.outcome, bench.strategy, bench.policy)
    if bench is host.store.bench:
        host.store.put(replace(host.store.view, checks=checks))


async def find_remark(host: Host) -> None:
    """Find the strategy's remark on the complete session."""
    bench = host.store.view.shown
    if (remark := bench.strategy.view.remark) is not None:
        found = await asyncio.to_thread(remark, bench.layout.shape, bench.policy)
        if bench is host.store.view.shown:
            host.store.put(replace(host.store.view, remark=found))


# --- the offline run --------------------------------------------------------------------------------------------------


PROMPT_IGNORED = "Offline runs ignore the prompt. R uses a model."
"""Status after an offline run with a prompt that is not the preset's."""


END_ONLY = "This needs the whole session; only its end is loaded yet."


def cannot_run(view: BenchView) -> str:
    if view.bench.session.begins_at:  # a result would keep the rest of the session off the bench
        return END_ONLY
    if not view.bench.messages:
        return "This epoch holds no messages: there is nothing to compact."
    return "A run is under way: escape cancels it." if view.running else ""


def run(host: Host) -> None:
    host.spawn("run", run_offline, host)


async def run_offline(host: Host) -> None:
    """Run the compaction with the offline summarizer; the bench stays usable and unchanged until it is done."""
    from workbench.summarizers.driver import RequestsStarted, RunEvent, StepFinished
    from workbench.summarizers.driver import run as run_driver
    from workbench.summarizers.summarizer import in_thread

    store, stage, is_waiting = host.store, "running", True

    def put_stage(words: str) -> None:
        store.put(replace(store.view, running=words))

    def on_event(event: RunEvent) -> None:
        nonlocal stage
        match event:
            case StepFinished(step):
                stage = f"running: {step.name}"
            case RequestsStarted(requests, first):
                stage = f"running: summary {first + 1}–{first + len(requests)}, extractive"
            case _:
                return
        put_stage(stage)

    def put_share(share: float) -> None:
        if is_waiting:
            put_stage(f"{stage} · {percent(share)}")

    def read(done: int, total: int) -> None:
        """Report progress from the summary's thread; end the thread after a cancellation by WorkCancelled."""
        if not is_waiting:
            raise WorkCancelled
        host.call_later(put_share, READ * done / total)

    put_stage(stage)
    try:
        done = await run_driver(store.bench.compacting(), in_thread(partial(_summarize, read)), on_event=on_event)
    except asyncio.CancelledError:
        store.put(replace(store.view, note="cancelled; nothing was changed"))
        raise
    finally:
        is_waiting = False
        put_stage("")
    is_prompt_ignored = changes_model_text(store.bench.policy, store.view.preset.policy)
    store.step(steps.with_result(store.bench, done), note=PROMPT_IGNORED if is_prompt_ignored else "")
    show_outcome(host)


READ = 0.8
"""Share of an extractive summary's time in which its messages are read; measured on 67 MB."""


def _summarize(read: Progress, request: SummaryRequest) -> Answer:
    """Extractive summary of a request. `read` gets the number of messages read, and may raise to end the work."""
    from workbench.summarizers.extractive import extractive

    numbers, report = count_from(1), in_steps(read)

    def masked(message: Message) -> Message:
        report(next(numbers), len(request.messages))
        return request.masking(message)

    return extractive(replace(request, masking=masked))


def show_outcome(host: Host) -> None:
    """Show the new messages after a run if the tab of the message is open; any other tab stays."""
    view = host.store.view
    if view.tab == "message":
        host.store.put(replace(view, tab="summary"))
