"""Save the user's work on a session after each change."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial

from workbench.base.errors import BadInput
from workbench.base.shielded import run_shielded
from workbench.bench.saved_work import save_work, work_of
from workbench.session import Session
from workbench.tui.bench.host import Host

WRITE_S = 0.5
"""Seconds from a change until the work is written: the most that a crash can lose."""

_write_lock = threading.Lock()
"""Lock held from reading the bench until it is written, so that the newest work is written last."""


def save_now(host: Host) -> str:
    """Write unsaved work before the session leaves the bench; return why that failed, or ""."""
    bench = host.store.bench
    return "" if work_of(bench) == host.store.view.saved else _save(host, bench.session)


async def save_in_thread(host: Host) -> None:
    """Write unsaved work in a thread, while the session is on the bench."""
    session, done = host.store.bench.session, work_of(host.store.bench)
    if done == host.store.view.saved:
        return
    if trouble := await run_shielded(partial(_save, host, session)):
        host.show_toast(trouble, is_warning=True)
    elif host.store.bench.session is session:
        host.store.put(replace(host.store.view, saved=done))


def _save(host: Host, session: Session) -> str:
    """Write the work; return why that failed, or "". Does nothing if another session is on the bench by now: `save_now`
    wrote the work before."""
    with _write_lock:
        bench = host.store.bench
        if host.memory is None or bench.session is not session:
            return ""
        try:
            save_work(session, work_of(bench), host.memory / "sessions")
        except BadInput as refused:
            return str(refused)
    return ""
