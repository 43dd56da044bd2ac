"""Sessions on this machine, the newest first, with the results of their compactions; or the sessions of one file."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input
from textual.worker import Worker, get_current_worker

from workbench.auditing.cache import RowCache
from workbench.auditing.columns import TABLES, About, Record, matching, records, sorted_by
from workbench.auditing.files import save
from workbench.auditing.groups import KEYS
from workbench.auditing.rows import SessionRow, mark_copies
from workbench.auditing.run import audit_files, candidates
from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.finding.discover import Result, discover, is_session_folder
from workbench.formats.glance import SessionGlance
from workbench.tui import session_entries
from workbench.tui.background import failure_of
from workbench.tui.keys import HELP_KEY, shared
from workbench.tui.plain import figure, one_line, several, titled
from workbench.tui.screens.ask import LineAnswer, ask_path
from workbench.tui.session_entries import SessionEntry
from workbench.tui.settings import Recent
from workbench.tui.widgets.cut_text import WholeFigures
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.list_keys import TYPING
from workbench.tui.widgets.records import Heads, RecordTable
from workbench.tui.widgets.text_view import TextPart, TextView

POST_S = 0.5
"""Interval in which new sessions are added to the table, which is sorted again each time."""

SETTLE_S = 0.05
"""Time the cursor rests before the pane below is filled."""

Key = tuple[str, str]
"""Absolute path of a file, and the session's id in a file of several."""


BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-low"), (32, "-high")]


class SessionsScreen(Screen[str | None]):
    """Screen that posts `OpenRequested` for the chosen session. With `file` it lists the sessions of that file, and is
    dismissed with the id of the chosen one, or None."""

    HELP = """\
Every session that coding agents keep on this machine, the newest first, with those you opened lately; samples are \
last. Files that you named come first; a folder that you named is searched instead of the machine. The list appears at \
once, from the ends of each file. While the files are read, more columns follow: tokens, the share of the window that \
the last prompt took (window), recorded compactions, the rules that they lost (lost) and the command to run next \
(next). ← and →, or a click on its heading, select a column; s or another click sorts by it, and again reverses the \
order. Columns further right are rework (work repeated after compactions), compactions that made the context larger, \
cost, and overhead: tokens that every call sends beyond the conversation.

Enter opens the session on the bench. f filters by words; a path typed there, or a file dropped on the terminal, is \
opened, and ctrl+f chooses any file. c lists every compaction (enter opens the epoch that it ended), and pressed again \
the files that could not be read. On top is what the compactions lost and what to set; the pane below shows the \
session under the cursor or, with b, sums by agent, version, model or project. A compaction that several files hold, \
because a session was resumed or forked, is counted once. w writes the list to a file: the page as .html, the table as \
.csv and .parquet, all figures as .json. Only files that have changed since the last time are read; no model is asked, \
and no session is changed.

The sessions of one file (samples of an evaluation, chats of a history, an agent's database, branches of a damaged \
file) are listed in the same way; `cwb audit --quick FILE` lists them, too."""
    VERTICAL_BREAKPOINTS = BREAKPOINTS
    AUTO_FOCUS = "RecordTable"
    BINDINGS: ClassVar[list[BindingType]] = [
        *TYPING,
        shared("open", "choose", "Open", "Open the session, or the compaction's epoch."),
        shared("filter", "filter", "Filter", "Filter by words, or type a file's path."),
        shared("table.sort", "sort", "Sort", "Sort by the column at hand; again: reversed."),
        Binding("c", "next_table", "Compactions", id="sessions.table", tooltip="Compactions; what could not be read."),
        shared("sums", "next_sums", "Sums", "Sums by agent, version, model and project."),
        shared("write", "write", "Write", "Write this list to a file: page or table."),
        Binding("ctrl+f", "browse", "Any file", id="sessions.browse", tooltip="Choose any file from the folders."),
        shared("refresh", "read", "Read again", "Read files that have changed.", show=False),
        shared("close", "leave", "Back", "Clear the filter, or leave."),
        HELP_KEY,
    ]

    @dataclass
    class EntriesFound(Message):
        """Entries of sessions from glances at their files."""

        entries: list[SessionEntry]

    @dataclass
    class RowsRead(Message):
        """Rows of files that were read; `left` files remain. The last message has `done` set."""

        rows: list[SessionRow]
        left: int
        done: bool
        trouble: str = ""

    @dataclass
    class OpenRequested(Message):
        """For the application: open this file, or one session of it, at the epoch of a chosen compaction."""

        path: Path
        part: str
        epoch: int | None = None

    def __init__(
        self,
        sources: Sequence[Path] = (),
        recents: Sequence[Recent] = (),
        *,
        file: Path | None = None,
        parts: Sequence[SessionEntry] = (),
    ) -> None:
        """`sources` are files to list first, and folders to search instead of the agents' own places. `parts` are the
        sessions of `file`."""
        super().__init__()
        self.file = file
        self.folders = [path for path in sources if path.is_dir() and not is_session_folder(path)]
        self.files = [path for path in sources if path not in self.folders]
        self.own = list(parts) if file else session_entries.argument_entries(self.files)
        if not file and not self.folders:
            self.own += [*session_entries.recent_entries(recents), *session_entries.sample_entries()]
        self.entries: dict[Key, SessionEntry] = {}
        self.rows: dict[Key, SessionRow] = {}
        self.about: About = "sessions"
        self.order: tuple[str, bool] = ("" if file else session_entries.FIRST["sessions"], True)
        self.sums = 0
        """Content of the pane below: 0 is the session under the cursor, n are sums by the n-th of `KEYS`."""
        self.state = "" if file else " · looking …"

    def compose(self) -> ComposeResult:
        heads = Heads()
        with VerticalScroll(id="advice", can_focus=False):
            yield WholeFigures()
        yield Input(placeholder="words, or the path of a file", id="search")
        with Vertical(id="table"):
            yield heads
            yield RecordTable(heads)
        yield TextView(id="below")
        yield KeysLine()

    def on_mount(self) -> None:
        self.query_one(WholeFigures).update(titled("Sessions", self._where()))
        self.action_read()

    def _where(self) -> str:
        named = [self.file] if self.file else self.folders
        return f"in {', '.join(one_line(str(one), 100) for one in named)}" if named else "on this machine"

    # --- finding and reading ----------------------------------------------------------------------------------------

    def action_read(self) -> None:
        self.entries, self.rows = {_key(one): one for one in self.own}, {}
        self.list_them()
        if self.file is None:
            self.state = " · looking …"
            self.find()
            self.read()

    @work(thread=True, exclusive=True, group="find", exit_on_error=False)
    def find(self) -> None:
        """Glance at every file, the newest first, to list it before it is read."""
        worker, posted = get_current_worker(), time.monotonic()
        batch: list[SessionEntry] = []
        named = [one for one in self.own if one.kind != "sample"]
        samples = [one for one in self.own if one.kind == "sample"]
        found = map(session_entries.found_entry, self._found(worker))
        for entry in chain(map(session_entries.with_glance, named), found, map(session_entries.with_glance, samples)):
            batch.append(entry)
            if worker.is_cancelled:
                return
            if time.monotonic() - posted > POST_S:
                self.post_message(self.EntriesFound(batch))
                batch, posted = [], time.monotonic()
        self.post_message(self.EntriesFound(batch))

    def _found(self, worker: Worker[object]) -> Iterator[SessionGlance]:
        cancelled: Callable[[], bool] = lambda: worker.is_cancelled
        roots: Sequence[Path | None] = self.folders or [None]
        every: Iterator[Result] = chain.from_iterable(discover(root=root, cancelled=cancelled) for root in roots)
        return (one for one in every if isinstance(one, SessionGlance))

    @on(EntriesFound)
    def _listed(self, event: EntriesFound) -> None:
        for entry in event.entries:
            self.entries[_key(entry)] = entry
        self.list_them()

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def read(self) -> None:
        """Read the files in a thread, and on all cores if there are many."""
        worker, cache, posted = get_current_worker(), RowCache(paths.audits()), time.monotonic()
        batch: list[SessionRow] = []
        trouble = ""
        own = [one.path for one in self.own if one.kind != "sample"]
        try:
            works = chain(candidates(self.folders), candidates(own) if own else ())
            for found in audit_files(works, cache, cancelled=lambda: worker.is_cancelled):
                batch += found.rows
                if time.monotonic() - posted > POST_S and not worker.is_cancelled:
                    self.post_message(self.RowsRead(batch, found.left, done=False))
                    batch, posted = [], time.monotonic()
        except BadInput as refused:
            trouble = str(refused)
        if not worker.is_cancelled:
            self.post_message(self.RowsRead(batch, 0, done=True, trouble=trouble or cache.trouble))

    @on(RowsRead)
    def _read(self, event: RowsRead) -> None:
        self.rows |= {(row.path, row.part): row for row in event.rows}
        self.state = "" if event.done else f" · {several(event.left, 'file')} to go" if event.left else " · looking …"
        if event.trouble:
            self.notify(one_line(event.trouble), severity="warning", markup=False)
        self.list_them()

    # --- the table --------------------------------------------------------------------------------------------------

    @on(Input.Changed, "#search")
    def _filtered(self) -> None:
        self.list_them()

    @work(exclusive=True, group="list", exit_on_error=False, description="list")
    async def list_them(self) -> None:
        """Filter, sort and sum up in a thread, for thousands of rows."""
        query, about, order = self.query_one("#search", Input).value, self.about, self.order
        columns = list(session_entries.PART_COLUMNS) if self.file else session_entries.table_columns(about)
        rows, known = tuple(self.rows.values()), tuple(self.entries.values())
        named = {str(path.absolute()) for path in self.files}

        def compute() -> tuple[list[Record], list[str], list[TextPart]]:
            if self.file:
                return [session_entries.part_record(one) for one in session_entries.matching(known, query)], [], []
            matched = list(matching(mark_copies(rows), query))
            lines = list(records(matched, about))
            if about == "sessions":
                read = {row.path for row in rows}
                glanced = (one for one in known if str(one.path.absolute()) not in read)
                lines += map(session_entries.record_of, session_entries.matching(list(glanced), query))
            by = next(one for one in columns if one.key == order[0])
            lines = sorted_by(lines, by, down=order[1])
            lines.sort(key=lambda line: str(line["file"]) not in named)
            return (
                lines,
                session_entries.advice_lines(matched),
                session_entries.sum_parts(matched, self.sums - 1) if self.sums else [],
            )

        lines, advice, summed = await asyncio.to_thread(compute)
        table = self.query_one(RecordTable)
        table.show(columns, lines, order, self._empty(query))
        self.query_one(WholeFigures).update(titled("Sessions", "\n".join(advice) or self._where()))
        place = f" in {one_line(self.file.name, 100)}" if self.file else ""
        refused = sum(bool(row.error) for row in rows) if about == "sessions" else 0
        unread = f" · {figure(refused)} unreadable" if refused else ""
        title = f"{session_entries.rows_words(len(lines), about)}{place}{unread}{self.state}"
        self.query_one("#table").border_title = title.replace("[", r"\[")
        self.query_one("#below").border_title = f"sums by {KEYS[self.sums - 1]}" if self.sums else "session"
        if self.sums:
            self.query_one("#below", TextView).show(summed, key="sums")
        else:
            self.look(table.here)

    def _empty(self, query: str) -> str:
        """Reason why the table is empty, and the key to press."""
        if self.state:
            return "Looking for sessions …"
        if query.strip() and (self.entries or self.rows):
            return f"No row matches “{one_line(query.strip(), 30)}”: esc clears the filter."
        if self.about != "sessions" and self.rows:
            return session_entries.EMPTY[self.about]
        if self.folders:
            below = " or ".join(folder.name or str(folder) for folder in self.folders)
            return f"No session in {one_line(below, 40)}. f5 looks again."
        return "No session was found here. ctrl+f chooses any file."

    @on(RecordTable.Highlighted)
    def _moved(self, event: RecordTable.Highlighted) -> None:
        if not self.sums:
            self.look(event.line)

    @work(exclusive=True, group="preview", exit_on_error=False, description="look")
    async def look(self, here: Record | None) -> None:
        """Show the session under the cursor once it has rested; its file is read in a thread."""
        parts: list[TextPart] = []
        if here is not None:
            await asyncio.sleep(SETTLE_S)
            path, part = Path(str(here["file"])), str(here["part"] or "")
            entry = self.entries.get((str(path), part)) or SessionEntry(
                "found", path, str(here.get("title") or ""), part=part
            )
            parts = session_entries.fact_parts(await asyncio.to_thread(session_entries.preview, entry))
        if not self.sums:
            self.query_one("#below", TextView).show(parts, key=here and (here["file"], here["part"]))

    def action_sort(self) -> None:
        by = self.query_one(RecordTable).column
        if by is not None:
            name, down = self.order
            self.order = (by.key, not down if by.key == name else by.kind != "text")
            self.list_them()

    @on(Heads.HeadingClicked)
    def _clicked(self, event: Heads.HeadingClicked) -> None:
        table = self.query_one(RecordTable)
        again = table.heads.at == event.number
        table.action_column(event.number - table.heads.at)
        if again and self.file is None:
            self.action_sort()

    def action_next_table(self) -> None:
        tables = list(TABLES)
        self.about = tables[(tables.index(self.about) + 1) % len(tables)]
        first = next(one for one in TABLES[self.about] if one.key == session_entries.FIRST[self.about])
        self.order = (first.key, first.kind != "text")
        self.list_them()

    def action_next_sums(self) -> None:
        self.sums = (self.sums + 1) % (len(KEYS) + 1)
        self.list_them()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self.notify(failure, severity="error", markup=False)

    # --- choosing ---------------------------------------------------------------------------------------------------

    @on(RecordTable.Selected)
    def action_choose(self) -> None:
        here = self.query_one(RecordTable).here
        if here is None:
            self.notify("Nothing is in the table.", severity="warning")
        elif self.about == "unreadable":
            self.notify(one_line(str(here["error"])), severity="warning", markup=False)
        else:
            epoch = here.get("epoch")
            self.open(Path(str(here["file"])), str(here["part"] or ""), epoch if isinstance(epoch, int) else None)

    def open(self, path: Path | None, part: str = "", epoch: int | None = None) -> None:
        if self.file is not None:
            self.dismiss(part)
        elif path is not None:
            self.post_message(self.OpenRequested(path, part, epoch))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide everything but filter and selection for the sessions of one file."""
        return self.file is None or action not in ("sort", "next_table", "next_sums", "write", "browse", "read")

    def action_browse(self) -> None:
        # Imported on demand: it takes 85 ms.
        from textual_fspicker import FileOpen

        self.app.push_screen(FileOpen(Path.cwd(), "Open a session"), self.open)

    def action_write(self) -> None:
        """Ask for a path, and write the matching rows in the format of its ending."""
        rows = list(matching(mark_copies(tuple(self.rows.values())), self.query_one("#search", Input).value))
        if not rows:
            self.notify("The table has no row that was read.", severity="warning")
            return
        about, by = self.about, (KEYS[max(0, self.sums - 1)],)
        many = several(sum(not row.error for row in rows), "session")
        ask = ask_path(
            f"Write {many} to a new file: .html as a page of everything, .csv or .parquet as this table of {about}, "
            ".json with every figure",
            Path("audit.html"),
            lambda path: save(path, rows, about, by),
        )

        def written(answer: LineAnswer[Path] | None) -> None:
            if answer is not None:
                self.notify(f"written to {answer.value}", markup=False)

        self.app.push_screen(ask, written)

    def action_filter(self) -> None:
        self.add_class("-filtering")
        self.query_one("#search").focus()

    def on_paste(self, event: events.Paste) -> None:
        """Open a file dropped on the terminal, which arrives as a paste of its path."""
        if path := session_entries.typed_path(event.text.strip()):
            self.open(path)

    @on(Input.Submitted, "#search")
    def _to_table(self) -> None:
        typed = None if self.file else session_entries.typed_path(self.query_one("#search", Input).value)
        if typed:
            self.open(typed)
        else:
            self.query_one(RecordTable).focus()

    def action_leave(self) -> None:
        search = self.query_one("#search", Input)
        if search.value or search.has_focus:
            search.value = ""
            self.remove_class("-filtering")
            self.query_one(RecordTable).focus()
        elif self.file is not None or len(self.app.screen_stack) > 2:
            self.dismiss(None)
        else:
            self.app.exit()


def _key(entry: SessionEntry) -> Key:
    return str(entry.path.absolute()), entry.part
