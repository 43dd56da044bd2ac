"""A queue of variants whose summarizers are called together: the waiting ones, and the text written so far."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from textual.app import App

from workbench.base.shielded import run_shielded
from workbench.bench import Bench
from workbench.bench.assessment import FIGURES, compute
from workbench.runs.live_run import FinishedRun
from workbench.runs.variants import Variant, run_all
from workbench.summarizers import run_history
from workbench.summarizers.live_events import LiveEvent, PromptShortened, RetryScheduled, TextReceived
from workbench.summarizers.run_records import RunRecord as Record
from workbench.tui.spending import spend_limit_of


class VariantQueue:
    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.waiting: tuple[Variant, ...] = ()
        """Variants that are not run yet; each label once."""
        self.written: dict[str, str] = {}
        """Text that each summarizer has written so far, by label."""
        self.is_running = False

    def add(self, variants: Sequence[Variant]) -> None:
        self.waiting = tuple({one.label: one for one in (*self.waiting, *variants)}.values())

    def remove(self, variant: Variant) -> None:
        self.waiting = tuple(one for one in self.waiting if one is not variant)

    async def ask(self, app: App[Any]) -> tuple[FinishedRun, ...]:
        """Run all waiting variants once the spend limit or the user allows it. Runs that have a record are saved in the
        run history, even if cancelled. Raises BadInput."""
        variants, clock = self.waiting, time.perf_counter()
        live = [one.live(self.bench) for one in variants]
        self.written, self.is_running = {}, True

        def on_event(number: int, event: LiveEvent) -> None:
            label = variants[number].label
            if isinstance(event, TextReceived):
                self.written[label] = self.written.get(label, "") + event.text
            elif isinstance(event, RetryScheduled | PromptShortened):
                self.written[label] = ""

        try:
            done = await run_all(live, spend_limit_of(app), on_event, keeps=True)
        except asyncio.CancelledError:
            seconds = time.perf_counter() - clock
            _save_runs(app, [partial(one.unfinished, seconds) for one in live if one.name.has_run_record])
            raise
        finally:
            self.is_running = False
        _save_runs(app, [partial(_record, one) for one in done if one.live.name.has_run_record])
        for one in done:
            await asyncio.to_thread(compute, one.assessment, *FIGURES)
        self.waiting = tuple(one for one in self.waiting if one not in variants)
        return done


def _save_runs(app: App[Any], records: Sequence[Callable[[], Record]]) -> None:
    """Render the run records and write them to the run history, in a thread."""
    written = run_shielded(lambda: [run_history.save_run(record()) for record in records])

    async def report_failures() -> None:
        for trouble in filter(None, await written):
            app.notify(trouble, severity="warning", markup=False)

    app.run_worker(report_failures(), group="runs", exit_on_error=False)


def _record(one: FinishedRun) -> Record:
    return one.record
