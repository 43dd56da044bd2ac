"""The session's file: notice changes on disk, and follow a session that its agent still writes. Its date is read once a
second; everything else runs in a thread."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from textual.message import Message as AppMessage

from workbench.base.errors import BadInput
from workbench.base.text import plural
from workbench.bench import Bench, open_bench, with_limit
from workbench.bench.saved_work import SavedWork, restore_work, work_of
from workbench.compaction.opening import context_at
from workbench.finding.following import file_mark, read_finished
from workbench.formats.files import load
from workbench.session import Message, Session
from workbench.tokens import Counter
from workbench.tokens.window import still
from workbench.tui.background import in_steps
from workbench.tui.bench.counting import count, show_epochs
from workbench.tui.bench.host import Host
from workbench.tui.bench.saving import save_now
from workbench.tui.bench.store import Following, moved
from workbench.tui.plain import figure
from workbench.tui.rows import Groups, continues
from workbench.tui.undo import UndoHistory

LOOK_S = 1.0
"""Interval in which the file's date is read."""

SHARE = 5
"""Pause after reading a followed file, as a multiple of the reading time: reading takes at most a sixth of the time."""

TRIES = 3
"""Failed readings in a row before the user sees a message: a document is often read while it is half-written."""


@dataclass
class ReadAgain(AppMessage):
    """For the application: open the file again and carry the work over to it."""

    path: Path
    window: int | None
    work: SavedWork
    part: str


@dataclass
class AllRead(AppMessage):
    """For the application: a file whose end was on the bench is now read completely."""

    session: Session


def _put(host: Host, following: Following) -> None:
    host.store.put(replace(host.store.view, following=following))


def check_file(host: Host, now: float | None = None) -> None:
    """Report a change of the file once; read it if it is followed, unless it is being read or was read too recently.
    `now` is the monotonic clock."""
    view = host.store.view
    path, following = view.bench.session.path, view.following
    if path is None:
        return
    if view.whole is not None and not _must_stay(host) and not host.busy("rest"):
        host.spawn("rest", put_whole_session, host)
    if following.is_on:
        now = time.monotonic() if now is None else now
        if host.busy("follow") or _must_stay(host) or now < following.not_before:
            return
    elif following.mark is None or not host.app.app_focus:
        return
    mark = file_mark(path)
    if following.is_missing != (mark is None):
        following = replace(following, is_missing=mark is None)
        _put(host, following)
        if following.is_missing:
            host.show_toast(_missing_words(host, path), is_warning=True)
    if mark is None or mark == following.mark:
        return
    _put(host, replace(following, mark=mark))
    if following.is_on:
        host.spawn("follow", read_more, host, path)
    else:
        host.show_toast(f"{path.name} has changed on disk; Read again (ctrl+p) reads it and keeps your work.")


def _missing_words(host: Host, path: Path) -> str:
    """Sentence about a missing file. A large session's bytes are read again for an export; a small one's are in
    memory."""
    what = "export or read it again" if host.store.bench.session.records.digest else "read it again"
    return f"{path.name} was moved or deleted; your work is kept. Put it back to {what}."


def follow(host: Host) -> None:
    """Follow the file from now on; changes since it was read are read first."""
    _put(host, replace(host.store.view.following, is_on=True, not_before=0.0, failed=0))


def toggle_follow(host: Host) -> None:
    view = host.store.view
    path = view.bench.session.path
    if view.following.is_on:
        host.cancel("follow")
        _put(host, replace(view.following, is_on=False))
        host.show_toast("No longer followed.")
    elif path is None:
        host.show_toast("This session was not read from a file, so there is nothing to follow.", is_warning=True)
    elif file_mark(path) is None:
        _put(host, replace(view.following, is_missing=True))
        host.show_toast(_missing_words(host, path), is_warning=True)
    else:
        _put(host, Following())  # a change that was reported before is read now
        follow(host)
        check_file(host)
        host.show_toast(f"Following {path.name}: new messages appear as they are written.")


def _must_stay(host: Host) -> bool:
    """True if the session must not be replaced: during a run, with a result, or while another screen is open."""
    view = host.store.view
    return bool(view.running) or view.bench.result is not None or not host.is_active


async def read_more(host: Host, path: Path) -> None:
    """Read, lay out and plan in a thread what was added to the file."""
    began, before = time.monotonic(), host.store.bench

    def read() -> GrownBench | None:
        session = read_finished(path, before.session.facts.part)
        return grow_bench(before, session, host.counter)

    def later() -> float:
        return time.monotonic() + SHARE * (time.monotonic() - began)

    try:
        found = await asyncio.to_thread(read)
    except BadInput as refused:
        following = host.store.view.following
        failed = following.failed + 1
        # The file may not change again, so below `TRIES` it is read again even if unchanged.
        mark = None if failed < TRIES else following.mark
        _put(host, replace(following, failed=failed, mark=mark, not_before=later()))
        if failed == TRIES:
            host.show_toast(str(refused), is_warning=True)
        return
    _put(host, replace(host.store.view.following, failed=0, not_before=later()))
    if found is None:
        return
    if not _must_stay(host) and fits(found, before, host.store.bench):
        put_grown(host, found)
    else:  # the bench changed meanwhile: read the file again for the present one
        _put(host, replace(host.store.view.following, mark=None))


async def read_rest(host: Host) -> None:
    """Read the complete file of a session whose end is on the bench, in a thread, and put it there; the user's steps
    are kept."""
    path = host.store.bench.session.path
    assert path is not None
    report = in_steps(lambda done, total: host.call_later(put_reading, done / max(total, 1)))

    def put_reading(share: float) -> None:
        if host.store.bench.session.begins_at:  # the session may be on the bench before the last progress is reported
            host.store.put(replace(host.store.view, reading=share))

    try:
        session = await asyncio.to_thread(load, path, report)
    except BadInput as refused:
        host.store.put(replace(host.store.view, reading=None))
        host.show_toast(f"{refused} Read again (ctrl+p) tries again.", is_warning=True)
        return
    host.store.put(replace(host.store.view, whole=session))
    await put_whole_session(host)


async def put_whole_session(host: Host) -> None:
    """Replace the session's end on the bench by the complete session, once it may be replaced."""
    before, session = host.store.bench, host.store.view.whole
    if session is None:
        return

    def grow() -> GrownBench | None:
        _copy_counts(before.messages, session, host.counter)
        return grow_bench(before, session, host.counter)

    found = await asyncio.to_thread(grow)
    if found is not None and not _must_stay(host) and fits(found, before, host.store.bench):
        put_grown(host, found)
        host.store.put(replace(host.store.view, whole=None))
        host.counter.forget(before.session.messages)
        host.app.post_message(AllRead(session))


def _copy_counts(messages: Sequence[Message], session: Session, counter: Counter) -> None:
    """Take over the counts of `messages` for the same messages of `session`."""
    ours = {message.id: message for message in messages}
    for one in session.messages:
        other = ours.get(one.id)
        if other is not None and other.blocks == one.blocks and (weight := counter.known(other)):
            counter.know(one, weight)


def fits(found: GrownBench, before: Bench, present: Bench) -> bool:
    """True if a reading for bench `before` can be put on the `present` one."""
    same_epoch = present.session is before.session and present.epoch == before.epoch
    return same_epoch and (found.change is not None or before is present)


def put_grown(host: Host, found: GrownBench) -> None:
    store = host.store
    before = store.bench
    compacted = len(found.bench.session.epochs) > len(before.session.epochs)
    history = UndoHistory(found.bench) if found.change is None else store.view.history.change_all(found.change)
    note = f"followed: {figure(found.new)} new {plural(found.new, 'message')}"
    view = replace(store.view, groups=found.groups, note=note if found.new or not before.session.begins_at else "")
    if view.saved == work_of(before):
        view = replace(view, saved=work_of(history.present))
    store.put(moved(view, history))
    count(host)
    show_epochs(host)
    if found.change is None:
        what = "The agent has compacted the session" if compacted else "The file no longer begins as it did"
        loss = f"; {found.note}" if found.note else ""
        host.show_toast(f"{what}: its present content is shown{loss}.")


def reread(host: Host) -> None:
    bench = host.store.bench
    if bench.session.path is None:
        host.show_toast("This session was not read from a file.", is_warning=True)
        return
    save_now(host)
    host.app.post_message(ReadAgain(bench.session.path, bench.user_window, work_of(bench), bench.session.facts.part))


# --- the bench after its file was read again --------------------------------------------------------------------------


@dataclass(frozen=True)
class GrownBench:
    """A bench after its file was read again.

    `change` converts each step of the history to the grown session. It is None if the session did not just grow;
    `bench` then starts fresh with the work that still applies. `new` counts the new messages of the epoch on screen.
    """

    bench: Bench
    groups: Groups
    change: Callable[[Bench], Bench] | None
    new: int
    note: str = ""


def grow_bench(bench: Bench, session: Session, counter: Counter) -> GrownBench | None:
    """Bench with a newer reading of its session; None if that has the same messages and epochs.

    Lays out and plans: call it in a thread. Raises BadInput if the file was cut off, because the user's work on the
    missing messages would be lost.
    """
    if session.messages == bench.session.messages and session.epochs == bench.session.epochs:
        return None
    if _is_cut_off(bench.session, session):
        name = session.path.name if session.path else "The session"
        now, before = figure(len(session.messages)), figure(len(bench.session.messages))
        raise BadInput(
            f"{name} has shrunk to {now} of {before} messages; the bench keeps all. "
            "Read again (ctrl+p) shows the file as it is."
        )
    earlier = len(session.epochs) - len(bench.session.epochs)
    epoch = bench.epoch + earlier
    if epoch < 1 or (earlier and not bench.session.begins_at):
        return _reopen(bench, session, counter)
    opened = context_at(session, epoch, counter, scale=bench.scale)
    layout = opened.layout
    if not continues(bench.layout, layout):
        return _reopen(bench, session, counter)

    def change(old: Bench) -> Bench:
        if old.epoch != bench.epoch:
            return replace(old, session=session)
        return replace(
            old,
            session=session,
            epoch=epoch,
            original=opened.with_(limit=still(old.original.limit, opened.limit)),
            result=None,
        )

    present = change(bench)
    present.context.outcome_size(present.plan.outcome)
    return GrownBench(present, Groups(layout), change, len(layout.messages) - len(bench.layout.messages))


def _is_cut_off(old: Session, new: Session) -> bool:
    """True if `new` is `old` with its end cut off."""
    fewer = len(new.messages) < len(old.messages) and new.records.size < old.records.size
    return fewer and not old.begins_at and all(a.id == b.id for a, b in zip(new.messages, old.messages, strict=False))


def _reopen(bench: Bench, session: Session, counter: Counter) -> GrownBench:
    opened = open_bench(session, counter)
    opened = with_limit(opened, still(bench.original.limit, opened.original.limit))
    carried = restore_work(work_of(bench), opened, counter)
    present = carried.bench
    present.context.outcome_size(present.plan.outcome)
    known = {message.id for message in bench.layout.messages}
    new = sum(message.id not in known for message in present.layout.messages)
    return GrownBench(present, Groups(present.layout), None, new, carried.note)
