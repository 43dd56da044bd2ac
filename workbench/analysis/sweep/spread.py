"""Does the cells of a sweep: on all cores of this machine, or on the workers of a Dask scheduler, through joblib."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from workbench.analysis.sweep.axes import Number
from workbench.analysis.sweep.cells import Cell, Plan, ScaleOf, no_scale, swept
from workbench.base.errors import BadInput

Work = tuple[str, tuple[tuple[Number, ...], ...]]
"""A file and the settings under which it is to be replayed: loaded once for all of them."""

CONNECT_S = 10


def work_of(
    files: Sequence[str], plan: Plan, known: Collection[tuple[str, tuple[Number, ...]]], cores: int
) -> list[Work]:
    """What is still to do. A file's settings stay together unless there are fewer files than cores."""
    parts = max(1, -(-cores // max(len(files), 1)))
    found: list[Work] = []
    for file in files:
        left = [setting for setting in plan.settings if (file, setting) not in known]
        size = -(-len(left) // parts) if left else 1
        found += [(file, tuple(left[start : start + size])) for start in range(0, len(left), size)]
    return found


def spread(
    work: Sequence[Work], plan: Plan, cluster: str = "", scale_of: ScaleOf = no_scale
) -> Iterator[tuple[Cell, ...]]:
    """The cells of each piece of work as they are done, in any order.

    `cluster` is the address of a Dask scheduler (`tcp://host:port`), whose workers must see the files under the same
    names and have this program installed. Raises BadInput where it does not answer, where `distributed` is missing,
    and where a worker dies.
    """
    from joblib import Parallel, delayed

    if not work:
        return
    with _backend(cluster):
        jobs = min(len(work), cores()) if not cluster else -1
        results = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(
            delayed(swept)(file, plan, settings, scale_of) for file, settings in work
        )
        try:
            yield from results
        except Exception as error:
            # `swept` raises nothing: what comes here happened to a worker, which ran out of memory or was killed.
            reason = f"{type(error).__name__}: {str(error).strip().partition('.')[0]}".strip(": ")
            raise BadInput(
                f"A worker ended before its work was done ({reason[:200]}); go on with --resume, and fewer files."
            ) from None


def cores() -> int:
    """The cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def _backend(cluster: str) -> AbstractContextManager[Any]:
    return _dask(cluster) if cluster else nullcontext()


@contextmanager
def _dask(address: str) -> Iterator[None]:
    from joblib import parallel_config

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
        with parallel_config(backend="dask", client=client):
            yield
