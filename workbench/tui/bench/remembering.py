"""What was done to a session is written down as it is done."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial

from workbench.base.errors import BadInput
from workbench.base.to_its_end import to_its_end
from workbench.bench.saved_work import save_work, work_of
from workbench.session import Session
from workbench.tui.bench.host import Host

WRITE_S = 0.5
"""How long after a change the work is written down: what a crash can lose."""

_turn = threading.Lock()
"""Who writes has it from looking at the bench until that is written: what stands there last is the newest."""


def write_now(host: Host) -> str:
    """Write down what is not written yet, before the session leaves the bench; why that could not be done, "" where it
    could."""
    bench = host.store.bench
    return "" if work_of(bench) == host.store.view.kept else _written(host, bench.session)


async def write_soon(host: Host) -> None:
    """The same in a thread, while the session stays."""
    session, done = host.store.bench.session, work_of(host.store.bench)
    if done == host.store.view.kept:
        return
    if trouble := await to_its_end(partial(_written, host, session)):
        host.tell(trouble, bad=True)
    elif host.store.bench.session is session:
        host.store.put(replace(host.store.view, kept=done))


def _written(host: Host, session: Session) -> str:
    """Nothing is where another session has come onto the bench: it was written when this one left."""
    with _turn:
        bench = host.store.bench
        if host.memory is None or bench.session is not session:
            return ""
        try:
            save_work(session, work_of(bench), host.memory / "sessions")
        except BadInput as refused:
            return str(refused)
    return ""
