"""What is measured inside a process, each in one of its own: `python -m benchmarks.inside NAME FILE` prints JSON."""

from __future__ import annotations

import asyncio
import json
import resource
import statistics
import sys
import time
from pathlib import Path
from typing import Any

REPLANS = 30
KEYS = 100


def json_alone(file: Path) -> dict[str, float]:
    """The baseline of reading: every line through orjson, everything kept."""
    import orjson

    began = time.perf_counter()
    with file.open("rb") as lines:
        kept = [orjson.loads(line) for line in lines]
    return {"seconds": time.perf_counter() - began, "lines": len(kept), "peak_mb": _peak_mb()}


def reading(file: Path) -> dict[str, float]:
    """The workbench's reader: messages, branch, epochs, untouched records."""
    from workbench.formats.files import load

    began = time.perf_counter()
    session = load(file)
    return {"seconds": time.perf_counter() - began, "messages": len(session.messages), "peak_mb": _peak_mb()}


def tokens_alone(file: Path) -> dict[str, float]:
    """The baseline of counting: tiktoken over the texts that the workbench counts."""
    from workbench.formats.files import load
    from workbench.tokens.engine import tiktoken_engine
    from workbench.tokens.visible import visible_parts

    texts = [part for message in load(file).context() for part in visible_parts(message) if isinstance(part, str)]
    engine = tiktoken_engine()
    began = time.perf_counter()
    total = sum(engine.count(text).tokens for text in texts)
    return {"seconds": time.perf_counter() - began, "tokens": total, "chars": sum(map(len, texts))}


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
    from workbench import bench as steps
    from workbench.formats.files import load
    from workbench.tokens import Counter

    session = load(file)
    bench = steps.open_bench(session, Counter(None), preset="augment-example")
    _ = bench.plan.after
    found: list[float] = []

    def timed(changed: steps.Bench) -> steps.Bench:
        _ = changed.plan.after
        found.append(1000 * (time.perf_counter() - began))
        return changed

    ids = [message.id for message in bench.messages]
    for number in range(REPLANS):
        began = time.perf_counter()
        bench = timed(steps.move_split(bench, -3))
        began = time.perf_counter()
        bench = timed(steps.set_fields(bench, {"history_tail_size_chars_to_exclude": 30_000 + number}))
        began = time.perf_counter()
        bench = timed(steps.toggle_pin(bench, ids[number * len(ids) // REPLANS]))
    return {"median_ms": statistics.median(found), "max_ms": max(found)}


def keys(file: Path) -> dict[str, float]:
    """CPU of the whole process per cursor key once everything is counted, in milliseconds."""
    from workbench.tui.app import WorkbenchApp

    return asyncio.run(_keys(WorkbenchApp(file)))


def keys_alone(file: Path) -> dict[str, float]:
    """The baseline of a key: Textual's own list with a thousand rows."""
    from textual.app import App, ComposeResult
    from textual.widgets import OptionList

    class Bare(App[None]):
        def compose(self) -> ComposeResult:
            yield OptionList(*(f"row {number}" for number in range(1000)))

    return asyncio.run(_keys(Bare()))


async def _keys(app: Any) -> dict[str, float]:
    async with app.run_test(size=(140, 40)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        await app.workers.wait_for_complete()
        for _ in range(10):
            await pilot.press("down")
        began = time.process_time()
        for _ in range(KEYS):
            await pilot.press("down")
        return {"ms": 1000 * (time.process_time() - began) / KEYS}


def _peak_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](Path(sys.argv[2]))))
