"""All sessions: a row for each, with what compactions did to it; sorted, filtered, opened on the bench."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input
from textual.worker import Worker, get_current_worker

from workbench.auditing.advice import advise
from workbench.auditing.cache import RowCache
from workbench.auditing.columns import (
    TABLES,
    About,
    Record,
    column,
    matching,
    records,
    sorted_by,
)
from workbench.auditing.copies import counted_once
from workbench.auditing.files import save
from workbench.auditing.groups import KEYS, Group, groups
from workbench.auditing.rows import SessionRow
from workbench.auditing.run import audited, candidates
from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.figures import dollars, unbroken
from workbench.tui.failures import failure_of
from workbench.tui.keys import HELP_KEY
from workbench.tui.plain import figure, fit, one_line, several
from workbench.tui.screens.save_as import WritingScreen
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.records import Heads, Records
from workbench.tui.widgets.text_view import Part, TextView

TELL_S = 0.5
"""How often the rows that are new are put on the table: it is sorted anew each time."""

GROUPS_SHOWN = 12
SHOWN: dict[About, str] = {
    "sessions": "title tool changed full next compactions lost tokens rework larger gone cost overhead calls peak "
    "copies model version project path",
    "compactions": "tool model project way before after larger seconds cost gone rework lost resumed time version path",
    "unreadable": "path error bytes",
}
FIRST: dict[About, str] = {"sessions": "changed", "compactions": "before", "unreadable": "path"}
"""By what each table is sorted at first."""

EMPTY: dict[About, str] = {
    "compactions": "No session here records a compaction. c: what could not be read.",
    "unreadable": "Every file could be read. c: the sessions.",
}
"""What stands in a table that has nothing to list."""


class AuditScreen(Screen[None]):
    HELP = """\
Every session that coding agents keep on this machine, or in the folders that you named, with what their compactions \
did, the newest first: how full the window was (full), how many compactions there were, which instructions they lost, \
which command to run next and why (next), how many made the context larger, what was done again because of them \
(rework), what every call is sent beyond the conversation (overhead), and the cost. ← and →, or a click \
on its name, choose a column, s or another click sorts by it and once more the other way round, f filters by words. c \
shows each compaction by itself, then what could not be read. enter opens the session under the cursor on the bench. \
Below stands a sentence for each tool: at which size compacting would have been cheapest for these sessions, and what \
to set; then the sums, by tool or, with b, by version, model or project. A compaction that several files hold, for a \
session was resumed or forked into another, counts in one of them. w writes what is shown: as a page where you name \
the file .html, as the table for .csv and .parquet, as all figures for .json. Only files that have changed since the \
last time are read; no model is asked, and no session is changed."""
    AUTO_FOCUS = "Records"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter",
            "choose",
            "Open",
            id="audit.open",
            tooltip="Open the session under the cursor, or the epoch that a compaction ended.",
        ),
        Binding("s", "sort", "Sort", id="audit.sort", tooltip="Sort by the column under the cursor; again: reversed."),
        Binding("f", "filter", "Filter", id="audit.filter", tooltip="Show only rows in which these words occur."),
        Binding(
            "c", "next_table", "Compactions", id="audit.table", tooltip="Sessions, compactions, or the unreadable."
        ),
        Binding("w", "write", "Write", id="audit.write", tooltip="Write what is shown to a file: page or table."),
        Binding("b", "next_sums", "Sums by", id="audit.sums", tooltip="Sum up by tool, version, model or project."),
        Binding("f5", "read", "Read again", id="audit.read", tooltip="Read what has changed since."),
        Binding("escape,q", "leave", "Back", id="audit.leave", tooltip="Clear the filter, or leave."),
        HELP_KEY,
    ]

    @dataclass
    class Read(Message):
        """More rows are there; `left` files are still to be read. The last one has `done` set, with what is amiss."""

        rows: list[SessionRow]
        left: int
        done: bool
        trouble: str = ""

    @dataclass
    class Wanted(Message):
        """For the application: open this session, at an epoch where a compaction was chosen."""

        path: Path
        part: str
        epoch: int | None

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        super().__init__()
        self.folders = tuple(folders)
        self.rows: list[SessionRow] = []
        self.about: About = "sessions"
        self.order: tuple[str, bool] = (FIRST["sessions"], True)
        self.key = 0
        self.said = " · looking …"

    def compose(self) -> ComposeResult:
        heads = Heads()
        yield Input(placeholder="words that a row must have", id="search")
        with Vertical(id="table"):
            yield heads
            yield Records(heads)
        yield TextView(id="sums")
        yield KeysLine()

    def on_mount(self) -> None:
        self.action_read()

    # --- reading ----------------------------------------------------------------------------------------------------

    def action_read(self) -> None:
        self.rows, self.said = [], " · looking …"
        self.read()

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def read(self) -> None:
        """The rows as they are made, in a thread and, where there is much to read, on all cores."""
        worker, cache, told = get_current_worker(), RowCache(paths.audits()), time.monotonic()
        batch: list[SessionRow] = []
        trouble = ""
        try:
            for found in audited(candidates(self.folders), cache, cancelled=lambda: worker.is_cancelled):
                batch += found.rows
                if time.monotonic() - told > TELL_S and not worker.is_cancelled:
                    self.post_message(self.Read(batch, found.left, done=False))
                    batch, told = [], time.monotonic()
        except BadInput as refused:
            trouble = str(refused)
        if not worker.is_cancelled:
            self.post_message(self.Read(batch, 0, done=True, trouble=trouble or cache.trouble))

    @on(Read)
    def _read(self, event: Read) -> None:
        self.rows.extend(event.rows)
        self.said = "" if event.done else f" · {several(event.left, 'file')} to go" if event.left else " · looking …"
        if event.trouble:
            self.notify(one_line(event.trouble), severity="warning", markup=False)
        self.list_them()

    # --- what is shown ----------------------------------------------------------------------------------------------

    @on(Input.Changed, "#search")
    def _filtered(self) -> None:
        self.list_them()

    @work(exclusive=True, group="list", exit_on_error=False, description="list")
    async def list_them(self) -> None:
        """Filter, sort and sum up in a thread, for there may be many thousand rows."""
        query, about, order = self.query_one("#search", Input).value, self.about, self.order
        by = column(about, order[0])
        rows = tuple(self.rows)

        def made() -> tuple[list[Record], list[Part]]:
            wanted = list(matching(counted_once(rows), query))
            return sorted_by(records(wanted, about), by, down=order[1]), sums(wanted, self.key)

        lines, told = await asyncio.to_thread(made)
        self.set_class(not told, "-empty")
        columns = [column(about, name) for name in SHOWN[about].split()]
        self.query_one(Records).show(columns, lines, order, self._empty(query))
        self.query_one("#sums", TextView).show(told, key="sums")
        self.query_one("#table").border_title = f"{_many(len(lines), about)}{self.said}"
        self.query_one("#sums").border_title = f"what would have been cheapest, and sums by {KEYS[self.key]}"

    def _empty(self, query: str) -> str:
        """Why nothing is in the table, and what to press."""
        if self.said:
            return "Looking for sessions …"
        if any(records(self.rows, self.about)):
            return f"No row has the words “{one_line(query.strip(), 30)}”: esc clears them."
        if self.about != "sessions" and self.rows:
            return EMPTY[self.about]
        if self.folders:
            below = " or ".join(folder.name or str(folder) for folder in self.folders)
            return f"No session lies in {one_line(below, 40)}. f5 looks again."
        return "No agent keeps sessions on this machine. cwb audit FOLDER looks in a folder."

    def action_sort(self) -> None:
        by = self.query_one(Records).column
        if by is not None:
            name, down = self.order
            self.order = (by.key, not down if by.key == name else by.kind != "text")
            self.list_them()

    @on(Heads.Wanted)
    def _clicked(self, event: Heads.Wanted) -> None:
        table = self.query_one(Records)
        again = table.heads.at == event.number
        table.action_column(event.number - table.heads.at)
        if again:
            self.action_sort()

    def action_next_table(self) -> None:
        tables = list(TABLES)
        self.about = tables[(tables.index(self.about) + 1) % len(tables)]
        self.order = (FIRST[self.about], column(self.about, FIRST[self.about]).kind != "text")
        self.list_them()

    def action_next_sums(self) -> None:
        self.key = (self.key + 1) % len(KEYS)
        self.list_them()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self.notify(failure, severity="error", markup=False)

    # --- choosing ---------------------------------------------------------------------------------------------------

    @on(Records.Chosen)
    def action_choose(self) -> None:
        here = self.query_one(Records).here
        if here is None:
            self.notify("Nothing is in the table.", severity="warning")
        elif self.about == "unreadable":
            self.notify(one_line(str(here["error"])), severity="warning", markup=False)
        else:
            epoch = here.get("epoch")
            at = epoch if isinstance(epoch, int) else None
            self.post_message(self.Wanted(Path(str(here["path"])), str(here["part"]), at))

    def action_write(self) -> None:
        """Ask where to, and write the rows that match, in the form that the name ends in."""
        rows = list(matching(counted_once(self.rows), self.query_one("#search", Input).value))
        if not rows:
            self.notify("Nothing is in the table.", severity="warning")
            return
        about, by = self.about, (KEYS[self.key],)
        many = several(sum(not row.error for row in rows), "session")
        ask = WritingScreen(
            f"Write {many} to a new file: .html as a page of everything, .csv or .parquet as this table of {about}, "
            ".json with every figure",
            Path("audit.html"),
            lambda path: save(path, rows, about, by),
        )
        self.app.push_screen(ask, lambda path: self.notify(f"written to {path}", markup=False) if path else None)

    def action_filter(self) -> None:
        self.query_one("#search").focus()

    @on(Input.Submitted, "#search")
    def _to_table(self) -> None:
        self.query_one(Records).focus()

    def action_leave(self) -> None:
        search = self.query_one("#search", Input)
        if search.value or search.has_focus:
            search.value = ""
            self.query_one(Records).focus()
        elif len(self.app.screen_stack) > 2:
            self.dismiss()
        else:
            self.app.exit()


def _many(number: int, about: About) -> str:
    """`1 session`, `12 compactions`, `3 unreadable`."""
    return f"{figure(number)} unreadable" if about == "unreadable" else several(number, about.removesuffix("s"))


def sums(rows: Sequence[SessionRow], key: int) -> list[Part]:
    """The advice for each tool, and what the rows come to by one of `KEYS`."""
    told = [Part(unbroken(one_line(str(advice), 2_000))) for advice in advise(rows)]
    if told:
        told.append(Part(""))
    for number, one in enumerate(groups(rows, (KEYS[key],))):
        if number == GROUPS_SHOWN:
            return [*told, Part("…", "dim")]
        name = fit(one_line(one.key[0]) or "–", 24)
        told.append(Part(f"{name} {_told(one)}", "title", then=((len(name), ""),)))
    return told


def _told(one: Group) -> str:
    parts = [several(one.sessions, "session"), several(one.compactions, "compaction")]
    if one.copies:
        parts.append(f"{several(one.copies, 'copy')} not counted")
    if one.larger:
        parts.append(f"{figure(one.larger)} made it larger")
    if one.before and one.after:
        parts.append(f"{figure(one.before)} → {figure(one.after)} tokens")
    if one.seconds is not None:
        parts.append(f"{one.seconds:g} s")
    if one.compacting:
        parts.append(dollars(one.compacting))
    if one.rework:
        parts.append(f"{figure(one.rework)} done again")
    if one.instructions:
        parts.append(f"{figure(one.lost)} of {several(one.instructions, 'instruction')} lost")
    if one.overhead:
        parts.append(f"{figure(one.overhead)} sent beyond")
    return " · ".join(parts)
