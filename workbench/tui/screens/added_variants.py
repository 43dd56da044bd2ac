"""Variants that the user adds to a comparison: dialogs to make them, and the queue of those that ask a model."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from textual.app import App

from workbench.analysis.prompt_use import policy_with
from workbench.analysis.sweep.plan import WINDOW, varying_fields
from workbench.base.errors import BadInput
from workbench.base.shielded import run_shielded
from workbench.bench import Bench
from workbench.bench.assessment import FIGURES, compute
from workbench.compaction.policy import Policy
from workbench.compaction.preset import Preset
from workbench.runs.live_run import FinishedRun
from workbench.runs.variants import OFFLINE, Variant, run_all, setting_variants
from workbench.session import fingerprint
from workbench.summarizers import run_history
from workbench.summarizers.by_name import SummarizerName, parse_name
from workbench.summarizers.live_events import LiveEvent, PromptShortened, RetryScheduled, TextReceived
from workbench.summarizers.run_records import RunRecord as Record
from workbench.tui.plain import several
from workbench.tui.screens.ask import AskScreen, LineAnswer
from workbench.tui.screens.choose_summarizer import DRAFT, ChooseSummarizerScreen
from workbench.tui.screens.confirm import spend_limit_of
from workbench.tui.screens.prompt_editors import Edited
from workbench.tui.screens.prompts import PromptsScreen, every_prompt
from workbench.tui.screens.run_words import BY_HAND

Add = Callable[[Sequence[Variant]], object]


def ask_number(app: App[Any], bench: Bench, add: Add) -> None:
    """Add the bench's settings with each value of one or two numbers."""

    def read(typed: str) -> LineAnswer[tuple[Variant, ...]]:
        found = setting_variants(bench.as_preset, typed.split())
        return LineAnswer(found, several(len(found), "variant"))

    def add_variants(answer: LineAnswer[tuple[Variant, ...]] | None) -> None:
        if answer:
            add(answer.value)

    names = ", ".join(name for name in varying_fields(bench.policy) if name != WINDOW)
    about = f"FIELD=A..B:STEP or FIELD=A,B,C; two fields with a space between. Numbers here: {names}."
    app.push_screen(AskScreen("Vary a number", about, "", read), add_variants)


def ask_prompt(app: App[Any], bench: Bench, add: Add) -> None:
    """Add a prompt with the session's summarizer; if that is offline, which ignores prompts, ask for another."""

    def chosen(one: Edited | None) -> None:
        if one is not None:
            policy = one.policy
            preset, label = replace(bench.as_preset, policy=policy), f"{_prompt_id(bench, policy)} · "
            if (name := _session_summarizer(bench)) == OFFLINE:
                _ask_summarizer(app, bench, preset, label, add)
            else:
                add((Variant(f"{label}{name}", preset, name),))

    app.push_screen(PromptsScreen(bench), chosen)


def ask_model(app: App[Any], bench: Bench, add: Add) -> None:
    """Add the bench's settings with a chosen summarizer."""
    _ask_summarizer(app, bench, bench.as_preset, "", add)


def _ask_summarizer(app: App[Any], bench: Bench, preset: Preset, label: str, add: Add) -> None:
    def chosen(name: SummarizerName | None) -> None:
        if name is not None:
            add((Variant(f"{label}{name}", preset, name),))

    session = bench.session
    app.push_screen(ChooseSummarizerScreen(session, fingerprint(session), OFFLINE, DRAFT), chosen)


def _session_summarizer(bench: Bench) -> SummarizerName:
    try:
        name = parse_name(bench.summarizer)
    except BadInput:
        return OFFLINE
    return OFFLINE if name == BY_HAND else name


def _prompt_id(bench: Bench, policy: Policy) -> str:
    """Id of the prompt in the edited settings."""
    known = [one.found for one in every_prompt() if one.found and one.found.strategy == bench.strategy.id]
    return next((one.id for one in known if policy_with(bench.policy, one) == policy), "another prompt")


# --- the queue --------------------------------------------------------------------------------------------------------


class VariantQueue:
    """Variants that ask a model: they wait until the user runs all of them at once, because a run may cost money."""

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

    async def run_waiting(self, app: App[Any]) -> tuple[FinishedRun, ...]:
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
        _save_runs(app, [partial(_run_record, one) for one in done if one.live.name.has_run_record])
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


def _run_record(one: FinishedRun) -> Record:
    return one.record
