"""Run pieces of work on all cores of this machine (joblib), or on the workers of a Dask scheduler."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr
from itertools import islice
from typing import Any, TypeVar

from workbench.base.errors import BadInput

Piece = TypeVar("Piece")
Result = TypeVar("Result")

CONNECT_S = 10


def run_parallel(
    do: Callable[[Piece], Result], pieces: Iterable[Piece], *, jobs: int, cluster: str = "", remedy: str
) -> Iterator[Result]:
    """Yield the result of `do` for each piece, in any order, as soon as it is done. `do` must not raise. `pieces` are
    taken one by one, so that neither all pieces nor all results must fit in memory.

    `jobs`: number of local processes. `cluster`: address of a Dask scheduler (`tcp://host:port`) to use instead; its
    workers must see the files under the same names and have this program installed. Raises BadInput if the scheduler
    does not answer, if `distributed` is missing, and if a worker dies; the last message ends with `remedy`.
    """
    with _dask_client(cluster) if cluster else nullcontext() as client:
        results = _run_locally(do, pieces, jobs) if client is None else _run_on_cluster(client, do, pieces)
        try:
            yield from results
        except Exception as error:
            # `do` raises nothing: a worker ran out of memory or was killed.
            reason = f"{type(error).__name__}: {str(error).strip().partition('.')[0]}".strip(": ")
            raise BadInput(f"A worker ended before its work was done ({reason[:200]}); {remedy}.") from None


def _run_locally(do: Callable[[Piece], Result], pieces: Iterable[Piece], jobs: int) -> Iterable[Result]:
    from joblib import Parallel, delayed

    run = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    # A screen replaces stderr by one without a file; new processes need the real one.
    with redirect_stderr(sys.__stderr__):
        found: Iterable[Result] = run(delayed(do)(piece) for piece in pieces)
    return found


PIECES_PER_THREAD = 2
"""Pieces submitted for each thread of a worker: one in progress and the next."""


def _run_on_cluster(client: Any, do: Callable[[Piece], Result], pieces: Iterable[Piece]) -> Iterator[Result]:
    """Submit the pieces to the cluster directly: joblib would run them locally if there is a single worker."""
    from distributed import as_completed

    waiting = (client.submit(do, piece, pure=False) for piece in pieces)
    begun = list(islice(waiting, PIECES_PER_THREAD * sum(client.nthreads().values())))
    running = as_completed(begun, loop=client.loop)  # type: ignore[no-untyped-call]
    begun.clear()
    for future in running:
        result: Result = future.result()
        future.release()
        running.update(islice(waiting, 1))  # type: ignore[no-untyped-call]
        yield result


def cores() -> int:
    """Return the number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


@contextmanager
def _dask_client(address: str) -> Iterator[Any]:
    """Open a client of the scheduler at `address`. Raises BadInput without `distributed`, an answer or a worker."""
    try:
        from distributed import Client
    except ImportError:
        raise BadInput("--cluster needs the extra `cluster`; install 'compaction-workbench[cluster]'.") from None
    try:
        client = Client(address, timeout=CONNECT_S, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as error:
        reason = str(error).split("\n", 1)[0] or type(error).__name__
        raise BadInput(f"No Dask scheduler answers at {address} ({reason}); check the address.") from None
    with client:
        if not client.scheduler_info()["workers"]:
            raise BadInput(f"The Dask scheduler at {address} has no workers; start some with `dask worker`.")
        yield client
