"""The bench remembers: work is written down as it is done, and a file that changes on disk is noticed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from textual import work
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer

from workbench.base.errors import BadInput
from workbench.finding.following import Mark, mark_of
from workbench.remembered import Work, keep, work_of
from workbench.session import Session
from workbench.tui.history import History

WRITE_S = 0.5
"""How long after a change the work is written down: what a crash can lose."""

POLL_S = 2.0


class Remembering(Screen[None]):
    """Mixed into the bench, which calls `remember` whenever it has drawn."""

    history: History
    _kept: Work | None = None
    _due: Timer | None = None
    followed: Timer | None = None
    _mark: Mark | None = None
    _note: str = ""
    _memory: Path | None = None

    @dataclass
    class ReadAgain(Message):
        """For the application: open the file once more and put the same work on it."""

        path: Path
        window: int | None
        work: Work
        part: str

    def loaded(self, mark: Mark | None, note: str, memory: Path | None) -> None:
        """What came with the session: the mark of its file, what to say first, and where work is written down."""
        self._mark, self._note, self._memory = mark, note, memory

    def on_mount(self) -> None:
        self._kept = work_of(self.history.present)
        if self._note:
            self.notify(self._note, markup=False)
        if self._mark:
            self.set_interval(POLL_S, self.look_at_file)

    # --- work -------------------------------------------------------------------------------------------------------

    def remember(self) -> None:
        """The bench may have changed: write down what there is, once it has rested."""
        if self._due is None and self._kept is not None and self._memory:
            self._due = self.set_timer(WRITE_S, self._write_down)

    def _write_down(self) -> None:
        self._due = None
        bench = self.history.present
        done = work_of(bench)
        if done != self._kept:
            self._kept = done
            self.keep_work(bench.session, done)

    @work(thread=True, exclusive=True, group="remember", exit_on_error=False, description="keep_work")
    def keep_work(self, session: Session, done: Work) -> None:
        if trouble := _kept(self._memory, session, done):
            self.app.call_from_thread(self.notify, trouble, severity="warning", markup=False)

    def write_now(self) -> None:
        """Before the session leaves the bench."""
        done = work_of(self.history.present)
        if done != self._kept:
            self._kept = done
            _kept(self._memory, self.history.present.session, done)

    def on_unmount(self) -> None:
        if self._kept is not None:
            self.write_now()

    # --- the file ---------------------------------------------------------------------------------------------------

    def look_at_file(self) -> None:
        """Say so, once, when the file is not what it was. Of a file that is followed nothing need be said."""
        path = self.history.present.session.path
        if path is None or self.followed or not self.app.app_focus:
            return
        mark = mark_of(path)
        if mark and mark != self._mark:
            self._mark = mark
            self.notify(f"{path.name} has changed on disk; F5 reads it again and keeps your work.", markup=False)

    def action_reread(self) -> None:
        bench = self.history.present
        if bench.session.path is None:
            self.notify("This session was not read from a file.", severity="warning")
            return
        self.write_now()
        part = bench.session.facts.part
        self.post_message(self.ReadAgain(bench.session.path, bench.window, work_of(bench), part))

    async def action_choose_file(self) -> None:
        self.write_now()
        await self.run_action("app.choose")

    async def action_help(self) -> None:
        await self.run_action("app.explain")


def _kept(memory: Path | None, session: Session, done: Work) -> str:
    """Write the work down; returns why that could not be done."""
    if memory is None:
        return ""
    try:
        keep(session, done, memory / "sessions")
    except BadInput as refused:
        return str(refused)
    return ""
