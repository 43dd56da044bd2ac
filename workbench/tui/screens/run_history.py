"""The run history: requests, answers, costs and checks of live runs; two compared, one deleted or used again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, get_args

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.worker import Worker

from workbench.analysis.run_reports import (
    By,
    answer_diffs,
    call_facts,
    differing_fields,
    run_facts,
    short_value,
    spending,
    total_spending,
)
from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.stamps import shown
from workbench.bench import Bench
from workbench.session import fingerprint
from workbench.summarizers import run_history
from workbench.summarizers.by_name import SummarizerName
from workbench.summarizers.run_history import RunRow
from workbench.tokens.cost import money
from workbench.tui.background import failure_of
from workbench.tui.keys import shared
from workbench.tui.plain import figure, one_line, plain, several
from workbench.tui.widgets.cut_text import CutText
from workbench.tui.widgets.text_list import TextList
from workbench.tui.widgets.text_view import TextPart, TextView, wrap

REQUEST_CHARS = 100_000
"""Most characters of a request that are shown; the command line shows all."""


class RunHistory(Vertical):
    """List of runs and the one under the cursor, in a place of the run screen."""

    HELP = """\
Every live run is saved on this machine, failed and cancelled ones too: its requests, answers, cost and check \
results, but never a key. space marks a run and d compares it with the one under the cursor. enter or r makes a run \
the summarizer of this session: enter on the run screen then uses its answers again, offline. b sums up what the runs \
have cost, by day, model and session. H closes the list."""
    EMPTY = "No runs yet. H closes this list; enter then begins one."
    BINDINGS: ClassVar[list[BindingType]] = [
        shared("run", "replay", "Use", "Make this run the summarizer: its answers are used again, offline."),
        shared("sums", "sums", "Sums", "What the runs have cost: by day, model and session."),
        shared("toggle", "mark", "Mark", "Mark this run, to compare another one with it."),
        shared("beside", "diff", "Differences", "What differs from the marked run, or back."),
        shared("remove", "delete", "Delete", "Delete this run; pressed twice."),
    ]

    @dataclass
    class RunChosen(Message):
        """The user made this run the summarizer."""

        name: SummarizerName

    def __init__(self, bench: Bench) -> None:
        super().__init__(id="history")
        self.fingerprint = fingerprint(bench.session)
        self.entries: tuple[RunRow, ...] = ()
        self.marked = ""
        self.differs = False
        self.sums = False
        self._to_delete = ""

    def compose(self) -> ComposeResult:
        yield CutText(classes="about")
        with Horizontal():
            yield TextList(empty=self.EMPTY)
            yield TextView()

    def open(self) -> None:
        """List the runs and take the focus."""
        self.query_one(TextList).focus()
        self.list_them()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Grey the actions if no run is listed."""
        own = {binding.action for binding in Binding.make_bindings(self.BINDINGS)}
        return None if action in own and not self.entries else super().check_action(action, parameters)

    def say(self, words: str) -> None:
        """Show up to two lines above the list."""
        self.query_one(CutText).update(Text(plain(words), no_wrap=True, overflow="ellipsis"))

    @property
    def here(self) -> RunRow | None:
        return self.entries[at] if 0 <= (at := self.query_one(TextList).at) < len(self.entries) else None

    @work(exclusive=True, group="list", exit_on_error=False)
    async def list_them(self) -> None:
        """List this session's runs first, then the newest; the cursor stays where it is."""
        try:
            entries = await asyncio.to_thread(run_history.list_runs)
        except BadInput as damaged:
            self.say(f"✘ {damaged}")
            return
        self.entries = tuple(sorted(entries, key=lambda entry: entry.session != self.fingerprint))
        self.set_class(not self.entries, "-empty")
        self.refresh_bindings()
        self.query_one(TextList).show(map(self._line, self.entries))
        many = several(len(self.entries), "run")
        none = f"no runs in {paths.runs()}; enter on the run screen makes one"
        self.say(f"{many} in {paths.runs()} · {spent_line(entries, self.fingerprint)}" if self.entries else none)
        self.show_it()

    def _line(self, entry: RunRow) -> Text:
        sign = "◆" if entry.id == self.marked else "▸" if entry.session == self.fingerprint else " "
        line = Text(f"{sign} {shown(entry.began)} {entry.end:9} ", no_wrap=True)
        line.append(one_line(entry.summarizer, 40), "bold")
        return line.append(f" · {entry.strategy} · {money(entry.dollars)}", "dim")

    @on(TextList.Highlighted)
    def _moved(self) -> None:
        if self.here is None or self.here.id != self._to_delete:
            self._to_delete = ""
        self.show_it()

    @work(exclusive=True, group="show", exit_on_error=False)
    async def show_it(self) -> None:
        entry, view = self.here, self.query_one(TextView)
        differs = bool(self.differs and self.marked)
        view.border_title = f"what differs from {self.marked}" if differs else "the run"
        parts: tuple[TextPart, ...] = (TextPart(self.EMPTY, "dim"),)
        if self.sums:
            view.border_title, parts = "what runs have cost", sum_parts(self.entries)
        elif entry is not None:
            try:
                parts = await asyncio.to_thread(diff_parts if differs else run_parts, entry.id, self.marked)
            except BadInput as damaged:
                parts = (TextPart(str(damaged), "bad"),)
        view.put(parts, await asyncio.to_thread(wrap, parts, view.wrap_width), (entry and entry.id, differs, self.sums))

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self.say(f"✘ {failure}")

    # --- actions ----------------------------------------------------------------------------------------------------

    def action_mark(self) -> None:
        if entry := self.here:
            self.marked = "" if entry.id == self.marked else entry.id
            self.differs = self.differs and bool(self.marked)
            self.list_them()

    def action_sums(self) -> None:
        self.sums = not self.sums
        self.show_it()

    def action_diff(self) -> None:
        if self.marked:
            self.differs = not self.differs
            self.show_it()
        else:
            self.say("space marks a run first; d then shows what differs between it and the one under the cursor")

    @work(exclusive=True, group="delete", exit_on_error=False)
    async def action_delete(self) -> None:
        entry = self.here
        if entry is None:
            return
        if self._to_delete != entry.id:
            self._to_delete = entry.id
            self.say(f"x once more deletes run {entry.id} for good")
            return
        try:
            await asyncio.to_thread(run_history.delete_runs, [entry.id])
        except BadInput as refused:
            self.say(f"✘ {refused}")
            return
        self.marked = "" if self.marked == entry.id else self.marked
        self.list_them()

    @on(TextList.Selected)
    def action_replay(self) -> None:
        entry = self.here
        if entry is None:
            return
        if not entry.calls:
            self.say("this run made no request, so it has no answers to use")
            return
        self.post_message(self.RunChosen(SummarizerName("recorded", entry.id)))


def spent_line(entries: Sequence[RunRow], session: str) -> str:
    """Cost of today's runs, of this session's runs, and of all runs, in words."""
    here = [entry for entry in entries if entry.session == session]
    days, all_, mine = spending(entries, "day"), total_spending(entries), total_spending(here)
    today = next((day.dollars for day in days if day.name == shown(time.time(), "%Y-%m-%d")), 0.0)
    unknown = f", {several(all_.unknown, 'run')} of unknown price" if all_.unknown else ""
    return f"spent {money(today)} today, {money(mine.dollars)} here, {money(all_.dollars)} in all{unknown}"


def sum_parts(entries: Sequence[RunRow]) -> tuple[TextPart, ...]:
    """Sums by day, by model and by session."""
    parts: list[TextPart] = []
    for by in get_args(By):
        parts += [TextPart(""), TextPart(f"by {by}", "title")] if parts else [TextPart(f"by {by}", "title")]
        for row in spending(entries, by):
            unknown = f", {row.unknown} of unknown price" if row.unknown else ""
            parts.append(TextPart(f"{money(row.dollars):>10}  {row.title} · {several(row.runs, 'run')}{unknown}"))
    return tuple(parts)


def run_parts(id: str, _: str = "") -> tuple[TextPart, ...]:
    """Complete record of a run. Raises BadInput if it is missing or damaged; reads a file: not for an event loop."""
    run = run_history.load_run(id)
    parts = _rows(run_facts(run))
    for number, call in enumerate(run.calls, 1):
        parts.append(TextPart(f"\ncall {number} of {len(run.calls)}: {call.purpose}", "title"))
        parts += _rows(call_facts(call))
        parts += [TextPart("answered", "dim"), TextPart(call.text or "nothing")]
        cut = len(call.request) - REQUEST_CHARS
        request = call.request if cut <= 0 else f"{call.request[:REQUEST_CHARS]}\n[… {figure(cut)} more characters …]"
        parts += [TextPart("\nasked", "dim"), TextPart(request, "thinking")]
    return tuple(parts)


def diff_parts(id: str, marked: str) -> tuple[TextPart, ...]:
    """Differences of two runs. Raises BadInput; reads files: not for an event loop."""
    a, b = run_history.load_run(marked), run_history.load_run(id)
    parts = [
        TextPart(f"{name}: {short_value(old)} → {short_value(new)}") for name, old, new in differing_fields(a, b)
    ] or [TextPart("the runs differ only in their answers")]
    for number, lines in enumerate(answer_diffs(a, b), 1):
        if lines:
            parts.append(TextPart(f"\nanswer {number}", "title"))
            parts += [TextPart(line, {"+": "good", "-": "bad"}.get(line[:1], "")) for line in lines]
    return tuple(parts)


def _rows(rows: list[tuple[str, str]]) -> list[TextPart]:
    return [TextPart(f"{name:12}{value}") for name, value in rows if value]
