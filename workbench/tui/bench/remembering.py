"""What was done to a session is written down as it is done."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from workbench.base.errors import BadInput
from workbench.bench import Bench
from workbench.remembered import Work, keep, work_of
from workbench.tui.bench.host import Host

WRITE_S = 0.5
"""How long after a change the work is written down: what a crash can lose."""


def write_now(host: Host) -> str:
    """Write down what is not written yet, before the session leaves the bench; why that could not be done, "" where it
    could."""
    bench = host.store.bench
    done = work_of(bench)
    return "" if done == host.store.view.kept else _written(host, bench, done)


async def write_soon(host: Host) -> None:
    """The same in a thread, while the session stays."""
    bench = host.store.bench
    done = work_of(bench)
    if done != host.store.view.kept:
        host.store.put(replace(host.store.view, kept=done))
        if trouble := await asyncio.to_thread(_written, host, bench, done):
            host.tell(trouble, bad=True)


def _written(host: Host, bench: Bench, done: Work) -> str:
    if host.memory is None:
        return ""
    try:
        keep(bench.session, done, host.memory / "sessions")
    except BadInput as refused:
        return str(refused)
    return ""
