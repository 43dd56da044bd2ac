"""The run screen: the requests, the summary as it is written, then the drafts to edit and to commit."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Grid, Vertical
from textual.screen import Screen
from textual.widgets import Static, Tab, Tabs
from textual.worker import Worker

from workbench.base.errors import BadInput
from workbench.base.shielded import run_shielded
from workbench.bench import Bench
from workbench.compaction.summary_request import Answer, SummaryRequest
from workbench.runs.cost_estimate import RequestCost, request_costs
from workbench.runs.drafts import Draft, draft_summarizer, drafts_of, user_writes
from workbench.runs.live_run import LiveRun, connect, drive_live
from workbench.session import Usage, fingerprint
from workbench.summarizers.by_name import SummarizerName
from workbench.summarizers.call_limits import CallLimits
from workbench.summarizers.driver import Run, RunEvent, drive
from workbench.summarizers.estimate import estimate
from workbench.summarizers.run_records import sum_usage
from workbench.summarizers.spend_limit import SpendLimit
from workbench.summarizers.summarizer import Summarizer
from workbench.tokens.cost import added
from workbench.tui.background import failure_of
from workbench.tui.plain import one_line, titled
from workbench.tui.screens.confirm import spend_limit_of
from workbench.tui.screens.run_draft import Drafting
from workbench.tui.screens.run_history import RunHistory
from workbench.tui.screens.run_keys import BINDINGS, HELP, ON_PANES, PANES
from workbench.tui.screens.run_progress import RunLine, RunProgress, planned_lines
from workbench.tui.screens.run_saving import SavedRun, save_cancelled, save_finished
from workbench.tui.screens.run_words import (
    BY_HAND,
    assessment_words,
    estimate_parts,
    phase_words,
    progress_words,
    saved_summarizer,
    spent_words,
    stream_parts,
    who,
)
from workbench.tui.widgets.cut_tabs import CutTabs
from workbench.tui.widgets.draft_editor import DraftEditor
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.text_list import TextList
from workbench.tui.widgets.text_view import TextPart, TextView, wrap
from workbench.tui.widgets.watched_lines import WatchedLines

FLUSH_S = 0.2
"""Interval in which new text is drawn."""

Phase = Literal["ready", "running", "draft"]

BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-narrow"), (110, "-wide"), (170, "-huge")]


@dataclass(frozen=True)
class RunScreenResult:
    """Result of the screen: the chosen summarizer, and the committed run with its pins, if any."""

    summarizer: str
    pins: frozenset[str] = frozenset()
    run: Run | None = None


class RunScreen(Drafting, Screen[RunScreenResult | None]):
    HELP = HELP
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    BINDINGS = BINDINGS
    AUTO_FOCUS = "#shown"

    def __init__(self, bench: Bench, limits: CallLimits | None = None, *, history: bool = False) -> None:
        """`limits` are the time and retry limits of live calls. `history`: begin with the list of former runs."""
        super().__init__()
        self.bench = bench
        self.limits, self.begins_with_history = limits, history
        self.writer = saved_summarizer(bench)
        self.phase: Phase = "ready"
        self.estimates: tuple[RequestCost, ...] | None = None
        self.lines: list[RunLine] = []
        self.progress = RunProgress()
        self.live = LiveRun(bench, self.writer)
        self.earlier = Usage()
        self.spend_limit = SpendLimit()
        self.status = ""
        self._drawn: object = None
        self._possible: tuple[bool | None, ...] = ()

    def compose(self) -> ComposeResult:
        yield Static(id="title")
        yield WatchedLines()
        yield CutTabs(*(Tab(title, id=f"tab-{name}") for name, title in PANES.items()), active="tab-centre")
        with Grid(id="panes"):
            with Vertical(id="left"):
                yield TextList(id="steps", classes="pane", wraps=True)
                yield TextList(id="sections", classes="pane")
            with Vertical(id="centre"):
                yield TextView(id="shown")
                yield DraftEditor(id="editor")
            with Vertical(id="right"):
                yield TextList(id="facts", classes="pane")
                yield Static(id="fact")
        yield RunHistory(self.bench)
        yield Static(id="note")
        yield Static(id="progress")
        yield KeysLine()

    def on_mount(self) -> None:
        self.query_one("#shown").add_class("pane")
        self.query_one("#editor").add_class("pane")
        self.query_one("#steps").border_title = "steps"
        self.query_one("#sections").border_title = "sections"
        self.query_one("#facts").border_title = "facts"
        self.show_pane("centre")
        self.set_interval(FLUSH_S, self._flush)
        self.prepare()
        self.draw()
        if self.begins_with_history:
            self.action_history()

    # --- drawing ----------------------------------------------------------------------------------------------------

    def draw(self) -> None:
        """Draw everything but the content of the panes."""
        self.set_class(self.phase == "draft", "-draft")
        title = f"{self.bench.strategy.title} · {who(self.writer)} · {phase_words(self.phase, self.progress)}"
        self.query_one("#title", Static).update(titled("Run", one_line(title, 300)))
        self._draw_steps()
        self._draw_state()
        self.grey()

    def grey(self) -> None:
        """Refresh the footer if an action was turned on or off."""
        possible = tuple(self.check_action(name, ()) for name in ("send", "summarizer", "go", "accept", "pin_fact"))
        if possible != self._possible:
            self._possible = possible
            self.refresh_bindings()

    def _draw_steps(self) -> None:
        rows = []
        for line in self.lines:
            title, state = self.progress.words(line)
            rows.append(Text.assemble((one_line(title, 200), "bold"), "\n  ", (one_line(state, 400), "dim")))
        at_hand = (n for n, line in enumerate(self.lines) if self.phase == "draft" and line.number == self.at)
        with self.prevent(TextList.Highlighted):
            self.query_one("#steps", TextList).show(rows, next(at_hand, None))

    def _draw_state(self) -> None:
        match self.phase:
            case "running":
                first = progress_words(self.progress, self.writer, self.live.recorder.usage)
            case "draft":
                first = assessment_words(self.bench, self.assessment, self.draft, self.draft_tokens)
                first += spent_words(self.earlier, self.writer)
            case "ready":
                first = "" if self.estimates is not None else "reading what would be sent …"
        self.query_one("#progress", Static).update(Text(one_line(first, 400)), layout=False)

    def say(self, sentence: str) -> None:
        if sentence != self.status:
            self.status = sentence
            self.query_one("#note", Static).update(Text(one_line(sentence, 600)))
        self._draw_state()

    def _flush(self) -> None:
        """Draw text that arrived since the last time, while a run is under way."""
        if self.phase != "running":
            return
        self._draw_steps()
        self._draw_state()
        calls = self.progress.active_calls or self.progress.calls[-1:]
        now = tuple((line.number, line.state, line.chars) for line in calls)
        if now == self._drawn or not calls:
            return
        self._drawn = now
        view = self.query_one(TextView)
        parts = stream_parts(calls, max(3, view.size.height // max(1, len(calls)) - 2))
        view.put(parts, wrap(parts, view.wrap_width), "stream")
        if len(calls) == 1:
            view.scroll_end(animate=False, immediate=True)

    # --- before sending ---------------------------------------------------------------------------------------------

    @work(exclusive=True, group="prepare", exit_on_error=False)
    async def prepare(self) -> None:
        """Compute the exact requests, their sizes and costs, and the planned steps, in a thread."""
        bench, name, view = self.bench, self.writer, self.query_one(TextView)
        self.estimates = None

        def compute() -> tuple[tuple[RequestCost, ...], list[RunLine], tuple[TextPart, ...]]:
            events: list[RunEvent] = []
            drive(bench.compacting(), estimate, events.append)
            found = request_costs(bench, name)
            return found, planned_lines(events), estimate_parts(found, name, bench)

        try:
            found, lines, parts = await asyncio.to_thread(compute)
        except BadInput as broken:
            self.say(str(broken))
            return
        wrapped = await asyncio.to_thread(wrap, parts, view.wrap_width)
        if self.phase == "ready":
            self.estimates, self.lines = found, lines
            view.put(parts, wrapped, "request")
            view.border_title = "what will be sent"
            self.draw()

    def action_summarizer(self) -> None:
        from workbench.tui.screens.choose_summarizer import ChooseSummarizerScreen

        session = self.bench.session
        self.app.push_screen(ChooseSummarizerScreen(session, fingerprint(session), self.writer), self.summarize_with)

    def summarize_with(self, name: SummarizerName | None) -> None:
        if name is not None and name != self.writer:
            self.writer = name
            self.say("")
            self.draw()
            if self.phase == "ready":
                self.prepare()

    # --- former runs ------------------------------------------------------------------------------------------------

    def action_history(self) -> None:
        """Show the run history in place of the panes, or the panes again."""
        self.begins_with_history = self.begins_with_history and not self.has_class("-history")
        if self.set_class(not self.has_class("-history"), "-history").has_class("-history"):
            self.query_one(RunHistory).open()
        else:
            self.focus_pane(self.pane)
        self.refresh_bindings()

    @on(RunHistory.RunChosen)
    def _use_run(self, event: RunHistory.RunChosen) -> None:
        self.action_history()
        self.summarize_with(event.name)
        self.say(f"the summarizer is now {event.name}: enter uses its answers again")

    # --- running ----------------------------------------------------------------------------------------------------

    def action_send(self) -> None:
        self.start(())

    def start(self, drafts: tuple[Draft, ...]) -> None:
        """Start the run; requests that `drafts` answer are not sent again."""
        try:
            self.spend_limit = spend_limit_of(self.app)
        except BadInput as refused:
            self.say(str(refused))
            return
        if not drafts:
            self.accepted.clear()
            self.rewritten.clear()
        self.phase, self.progress, self.live = "running", self.watching(), LiveRun(self.bench, self.writer)
        self.say("")
        self.lines = self.progress.lines
        self.query_one(TextView).show((TextPart("waiting for the first words …", "dim"),), "waiting")
        self.query_one(TextView).border_title = "the summary as it is written"
        self.remove_class("-editing")
        self.show_pane("centre")
        self.draw()
        self.run_it(drafts)

    async def summarizer(self) -> Summarizer:
        """Summarizer chosen by the user, with its calls observed. Raises BadInput if it cannot be used: no key, no such
        run."""
        ask: Summarizer = user_writes
        if self.writer != BY_HAND:
            ask = await connect(self.live, self.spend_limit, self.progress.on_live_event, limits=self.limits)

        async def watched(request: SummaryRequest) -> Answer:
            self.progress.request_sent(request, await asyncio.to_thread(lambda: request.key))
            return await ask(request)

        return watched

    @work(exclusive=True, group="run", exit_on_error=False, description="run_it")
    async def run_it(self, drafts: tuple[Draft, ...]) -> None:
        clock, live, watch, name = time.perf_counter(), self.live, self.progress, self.writer
        before: Phase = "draft" if drafts else "ready"
        try:
            if name.model and not drafts:
                most = added(estimate.at_most.dollars for estimate in self.estimates or ())
                await self.spend_limit.allow(most, name.model)
            ask = draft_summarizer(drafts, await self.summarizer())
            done = await drive_live(live, live.bench.compacting(), ask, watch.on_run_event, keeps=True)
        except BadInput as refused:
            self._back_to(before, str(refused))
            return
        except asyncio.CancelledError:
            watch.note_cancellation()
            self.earlier = sum_usage((self.earlier, live.recorder.usage))
            if name.has_run_record:  # before drawing: the program may be ending, its panes gone
                self.keep(lambda: save_cancelled(live, time.perf_counter() - clock))
            if self.is_attached:
                self._back_to(before, "cancelled; nothing was changed")
            raise
        except BaseException:
            self._back_to(before, "")
            raise
        watch.note_outcome(done.outcome)
        self.earlier = sum_usage((self.earlier, live.recorder.usage))
        if name.has_run_record:
            self.keep(lambda: save_finished(live, done))
        texts = [line.text for line in watch.calls]
        self.show_drafts(self._with_old_edits(drafts_of(done, texts), drafts))

    @staticmethod
    def _with_old_edits(new: tuple[Draft, ...], old: tuple[Draft, ...]) -> tuple[Draft, ...]:
        """New drafts; for a request that an old draft answers too, the old one with its edits."""
        by_key = {draft.request.key: draft for draft in old}
        return tuple(by_key.get(draft.request.key, draft) for draft in new)

    def _back_to(self, phase: Phase, sentence: str) -> None:
        self.phase = phase
        self.say(sentence)
        if phase == "draft":
            self.show_drafts(self.drafts)
        elif not any(call.text for call in self.progress.calls):
            self.prepare()  # nothing was written: show the requests again
        self.draw()

    def keep(self, record: Callable[[], SavedRun]) -> None:
        """Save a run in the run history, in a thread; the run is saved even if the screen closes."""
        self._report_saved(run_shielded(record))

    @work(group="journal", exit_on_error=False, description="keep")
    async def _report_saved(self, saving: Awaitable[SavedRun]) -> None:
        id, trouble = await saving
        if trouble:
            self.app.notify(trouble, severity="warning", markup=False)
        elif not self.status.endswith(id):
            self.say(f"{self.status}{' · ' if self.status else ''}saved as run {id}")

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self.notify(failure, severity="error", markup=False)
            self.say(failure)

    # --- leaving ----------------------------------------------------------------------------------------------------

    def action_leave(self) -> None:
        if self.has_class("-history") and not self.begins_with_history:
            self.action_history()
        elif self.phase == "running":
            self.workers.cancel_group(self, "run")
        elif self.phase == "draft" and self.is_worth_keeping and not self.is_warned:
            self.is_warned = True
            self.say("The drafts are not committed: ctrl+s commits them, esc again discards them.")
        else:
            self.is_closing = True
            self.dismiss(RunScreenResult(str(self.writer)))

    def leave_with(self, run: Run) -> None:
        """Commit the run and close."""
        self.is_closing = True
        self.dismiss(RunScreenResult(str(self.writer), self.bench.pins, run))

    # --- panes ------------------------------------------------------------------------------------------------------

    def action_pane(self, name: str) -> None:
        self.show_pane(name)
        self.focus_pane(name)

    def action_next_pane(self) -> None:
        names = [name for name in PANES if name != "right" or self.phase == "draft"]
        at = names.index(self.pane) if self.pane in names else 0
        self.action_pane(names[(at + 1) % len(names)])

    def show_pane(self, name: str) -> None:
        self.pane = name
        self.update_classes({f"-show-{each}": each == name for each in PANES})
        tabs = self.query_one(Tabs)
        if tabs.active != f"tab-{name}":
            tabs.active = f"tab-{name}"

    def focus_pane(self, name: str) -> None:
        places = {"left": "#sections" if self.draft else "#steps", "right": "#facts"}
        centre = "#editor" if self.has_class("-editing") else "#shown"
        self.query_one(places.get(name, centre)).focus()

    @on(Tabs.TabActivated)
    def _tab_chosen(self, event: Tabs.TabActivated) -> None:
        name = event.tabs.active.removeprefix("tab-")
        if name and name != self.pane:
            self.action_pane(name)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide actions that are off in this phase."""
        draft = self.phase == "draft"
        if self.has_class("-history"):
            return action not in ON_PANES
        match action:
            case "history":
                return self.phase == "ready"
            case "send":
                return self.phase == "ready" and self.estimates is not None
            case "summarizer":
                return self.phase != "running"
            case "go" | "retry":
                return draft
            case "accept" | "again" | "as_written" | "outside":
                return draft and self.draft is not None
            case "insert_fact" | "pin_fact":
                return draft and self.loss is not None
        return True
