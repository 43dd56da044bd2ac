"""Run the cells of a sweep on all cores of this machine, or on the workers of a Dask scheduler."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial

from workbench.analysis.sweep.axes import Number
from workbench.analysis.sweep.cells import ScaleOf, SweepCell, SweepPlan, no_scale, sweep_file
from workbench.base import parallel as over
from workbench.base.parallel import cores

Work = tuple[str, tuple[tuple[Number, ...], ...]]
"""File and the settings to replay it under; loaded once for all."""


def work_of(
    files: Sequence[str], plan: SweepPlan, known: Collection[tuple[str, tuple[Number, ...]]], cores: int
) -> list[Work]:
    """Return the remaining work. Settings of a file stay together unless there are fewer files than cores."""
    parts = max(1, -(-cores // max(len(files), 1)))
    found: list[Work] = []
    for file in files:
        left = [setting for setting in plan.settings if (file, setting) not in known]
        size = -(-len(left) // parts) if left else 1
        found += [(file, tuple(left[start : start + size])) for start in range(0, len(left), size)]
    return found


def spread(
    work: Sequence[Work], plan: SweepPlan, cluster: str = "", scale_of: ScaleOf = no_scale
) -> Iterator[tuple[SweepCell, ...]]:
    """Yield the cells of each piece of work when it is finished, in any order. For `cluster` and errors see
    `workbench.base.spread`."""
    if work:
        jobs, remedy = min(len(work), cores()), "continue with --resume, with fewer files"
        yield from over.run_parallel(partial(_swept, plan, scale_of), work, jobs=jobs, cluster=cluster, remedy=remedy)


def _swept(plan: SweepPlan, scale_of: ScaleOf, piece: Work) -> tuple[SweepCell, ...]:
    file, settings = piece
    return sweep_file(file, plan, settings, scale_of)
