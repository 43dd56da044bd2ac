"""Work on several processes, started from where the terminal belongs to a screen."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from workbench.base.parallel import PIECES_PER_THREAD, run_parallel

STARTED_BY_A_SCREEN = """
import io, sys
from workbench.base.parallel import run_parallel

class Captured(io.StringIO):
    def fileno(self):
        return -1

sys.stderr = Captured()
print(sorted(run_parallel(abs, [-1, -2, 3], jobs=2, remedy="try again")))
"""


def test_processes_start_where_stderr_has_no_file() -> None:
    done = subprocess.run([sys.executable, "-c", STARTED_BY_A_SCREEN], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[1, 2, 3]\n", "")


def where(piece: int) -> tuple[int, int]:
    return piece, threading.get_ident()


def test_one_worker_of_a_cluster_does_it_all_and_pieces_are_taken_as_they_are_wanted() -> None:
    """Nothing is done here: the files of the others may be there alone."""
    distributed = pytest.importorskip("distributed")
    taken: list[int] = []

    def pieces() -> Iterator[int]:
        for number in range(20):
            taken.append(number)
            yield number

    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp://", host="127.0.0.1", dashboard_address=None
    )
    with cluster:
        found = run_parallel(where, pieces(), jobs=8, cluster=cluster.scheduler_address, remedy="try again")
        first = next(iter(found))
        assert len(taken) == PIECES_PER_THREAD + 1
        others = list(found)
    assert sorted(piece for piece, _ in (first, *others)) == [*range(20)]
    assert threading.get_ident() not in {thread for _, thread in (first, *others)}
