"""Measure the workbench on a session of 100 MB: `make bench`, or `python -m benchmarks.run [FILE]`.

Every figure stands beside its budget and beside a baseline that was measured in the same run, on the same machine and
under the same load: trust the ratios. Each measurement has a process of its own; short ones are medians of three.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.generate import LINES, MEGABYTES, write
from benchmarks.terminal import watch

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "sample_sessions" / "openai-chat-tools.json"
MARKS = {"first paint": b"Opening", "usable": b"Rounds", "counted": b"counts: o200k"}
"""What the screen says at each stage: that it opens a file, the title of the list, by what it counted all tokens."""


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as folder:
        os.environ["XDG_CACHE_HOME"] = os.environ["XDG_CONFIG_HOME"] = folder
        file = Path(sys.argv[1]) if len(sys.argv) > 1 else _generated(Path(folder))
        megabytes = file.stat().st_size / 1e6
        print(f"{file.name}: {megabytes:.1f} MB, Python {sys.version.split()[0]}, {os.cpu_count()} cores\n", flush=True)
        _print(("measurement", "measured", "budget", "baseline", "ratio"))
        _print(("-" * 11, "-" * 8, "-" * 6, "-" * 8, "-" * 5))
        _measure(file, megabytes)


def _generated(folder: Path) -> Path:
    file = folder / "long.jsonl"
    write(file, LINES, MEGABYTES)
    return file


def _measure(file: Path, megabytes: float) -> None:
    parsing, reading = _inside("json_alone", file), _inside("reading", file)
    _seconds("reading the file", reading["seconds"], "", parsing["seconds"], "orjson.loads of every line")
    tokens, counting = _inside("tokens_alone", file), _inside("counting", file)
    _seconds(f"counting with {counting['engine']}", counting["seconds"], "", tokens["seconds"], "tiktoken, same texts")

    imports = statistics.median(_import_seconds() for _ in range(3))
    small = statistics.median(watch(SAMPLE, _first(1), os.environ).seconds["first paint"] for _ in range(3))
    _seconds("first paint, small session", small, "0.6 s", imports, "import textual.app")
    cold = watch(file, MARKS, os.environ)
    warm = watch(file, MARKS, os.environ)
    _seconds("first paint", cold.seconds["first paint"], "0.6 s", imports, "import textual.app")
    _seconds("usable", cold.seconds["usable"], "", parsing["seconds"], "orjson.loads of every line")
    both = parsing["seconds"] + tokens["seconds"]
    _seconds("fully counted", cold.seconds["counted"], "", both, "orjson and tiktoken")
    _seconds("usable, opened again", warm.seconds["usable"], "", parsing["seconds"], "orjson.loads of every line")
    _seconds("fully counted, opened again", warm.seconds["counted"], "", both, "orjson and tiktoken")

    replanning = _inside("replanning", file)
    _row("replan, median", f"{replanning['median_ms']:.1f} ms", "16 ms", "", "")
    _row("replan, slowest", f"{replanning['max_ms']:.1f} ms", "", "", "")
    key, alone = _inside("keys", file)["ms"], _inside("keys_alone", file)["ms"]
    _row("CPU per key", f"{key:.1f} ms", "8 ms", f"{alone:.1f} ms (Textual's own list)", f"{key / alone:.2f}")
    if cold.peak_mb:
        budget = f"{2.5 * megabytes:.0f} MB"
        baseline = f"{parsing['peak_mb']:.0f} MB (orjson, all lines kept)"
        _row("peak memory", f"{cold.peak_mb:.0f} MB", budget, baseline, f"{cold.peak_mb / parsing['peak_mb']:.2f}")
        _row("peak memory, opened again", f"{warm.peak_mb:.0f} MB", budget, f"{megabytes:.0f} MB (the file)", "")


def _first(number: int) -> dict[str, bytes]:
    return dict(list(MARKS.items())[:number])


def _inside(name: str, file: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.inside", name, str(file)]
    run = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def _import_seconds() -> float:
    code = "import time; t = time.perf_counter(); import textual.app; print(time.perf_counter() - t)"
    return float(subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True).stdout)


def _seconds(name: str, measured: float, budget: str, baseline: float, what: str) -> None:
    _row(name, f"{measured:.2f} s", budget, f"{baseline:.2f} s ({what})", f"{measured / baseline:.2f}")


def _row(*cells: str) -> None:
    _print(cells)


def _print(cells: tuple[str, ...]) -> None:
    name, measured, budget, baseline, ratio = cells
    print(f"| {name:28} | {measured:>9} | {budget:>7} | {baseline:44} | {ratio:>5} |", flush=True)


if __name__ == "__main__":
    main()
