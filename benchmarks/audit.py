"""Measure `cwb audit` on a corpus: `python -m benchmarks.audit [--sessions 20000] [--cluster]`.

The corpus is made of `DIFFERENT` made-up Claude Code sessions, small and large, one in eight with a compaction, each
under many names (hard links): 20 000 of them are 10 GB. The rows' cache goes by path, so every name is read, parsed and
judged anew; the run fails if a first audit was given anything from the cache. What the program remembers of texts that
come again (command lines, instructions) it remembers here more often than it would of sessions that all differ:
`--different` makes more of them. The files come out of the system's own cache, so disks are not measured. What is
beside every figure was measured in the same run on the same files: `orjson.loads` of every line in one process. Trust
the ratios, and on a machine that does other work, too, those of the CPU: how much of it the Dask workers took is told
of the one that took most.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from benchmarks.generate import lines

DIFFERENT = 64
COMPACTED = 8
"""One session in so many records a compaction."""

SMALL = 1_000
GOAL_RATIO, GOAL_AGAIN, GOAL_PEAK_MB, GOAL_TWO = 2.5, 0.05, 1_000, 1.7


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.audit")
    parser.add_argument("--sessions", type=int, default=SMALL)
    parser.add_argument("--different", type=int, default=DIFFERENT, help="so many of them differ")
    parser.add_argument("--cluster", action="store_true", help="also on one and on two Dask workers")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="workbench-audit-") as name:
        folder = Path(name)
        size = _corpus(folder / "corpus", given.sessions, given.different)
        print(f"{given.sessions:,} sessions, {size / 1e9:.2f} GB, {os.cpu_count()} cores", flush=True)
        _measure(folder, size, on_cluster=given.cluster)


def _corpus(folder: Path, sessions: int, different: int = DIFFERENT) -> int:
    """Bytes under all names."""
    folder.mkdir(parents=True)
    size = 0
    chance = random.Random(7)
    for number in range(min(different, sessions)):
        count = max(24, min(2_400, round(chance.lognormvariate(5.35, 0.9))))
        made = lines(count, seed=number)
        data = b"".join(
            orjson.dumps(line) + b"\n" for line in (_compacted(made, count) if not number % COMPACTED else made)
        )
        first = folder / f"p{number:03}" / "session-00000.jsonl"
        first.parent.mkdir()
        first.write_bytes(data)
        names = range(number, sessions, different)
        for again in names[1:]:
            os.link(first, first.with_name(f"session-{again:05}.jsonl"))
        size += len(data) * len(names)
    return size


def _compacted(made: Iterator[dict[str, Any]], count: int) -> Iterator[dict[str, Any]]:
    """The session with a compaction two thirds on, behind which the prompts are smaller."""
    place, dropped, parent = 2 * count // 3, 0, ""
    for number, line in enumerate(made):
        usage = line.get("message", {}).get("usage")
        if number >= place and not dropped and line["type"] == "assistant":
            before = usage["cache_read_input_tokens"] + 908
            dropped = max(0, before - 30_000)
            shared = {key: line[key] for key in ("sessionId", "version", "cwd", "timestamp", "isSidechain")}
            about = {"trigger": "auto", "preTokens": before}
            yield {
                **shared,
                "type": "system",
                "subtype": "compact_boundary",
                "uuid": "boundary",
                "parentUuid": None,
                "logicalParentUuid": parent,
                "content": "Conversation compacted",
                "compactMetadata": about,
            }
            said = {"role": "user", "content": "The parser was begun, and its tests. " * 40}
            yield {
                **shared,
                "type": "user",
                "uuid": "summary",
                "parentUuid": "boundary",
                "isCompactSummary": True,
                "message": said,
            }
            line["parentUuid"] = "summary"
        if usage:
            usage["cache_read_input_tokens"] -= dropped
        parent = line["uuid"]
        yield line


def _measure(folder: Path, size: int, *, on_cluster: bool) -> None:
    bare = _run("bare", folder)
    one = _run("audit", folder, cores=1, cache="one")
    again = _run("audit", folder, cores=1, cache="one")
    every = _run("audit", folder, cores=0, cache="all")
    if one["kept"] or every["kept"] or again["kept"] != again["files"]:
        raise SystemExit(f"the cache was no cache: {one['kept']}, {every['kept']}, {again['kept']} of {again['files']}")
    _row("orjson.loads of every line", bare, size)
    _row("audit, one core", one, size, f"{one['cpu'] / bare['cpu']:.2f} times orjson (goal {GOAL_RATIO})")
    _row("audit, all cores", every, size, f"{one['seconds'] / every['seconds']:.2f} times one core")
    share = again["cpu"] / one["cpu"]
    _row("audit again, nothing changed", again, size, f"{share:.1%} of the first (goal {GOAL_AGAIN:.0%})")
    peak = max(run["peak_mb"] for run in (one, again, every))
    print(f"{'peak memory of a process':32} {peak:9.0f} MB   (goal {GOAL_PEAK_MB} MB)")
    if on_cluster:
        single, double = (_run("cluster", folder, cores=workers, cache=f"dask{workers}") for workers in (1, 2))
        _row("audit, one Dask worker", single, size)
        times = (single[of] / double[of] for of in ("seconds", "cpu"))
        beside = "{:.2f} times one, {:.2f} by the CPU of the busiest (goal {})".format(*times, GOAL_TWO)
        _row("audit, two Dask workers", double, size, beside)


def _row(name: str, run: dict[str, Any], size: int, beside: str = "") -> None:
    seconds, cpu = run["seconds"], run["cpu"]
    print(f"{name:32} {seconds:8.2f} s {cpu:8.2f} s CPU {size / 1e6 / cpu:6.0f} MB/s   {beside}", flush=True)


def _run(what: str, folder: Path, cores: int = 0, cache: str = "") -> dict[str, Any]:
    """A measurement in a process of its own, so that its memory is its own, too. What Python compiled it keeps, as it
    does for everybody who does not forbid it: else every worker would compile the program anew."""
    call = [sys.executable, "-m", "benchmarks.audit_inside", what, str(folder), str(cores), cache]
    keeping = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(call, capture_output=True, text=True, check=False, env=keeping)
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def inside(what: str, folder: Path, cores: int, cache: str) -> None:
    """What such a process does; prints its figures as JSON."""
    began = time.perf_counter()
    told: dict[str, Any] = {}
    if what == "bare":
        for path in sorted((folder / "corpus").rglob("*.jsonl")):
            for line in path.read_bytes().splitlines():
                orjson.loads(line)
    elif what == "audit":
        if cores and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
        told = _audit(folder, cache, "")
    else:
        told = _on_cluster(folder, cores, cache)
    told.setdefault("seconds", time.perf_counter() - began)
    told.setdefault("cpu", time.process_time())
    most = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    told["peak_mb"] = most / (1e6 if sys.platform == "darwin" else 1e3)
    print(json.dumps(told))


def _on_cluster(folder: Path, workers: int, cache: str) -> dict[str, Any]:
    """With the CPU of the worker that took most."""
    from distributed import Client, LocalCluster

    made = LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=50
    )
    with made as cluster, Client(cluster.scheduler_address, set_as_default=False) as client:  # type: ignore[no-untyped-call]
        before, began = client.run(time.process_time), time.perf_counter()
        told = _audit(folder, cache, cluster.scheduler_address)
        told["seconds"] = time.perf_counter() - began
        after = client.run(time.process_time)
        told["cpu"] = max(after[worker] - before[worker] for worker in before)
    return told


def _audit(folder: Path, cache: str, cluster: str) -> dict[str, Any]:
    from workbench.auditing.cache import RowCache
    from workbench.auditing.run import audit_files, candidates

    files = kept = 0
    for found in audit_files(candidates([folder / "corpus"]), RowCache(folder / f"{cache}.sqlite"), cluster):
        files += 1
        kept += found.cached
        if any(row.error for row in found.rows):
            raise SystemExit(found.rows[0].error)
    return {"files": files, "kept": kept}


if __name__ == "__main__":
    main()
