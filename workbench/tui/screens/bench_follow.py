"""Following a session that its agent still writes: its date is looked at once a second, the rest is a thread's."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on, work
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer

from workbench.base.errors import BadInput
from workbench.bench import Bench
from workbench.finding.following import Mark, mark_of, read_finished
from workbench.tokens import Counter
from workbench.tui.growing import Grown, grown
from workbench.tui.history import History
from workbench.tui.plain import figure
from workbench.tui.rows import Groups
from workbench.tui.widgets.rounds_list import RoundsList

KEYS = (("L", "follow", "Follow", "Follow the file while its agent writes it: new messages appear; again: stop."),)
"""Key, action, name and help."""

BINDINGS: list[BindingType] = [
    Binding(key, action, name, show=False, tooltip=tooltip, id=f"bench.{action}") for key, action, name, tooltip in KEYS
]

LOOK_S = 1.0
"""How often the file's date is looked at. Nothing else is done while it does not change."""

SHARE = 5
"""A file that took so long to read is left alone for `SHARE` times as long: at most a sixth of the time is spent."""

TRIES = 3
"""Readings that may fail one after the other before it is said: a document is often caught half-written."""


class Following(Screen[None]):
    """Mixed into the bench; `draw`, `count` and `show_growth` are the bench's."""

    if TYPE_CHECKING:
        counter: Counter
        history: History
        groups: Groups
        said: str
        running: str
        followed: Timer | None
        _mark: Mark | None

        @property
        def bench(self) -> Bench: ...
        def draw(self) -> None: ...
        def count(self) -> object: ...
        def show_growth(self) -> object: ...

    @dataclass
    class Read(Message):
        """The file was read after a change; `took` is how many seconds that cost."""

        grown: Grown | None
        before: Bench
        took: float

    @dataclass
    class Unread(Message):
        """The file could not be read just now."""

        sentence: str

    _not_before: float = 0.0
    _failed: int = 0

    def follow(self) -> None:
        """Look at the file from now on; what changed since it was read is read first."""
        self._not_before, self._failed = 0.0, 0
        self.followed = self.set_interval(LOOK_S, self.look_for_more)

    def action_follow(self) -> None:
        path = self.bench.session.path
        if self.followed is not None:
            self.followed.stop()
            self.followed = None
            self.workers.cancel_group(self, "follow")
            self.notify("No longer followed.", markup=False)
        elif path is None:
            self.notify("This session was not read from a file, so there is nothing to follow.", severity="warning")
        else:
            self._mark = None  # a change that was told of before is read now
            self.follow()
            self.look_for_more()
            self.notify(f"Following {path.name}: new messages appear as they are written.", markup=False)

    def look_for_more(self, now: float | None = None) -> None:
        """Read the file if it has changed, unless it is being read or was too lately. `now` is the monotonic clock."""
        path = self.bench.session.path
        now = time.monotonic() if now is None else now
        busy = any(worker.group == "follow" and not worker.is_finished for worker in self.workers)
        if path is None or self.followed is None or busy or self._held or now < self._not_before:
            return
        mark = mark_of(path)
        if mark is not None and mark != self._mark:
            self._mark = mark
            self.read_more(self.bench)

    @property
    def _held(self) -> bool:
        """Whether the session must stay as it is: a run or its result is of it, or another screen works with it."""
        return bool(self.running) or self.bench.result is not None or not self.is_active

    @work(thread=True, exclusive=True, group="follow", exit_on_error=False, description="read_more")
    def read_more(self, bench: Bench) -> None:
        """Read, lay out and plan what the file holds by now."""
        began = time.monotonic()
        path = bench.session.path
        assert path is not None
        try:
            session = read_finished(path, bench.session.facts.part)
        except BadInput as refused:
            self.post_message(self.Unread(str(refused)))
            return
        found = grown(bench, session, self.counter)
        self.post_message(self.Read(found, bench, time.monotonic() - began))

    @on(Read)
    def _read_more(self, event: Read) -> None:
        self._failed = 0
        self._not_before = time.monotonic() + SHARE * event.took
        found = event.grown
        if self.followed is None or found is None:
            return
        same_epoch = self.bench.session is event.before.session and self.bench.epoch == event.before.epoch
        if same_epoch and not self._held and (found.change or event.before is self.bench):
            self._put(found)
        else:
            self._mark = None  # something else was done meanwhile: read it again, for what is there now

    def _put(self, found: Grown) -> None:
        rounds = self.query_one(RoundsList)
        at_end = bool(rounds.rows) and rounds.line >= len(rounds.rows or ()) - 1
        compacted = len(found.bench.session.epochs) > len(self.bench.session.epochs)
        if found.change is None:
            self.history = History(found.bench)
        else:
            self.history = self.history.everywhere(found.change)
        self.groups = found.groups
        self.said = f"followed: {figure(found.new)} new message{'s' * (found.new != 1)}"
        self.draw()
        if at_end:
            rounds.action_end(1)
        self.count()
        self.show_growth()
        if found.change is None:
            what = "The agent has compacted the session" if compacted else "The file does not go on as it began"
            note = f"; {found.note}" if found.note else ""
            self.notify(f"{what}: this is how it stands now{note}.", markup=False)

    @on(Unread)
    def _could_not_read(self, event: Unread) -> None:
        self._failed += 1
        if self._failed == TRIES:
            self.notify(event.sentence, severity="warning", markup=False)
