"""What is measured inside a process, each in one of its own: `python -m benchmarks.inside NAME FILE` prints JSON."""

from __future__ import annotations

import asyncio
import json
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

REPLANS = 30


def json_alone(file: Path) -> dict[str, float]:
    """The baseline of reading: every line, row or event through orjson, everything kept."""
    import orjson

    from benchmarks.other_formats import values_in

    began, used = time.perf_counter(), time.process_time()
    kept = [orjson.loads(value) for value in values_in(file)]
    seconds, cpu = time.perf_counter() - began, time.process_time() - used
    return {"seconds": seconds, "cpu": cpu, "lines": len(kept), "peak_mb": _peak_mb()}


def reading(file: Path) -> dict[str, float]:
    """The workbench's reader: messages, branch, epochs, untouched records."""
    from workbench.formats.files import load

    began = time.perf_counter()
    session = load(file)
    return {"seconds": time.perf_counter() - began, "messages": len(session.messages), "peak_mb": _peak_mb()}


def tokens_alone(file: Path) -> dict[str, Any]:
    """The baseline of counting: the tokenizer that the workbench takes, over the texts that it counts, one by one."""
    from workbench.formats.files import load
    from workbench.tokens.engine import load_engine
    from workbench.tokens.visible import visible_parts

    texts = [part for message in load(file).context() for part in visible_parts(message) if isinstance(part, str)]
    engine = load_engine()
    began, used = time.perf_counter(), time.process_time()
    total = sum(engine.count(text).tokens for text in texts)
    seconds, cpu = time.perf_counter() - began, time.process_time() - used
    return {"seconds": seconds, "cpu": cpu, "tokens": total, "chars": sum(map(len, texts)), "engine": engine.name}


def counting(file: Path) -> dict[str, Any]:
    """The workbench's counter on the same texts, without its cache on disk."""
    from workbench.formats.files import load
    from workbench.tokens import Counter
    from workbench.tokens.engine import load_engine

    messages = load(file).context()
    engine = load_engine()
    counter = Counter(None, lambda: engine)
    began = time.perf_counter()
    counter.count_all(messages, lambda done, total: None, lambda: False)
    return {"seconds": time.perf_counter() - began, "engine": engine.name}


def replanning(file: Path) -> dict[str, float]:
    """A moved split, a changed number and a pin, each up to the size afterwards; milliseconds."""
    from workbench.bench import Bench, steps
    from workbench.formats.files import load
    from workbench.tokens import Counter

    session = load(file)
    bench = steps.open_bench(session, Counter(None), preset="augment-example")
    _ = bench.plan.after
    found: list[float] = []

    def timed(changed: Bench) -> Bench:
        _ = changed.plan.after
        found.append(1000 * (time.perf_counter() - began))
        return changed

    ids = [message.id for message in bench.messages]
    for number in range(REPLANS):
        began = time.perf_counter()
        bench = timed(steps.move_split(bench, -3))
        began = time.perf_counter()
        bench = timed(steps.set_policy(bench, bench.policy.with_(history_tail_size_chars_to_exclude=30_000 + number)))
        began = time.perf_counter()
        bench = timed(steps.toggle_pin(bench, ids[number * len(ids) // REPLANS]))
    return {"median_ms": statistics.median(found), "max_ms": max(found)}


def replanning_by_strategy(file: Path) -> dict[str, float]:
    """A pin set under strategies that look at every message: median milliseconds up to the size afterwards."""
    from workbench.bench import steps
    from workbench.formats.files import load
    from workbench.tokens import Counter

    session = load(file)
    found: dict[str, float] = {}
    for preset in ("progressive", "clear-tool-results"):
        bench = steps.open_bench(session, Counter(None), preset=preset)
        _ = bench.plan.after
        times = []
        for number in range(REPLANS // 3):
            began = time.perf_counter()
            bench = steps.toggle_pin(bench, bench.messages[number * len(bench.messages) // REPLANS].id)
            _ = bench.plan.after
            times.append(1000 * (time.perf_counter() - began))
        found[preset] = statistics.median(times)
    return found


def cancelling(file: Path) -> dict[str, float]:
    """Seconds from giving up a run whose summarizer never answers until nothing of it is left."""
    from workbench.bench import steps
    from workbench.formats.files import load
    from workbench.summarizers.driver import RequestsStarted, RunEvent, run
    from workbench.tokens import Counter

    bench = steps.open_bench(load(file), Counter(None))

    async def measured() -> float:
        asked = asyncio.Event()

        async def silent(*_: Any) -> Any:
            await asyncio.Event().wait()

        def told(event: RunEvent) -> None:
            if isinstance(event, RequestsStarted):
                asked.set()

        running = asyncio.create_task(run(bench.compacting(), silent, on_event=told))
        await asked.wait()
        began = time.perf_counter()
        running.cancel()
        await asyncio.wait([running])
        return time.perf_counter() - began

    return {"seconds": asyncio.run(measured())}


def remembering(file: Path) -> dict[str, float]:
    """What stands in the way of a key while the work is written down, and the writing itself, in milliseconds."""
    from workbench.bench import steps
    from workbench.bench.saved_work import save_work, work_of
    from workbench.formats.files import load
    from workbench.tokens import Counter

    bench = steps.open_bench(load(file), Counter(None))
    asked, written = [], []
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as folder:
        for number in range(REPLANS):
            bench = steps.toggle_pin(bench, bench.messages[number].id)
            began = time.perf_counter()
            done = work_of(bench)
            asked.append(1000 * (time.perf_counter() - began))
            save_work(bench.session, done, Path(folder))
            written.append(1000 * (time.perf_counter() - began))
    return {"asked_ms": statistics.median(asked), "written_ms": statistics.median(written)}


def replaying(file: Path) -> dict[str, float]:
    """Ten policies over the whole session; seconds of the processor."""
    from benchmarks.replaying import replaying as replayed

    found = replayed(file)
    return {"seconds": found["seconds"], "read_and_count": found["read_and_count"]}


def stalls(file: Path) -> dict[str, float]:
    """The longest time at a stretch that the event loop was held up, by what was done; milliseconds."""
    from benchmarks.stalls import longest
    from workbench.tui.settings import Home, write_home

    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as folder:
        write_home(Path(folder), lambda _: Home())
        return asyncio.run(longest(file, Path(folder)))


def _peak_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](Path(sys.argv[2]))))
