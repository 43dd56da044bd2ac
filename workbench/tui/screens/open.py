"""Sessions to open: files given, recent ones, samples, and those of the agents here; or the sessions of one file."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input, Static
from textual.worker import Worker, get_current_worker

from workbench.finding.discover import Result, discover, is_session_folder
from workbench.finding.glances import Found
from workbench.tui.entries import (
    Entry,
    found_entry,
    given_entries,
    matching,
    preview,
    recent_entries,
    sample_entries,
    seen,
    typed_path,
)
from workbench.tui.failures import failure_of
from workbench.tui.home import Recent
from workbench.tui.keys import HELP_KEY
from workbench.tui.plain import figure, one_line
from workbench.tui.widgets.entries_list import EntriesList
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.list_keys import TYPING

BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-narrow"), (110, "-wide"), (160, "-huge")]

TELL_S = 0.25
"""How often newly found sessions are put on the list."""

SETTLE_S = 0.05
"""How long the cursor rests before the preview is filled."""


class OpenScreen(Screen[str | None]):
    """With `file` it lists the sessions of that file, and is dismissed with the id of the chosen one, or None."""

    HELP = """\
Choose a session to open. Typing searches kind, title, first request and path; a path typed from its root (/ or ~), or \
of a file that is dropped on the terminal, is opened as it is. The list holds the files you named, those opened \
lately, the samples with what each teaches, and the sessions that coding agents keep on this machine, the newest \
first, as they are found; a folder that you named is looked through instead. The bar shows how much of its model's \
window the last recorded call took. The pane beside the list tells what a glance at the two ends of the file shows; \
epochs are what the agent worked with between two compactions. Nothing is changed by looking.

Where a file holds several sessions (samples of an evaluation, chats of a history, an agent's database, branches of a \
damaged one), they are listed in the same way, and one is chosen; `cwb audit --quick FILE` lists them, too."""
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    AUTO_FOCUS = "#search"
    BINDINGS: ClassVar[list[BindingType]] = [
        *TYPING,
        Binding("enter", "choose", "Open", id="open.choose", tooltip="Open the file under the cursor."),
        Binding("ctrl+f", "browse", "Any file", id="open.browse", tooltip="Choose any file from the folders."),
        Binding("ctrl+t", "app.audit", "All at once", id="open.audit", tooltip="What compactions did to all of these."),
        Binding("escape", "leave", "Back", id="open.leave", tooltip="Clear the search, or leave without opening."),
        HELP_KEY,
    ]

    @dataclass
    class Listed(Message):
        """More sessions were found; `unreadable` counts files that are none. The last one has `done` set."""

        entries: list[Entry]
        unreadable: int
        done: bool

    @dataclass
    class Seen(Message):
        """Files that were given or opened lately, each with what a glance at it shows."""

        entries: dict[Entry, Entry]

    @dataclass
    class Wanted(Message):
        """For the application: open this file, or one session of it."""

        path: Path
        part: str

    def __init__(self, own: Sequence[Entry], *, roots: Sequence[Path] = (), file: Path | None = None) -> None:
        """`own` are listed as they are; the sessions in `roots` are looked for, without one those of all agents."""
        super().__init__()
        self.own = list(own)
        self.roots, self.file = roots, file
        self.found: list[Entry] = []
        self.said = "" if file else " · looking …"

    @classmethod
    def of(cls, given: Sequence[Path], recents: Sequence[Recent]) -> OpenScreen:
        """The screen with the files and folders that were named, the recent files and the samples."""
        roots = [path for path in given if path.is_dir() and not is_session_folder(path)]
        files = [path for path in given if path not in roots]
        return cls([*given_entries(files), *recent_entries(recents), *sample_entries()], roots=roots)

    def compose(self) -> ComposeResult:
        yield Input(placeholder="search" if self.file else "search, or a path", id="search")
        with Horizontal(id="lists"):
            yield EntriesList(id="entries")
            with VerticalScroll(id="preview", can_focus=False):
                yield Static(id="facts")
        yield KeysLine()

    def on_mount(self) -> None:
        self._list()
        if self.file is None:
            self.find()

    # --- the list ---------------------------------------------------------------------------------------------------

    @work(thread=True, exclusive=True, group="find", exit_on_error=False)
    def find(self) -> None:
        """Look through the places of every tool, or the folders given, and tell four times a second what there is."""
        worker, told = get_current_worker(), time.monotonic()
        batch: list[Entry] = []
        unreadable = 0
        known = {entry.path for entry in self.own}
        self.post_message(self.Seen({entry: seen(entry) for entry in self.own if entry.kind in ("given", "recent")}))
        for one in self._results(lambda: worker.is_cancelled):
            if not isinstance(one, Found):
                unreadable += 1
            elif one.part or one.path not in known:
                batch.append(found_entry(one))
            if time.monotonic() - told > TELL_S:
                self.post_message(self.Listed(batch, unreadable, done=False))
                batch, told = [], time.monotonic()
        if not worker.is_cancelled:
            self.post_message(self.Listed(batch, unreadable, done=True))

    def _results(self, cancelled: Callable[[], bool]) -> Iterator[Result]:
        if not self.roots:
            yield from discover(cancelled=cancelled)
        for root in self.roots:
            yield from discover(root=root, cancelled=cancelled)

    @on(Seen)
    def _seen(self, event: Seen) -> None:
        """List the files with what a glance at each shows."""
        self.own = [event.entries.get(entry, entry) for entry in self.own]
        self._list()

    @on(Listed)
    def _listed(self, event: Listed) -> None:
        self.found = sorted([*self.found, *event.entries], key=lambda entry: -(entry.time or 0.0))
        skipped = f" · {figure(event.unreadable)} files are no sessions" if event.unreadable else ""
        self.said = ("" if event.done else " · looking …") + skipped
        self._list()

    @on(Input.Changed, "#search")
    def _list(self) -> None:
        entries = [*self.found, *self.own] if self.roots else [*self.own, *self.found]
        shown = matching(entries, self.query_one(Input).value)
        files = self.query_one(EntriesList)
        files.show(shown)
        number = figure(len(shown)) if len(shown) == len(entries) else f"{figure(len(shown))} of {figure(len(entries))}"
        place = f" in {one_line(self.file.name, 100)}".replace("[", r"\[") if self.file else ""
        files.border_title = f"{number} sessions{place}{self.said}"

    @on(EntriesList.Moved)
    def _moved(self, event: EntriesList.Moved) -> None:
        self.look(event.entry)

    @work(exclusive=True, group="preview", exit_on_error=False, description="look")
    async def look(self, entry: Entry | None) -> None:
        """Fill the preview when the cursor has rested; the file is read in a thread."""
        text = Text("Nothing fits the search.", "dim")
        if entry:
            await asyncio.sleep(SETTLE_S)
            text = _drawn(await asyncio.to_thread(preview, entry))
        self.query_one("#facts", Static).update(text)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self.notify(failure, severity="error", markup=False)

    # --- choosing ---------------------------------------------------------------------------------------------------

    @on(Input.Submitted, "#search")
    def action_choose(self) -> None:
        typed = None if self.file else typed_path(self.query_one(Input).value)
        entry = self.query_one(EntriesList).entry
        if typed:
            self.open(typed)
        elif entry:
            self.open(entry.path, entry.part)
        else:
            self.notify("Nothing fits the search; type less of it, or the whole path of a file.", severity="warning")

    @on(EntriesList.Chosen)
    def _chosen(self, event: EntriesList.Chosen) -> None:
        self.open(event.entry.path, event.entry.part)

    def open(self, path: Path | None, part: str = "") -> None:
        if self.file is not None:
            self.dismiss(part)
        elif path is not None:
            self.post_message(self.Wanted(path, part))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Other files are not to be chosen while the session of one file is."""
        return not (action == "browse" and self.file is not None)

    def action_browse(self) -> None:
        # 85 ms to import, so only for those who browse.
        from textual_fspicker import FileOpen

        self.app.push_screen(FileOpen(Path.cwd(), "Open a session"), self.open)

    def action_leave(self) -> None:
        search = self.query_one(Input)
        if search.value:
            search.value = ""
        elif self.file is not None or len(self.app.screen_stack) > 2:
            self.dismiss(None)
        else:
            self.app.exit()


def _drawn(facts: list[tuple[str, str]]) -> Text:
    text = Text()
    for name, value in facts:
        if name:
            text.append(f"{name:<10}", "dim").append(f"{value}\n", "not dim")
        else:
            text.append(f"\n{value}\n")
    return text
