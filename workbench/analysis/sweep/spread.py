"""Does the cells of a sweep: on all cores of this machine, or on the workers of a Dask scheduler."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial

from workbench.analysis.sweep.axes import Number
from workbench.analysis.sweep.cells import Cell, Plan, ScaleOf, no_scale, swept
from workbench.base import parallel as over
from workbench.base.parallel import cores

Work = tuple[str, tuple[tuple[Number, ...], ...]]
"""A file and the settings under which it is to be replayed: loaded once for all of them."""


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
    """The cells of each piece of work as they are done, in any order; `cluster` and what is raised as it says there."""
    if work:
        jobs, remedy = min(len(work), cores()), "continue with --resume, with fewer files"
        yield from over.run_parallel(partial(_swept, plan, scale_of), work, jobs=jobs, cluster=cluster, remedy=remedy)


def _swept(plan: Plan, scale_of: ScaleOf, piece: Work) -> tuple[Cell, ...]:
    file, settings = piece
    return swept(file, plan, settings, scale_of)
