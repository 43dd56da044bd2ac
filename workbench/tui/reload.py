"""The bench after its session has grown at the end, or at the beginning if only the end was read. The user's work stays
on the messages with the same ids. Pure: no widget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from workbench.base.errors import BadInput
from workbench.bench import Bench, open_bench, with_limit
from workbench.bench.saved_work import restore_work, work_of
from workbench.compaction.context import Layout
from workbench.compaction.opening import context_at
from workbench.session import Session
from workbench.tokens import Counter
from workbench.tokens.window import still
from workbench.tui.plain import figure
from workbench.tui.rows import Groups


@dataclass(frozen=True)
class Grown:
    """A bench after its file was read again.

    `change` converts each step of the history to the grown session. It is None if the session did not just grow;
    `bench` then starts fresh with the work that still applies. `new` counts the new messages of the epoch on screen.
    """

    bench: Bench
    groups: Groups
    change: Callable[[Bench], Bench] | None
    new: int
    note: str = ""


def grown(bench: Bench, session: Session, counter: Counter) -> Grown | None:
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
        return _fresh(bench, session, counter)
    opened = context_at(session, epoch, counter, scale=bench.scale)
    layout = opened.layout
    if not continues(bench.layout, layout):
        return _fresh(bench, session, counter)

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
    return Grown(present, Groups(layout), change, len(layout.messages) - len(bench.layout.messages))


def _is_cut_off(old: Session, new: Session) -> bool:
    """True if `new` is `old` with its end cut off."""
    fewer = len(new.messages) < len(old.messages) and new.records.size < old.records.size
    return fewer and not old.begins_at and all(a.id == b.id for a, b in zip(new.messages, old.messages, strict=False))


def continues(old: Layout, new: Layout) -> bool:
    """True if `new` begins with the messages of `old`, by id."""
    if old.messages is new.messages:
        return True
    count = len(old.messages)
    ids = (message.id for message in old.messages)
    return count <= len(new.messages) and all(id == message.id for id, message in zip(ids, new.messages, strict=False))


def _fresh(bench: Bench, session: Session, counter: Counter) -> Grown:
    opened = open_bench(session, counter)
    opened = with_limit(opened, still(bench.original.limit, opened.original.limit))
    carried = restore_work(work_of(bench), opened, counter)
    present = carried.bench
    present.context.outcome_size(present.plan.outcome)
    known = {message.id for message in bench.layout.messages}
    new = sum(message.id not in known for message in present.layout.messages)
    return Grown(present, Groups(present.layout), None, new, carried.note)
