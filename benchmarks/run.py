"""Measure the workbench on a session of 100 MB: `make bench`, or `python -m benchmarks.run [FILE] [--peer PYTHON]`.

PYTHON is that of an environment with `ccviewer` and `claude-code-log` in it: a Textual viewer of the same files, which
is then measured on the same file and on 5 000 messages in the same way, and what makes a page of them.
`WORKBENCH_PEER` says the same. Without one the peers are left out.

Every figure stands beside its budget and beside a baseline that was measured in the same run, on the same machine and
under the same load: trust the ratios, and where other programs run too those of CPU alone. Each measurement has a
process of its own; what does not take a minute is the median of three.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.generate import FIRST_WORDS, LINES, MEGABYTES, write
from benchmarks.other_formats import bytes_in, written
from benchmarks.terminal import DOWN, END, PAGE_DOWN, TOP, UP, Terminal
from workbench.tui.settings import Home, write_home

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "sample_sessions" / "openai-chat-tools.json"
MARKS: dict[str, bytes | re.Pattern[bytes]] = {
    "first paint": b"Opening",
    "usable": b"msgs  tokens",
    "counted": re.compile(rb"preset [\w-]+"),
}
"""Text on the screen at each stage: opening a file, the heading of the list, the preset in place of the count."""

COMPACTIONS = 9
GO_TO = b"r12 for round"
"""What is said where one types where to go."""
HELP, ABOUT_READING = b"\x1bOP", b"is being read"
"""F1, and what the help says of a session that is not there yet."""
PEER_LINES, PEER_MEGABYTES = 5_000, 8
KEYS = 200
RUNS = 3
REST_S = 8
"""Behind what was done last the program does nothing."""
COMMANDS = (
    ("inspect",),
    ("why",),
    ("compact", "--preset", "claude-code", "-o", "{folder}/compacted.jsonl"),
    ("compare",),
)
NEEDED = "import click, orjson, tiktoken"
FRAME = "16 ms"
KEY = "50 ms"
"""How long a key may wait for its answer. Textual lays out, styles and paints at a stretch, and Python collects garbage
when it would."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run")
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--peer", default=os.environ.get("WORKBENCH_PEER", ""))
    given = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # what is compiled is kept, as where the program is installed
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as folder:
        home = Path(folder)
        os.environ["XDG_CACHE_HOME"] = os.environ["XDG_CONFIG_HOME"] = os.environ["XDG_STATE_HOME"] = folder
        write_home(home / "compaction-workbench", lambda _: Home())
        file = given.file or _generated(home)
        megabytes = file.stat().st_size / 1e6
        print(f"{file.name}: {megabytes:.1f} MB, Python {sys.version.split()[0]}, {os.cpu_count()} cores\n", flush=True)
        _print(("measurement", "measured", "budget", "baseline", "ratio"))
        _print(("-" * 11, "-" * 8, "-" * 6, "-" * 8, "-" * 5))
        _measure(file, megabytes, home)
        if not given.file:
            _newest_first(home)
            _other_formats(file, home)
        _measure_peers(file, home, given.peer)


def _generated(folder: Path) -> Path:
    file = folder / "long.jsonl"
    write(file, LINES, MEGABYTES)
    return file


def _measure(file: Path, megabytes: float, home: Path) -> None:
    parsing, reading = _median("json_alone", file), _median("reading", file)
    _seconds("reading the file", reading["seconds"], "", parsing["seconds"], "orjson.loads of every line")
    tokens, counting = _median("tokens_alone", file), _median("counting", file)
    _seconds(
        f"counting with {counting['engine']}", counting["seconds"], "", tokens["seconds"], "the same texts, one by one"
    )

    inspect = ["-m", "workbench", "inspect", str(SAMPLE)]
    start, alone = (statistics.median(_cpu(*given) for _ in range(5)) for given in (inspect, ["-c", NEEDED]))
    _seconds("CPU of cwb inspect, small session", start, "", alone, NEEDED)
    imports = statistics.median(_import_seconds() for _ in range(3))
    small = statistics.median(_first_paint(SAMPLE) for _ in range(3))
    _seconds("first paint, small session", small, "0.6 s", imports, "import textual.app")
    both = parsing["seconds"] + tokens["seconds"]
    cold = [_opened(file, home, fresh=True) for _ in range(RUNS)]
    seconds = _medians(cold)
    _seconds("first paint", seconds["first paint"], "0.6 s", imports, "import textual.app")
    _seconds("usable", seconds["usable"], "", parsing["seconds"], "orjson.loads of every line")
    _seconds("fully counted", seconds["counted"], "", both, f"orjson and {tokens['engine']}")
    of_both = parsing["cpu"] + tokens["cpu"]
    _seconds("CPU until usable", seconds["CPU until usable"], "", parsing["cpu"], "orjson.loads of every line")
    _seconds("CPU until counted", seconds["CPU until counted"], "", of_both, f"orjson and {tokens['engine']}")
    warm = _medians([_opened(file, home, fresh=False) for _ in range(RUNS)])
    _seconds("usable, opened again", warm["usable"], "", seconds["usable"], "the first time")
    _seconds("fully counted, opened again", warm["counted"], "", seconds["counted"], "the first time")
    if peak := seconds["peak"]:
        most, is_file = parsing["peak_mb"], f"{megabytes:.0f} MB (the file)"
        _row("peak memory", f"{peak:.0f} MB", "", f"{most:.0f} MB (orjson, all lines kept)", f"{peak / most:.2f}")
        for name, found, budget in (
            ("peak memory", peak, 2.0),
            ("memory afterwards", seconds["after"], 1.2),
            ("peak memory, opened again", warm["peak"], 2.0),
        ):
            _row(name, f"{found:.0f} MB", f"{budget * megabytes:.0f} MB", is_file, f"{found / megabytes:.2f}")
    with _workbench(file) as read:
        read.wait_for(MARKS["first paint"])
        _row("first key, while it is read", f"{read.answered(HELP, ABOUT_READING):.0f} ms", "600 ms", "", "")
    with _workbench(file) as moved:
        moved.wait_for(MARKS["counted"])
        _moving(moved)
    for command in COMMANDS:
        given = [word.format(folder=home) for word in command]
        cpu = _cpu("-m", "workbench", given[0], str(file), *given[1:])
        _seconds(f"CPU of cwb {command[0]}", cpu, "", parsing["cpu"], "orjson.loads of every line")
    replayed = _inside("replaying", file)
    _seconds(
        "CPU of replaying ten policies", replayed["seconds"], "8 s", replayed["read_and_count"], "read and counted"
    )

    replanning = _inside("replanning", file)
    _row("replan, median", f"{replanning['median_ms']:.1f} ms", FRAME, "", "")
    _row("replan, slowest", f"{replanning['max_ms']:.1f} ms", "", "", "")
    for name, median in _inside("replanning_by_strategy", file).items():
        _row(f"replan, {name}", f"{median:.1f} ms", FRAME, "", "")
    _row("cancel a silent summarizer", f"{_inside('cancelling', file)['seconds']:.3f} s", "0.3 s", "", "")
    remembering = _inside("remembering", file)
    _row("a pin, until the key is free", f"{remembering['asked_ms']:.1f} ms", FRAME, "", "")
    _row("a pin, until it is on disk", f"{remembering['written_ms']:.1f} ms", "", "", "")
    _a_long_message(home)
    _stalls(file)


def _stalls(file: Path) -> None:
    for name, longest in _inside("stalls", file).items():
        _row(f"longest stall, {name}", f"{longest:.0f} ms", KEY, "", "")


def _moving(terminal: Terminal) -> None:
    """CPU by key beside that of Textual's own list, the middle filled after a key, and CPU while nothing is done."""
    with Terminal([sys.executable, "-m", "benchmarks.bare", "1000"], os.environ) as bare:
        bare.wait_for(b"row 5")
        alone = bare.cpu_per_key(DOWN, KEYS)
    for name, begin, key, times in (
        ("message by message", END, UP, KEYS),
        ("round by round", END, b"K", KEYS),
        ("page by page", TOP, PAGE_DOWN, 25),
    ):
        terminal.settled(begin)
        cpu = terminal.cpu_per_key(key, times)
        budget = "" if key == PAGE_DOWN else KEY
        _row(
            f"CPU per key, {name}",
            f"{cpu:.1f} ms",
            budget,
            f"{alone:.1f} ms (Textual's own list)",
            f"{cpu / alone:.2f}",
        )
    terminal.settled(END)
    settled = statistics.median(terminal.settled(UP) for _ in range(15))
    _row("detail settled after a key", f"{settled:.0f} ms", "120 ms", "", "")
    terminal.idle(REST_S)
    _row("CPU when idle", f"{terminal.idle(5):.2%}", "~0", "", "")


def _a_long_message(home: Path) -> None:
    """A message of a megabyte, gone to from the one before it."""
    file = home / "long-message.json"
    words = "All of these words stand in one message, a megabyte long, and are read page by page. " * 12_000
    said = [{"role": "user", "content": words if number == 1 else f"request {number}"} for number in range(3)]
    answered = [[one, {"role": "assistant", "content": "Yes."}] for one in said]
    file.write_text(json.dumps({"messages": [one for pair in answered for one in pair]}))
    with _workbench(file) as terminal:
        terminal.wait_for(MARKS["counted"])
        times = []
        for _ in range(7):
            terminal.settled(TOP)
            times.append(terminal.settled(b"J"))
    _row("detail settled, 1 MB", f"{statistics.median(times):.0f} ms", "120 ms", "", "")


def _newest_first(home: Path) -> None:
    """As long a session in ten epochs: the newest are on the bench before the rest is read."""
    file = home / "compacted.jsonl"
    write(file, LINES, MEGABYTES, COMPACTIONS)
    parsing, what = _median("json_alone", file), "orjson.loads of every line"
    opened = _medians([_opened(file, home, fresh=True) for _ in range(RUNS)])
    for stage, said in (("usable", "usable, newest epochs first"), ("counted", "all read and counted")):
        _seconds(said, opened[stage], "", parsing["seconds"], what)
        _seconds(f"CPU until {said}", opened[f"CPU until {stage}"], "", parsing["cpu"], what)
    megabytes = file.stat().st_size / 1e6
    is_file = f"{megabytes:.0f} MB (the file)"
    _row("peak memory, so", f"{opened['peak']:.0f} MB", "", is_file, f"{opened['peak'] / megabytes:.2f}")
    _row("longest stall, while the rest is read", f"{_inside('stalls', file)['opening']:.0f} ms", KEY, "", "")
    with _workbench(file) as first:
        first.wait_for(MARKS["usable"])
        _row("first key, while the rest is read", f"{first.answered(b':', GO_TO):.0f} ms", "600 ms", "", "")
    file.unlink()


def _other_formats(file: Path, home: Path) -> None:
    """The same messages as other tools keep them."""
    for name, path in written(file, home):
        parsing, reading = _median("json_alone", path), _median("reading", path)
        opened = _medians([_opened(path, home, fresh=True) for _ in range(RUNS)])
        name, what = f"{name}, {bytes_in(path) / 1e6:.0f} MB", "orjson.loads of every value"
        _seconds(f"reading, {name}", reading["seconds"], "", parsing["seconds"], what)
        for stage in ("usable", "counted"):
            _seconds(f"{stage}, {name}", opened[stage], "", parsing["seconds"], what)
            _seconds(f"CPU until {stage}, {name}", opened[f"CPU until {stage}"], "", parsing["cpu"], what)


def _opened(file: Path, home: Path, *, fresh: bool) -> dict[str, float]:
    """Seconds until each stage, and megabytes; `fresh`: with nothing kept of any session. Waits until what is kept for
    the next time is written, where anything is."""
    kept = home / "compaction-workbench" / "sessions"
    if fresh:
        shutil.rmtree(kept, ignore_errors=True)
        (kept.parent / "token-counts.sqlite").unlink(missing_ok=True)
    with _workbench(file) as terminal:
        found: dict[str, float] = {}
        for name, mark in MARKS.items():
            found[name] = terminal.wait_for(mark)
            found[f"CPU until {name}"] = terminal.cpu_s
        patience = time.monotonic() + 10
        while file.suffix == ".jsonl" and not list(kept.glob("*.weights")) and time.monotonic() < patience:
            terminal.idle(0.5)
        terminal.idle(REST_S)
        return {**found, "peak": terminal.peak_mb, "after": terminal.now_mb}


def _medians(runs: list[dict[str, float]]) -> dict[str, float]:
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def _median(name: str, file: Path) -> dict[str, Any]:
    """The run with the median of seconds."""
    return sorted((_inside(name, file) for _ in range(RUNS)), key=lambda found: float(found["seconds"]))[RUNS // 2]


def _measure_peers(large: Path, home: Path, python: str) -> None:
    if not python:
        print("\nNo peer was measured: --peer names the Python of an environment with ccviewer and claude-code-log.")
        return
    print(f"\n{large.name} in others, in the same run\n", flush=True)
    ours = _medians([_opened(large, home, fresh=True) for _ in range(RUNS)])
    theirs = _medians([_opened_by_ccviewer(python, large, home) for _ in range(RUNS)])
    _seconds("usable", ours["usable"], "", theirs["usable"], "ccviewer")
    _seconds("CPU until usable", ours["CPU until usable"], "", theirs["CPU until usable"], "ccviewer")
    _row("peak memory", f"{ours['peak']:.0f} MB", "", f"{theirs['peak']:.0f} MB (ccviewer)", _ratio(ours, theirs))
    page = ("-m", "claude_code_log.cli", str(large), "-o", str(home / "page.html"), "--combined", "only")
    _seconds(
        "CPU until counted", ours["CPU until counted"], "", _cpu(*page, python=python), "claude-code-log, its page"
    )
    _measure_on_few(home, python)


def _opened_by_ccviewer(python: str, file: Path, home: Path) -> dict[str, float]:
    environment = {**os.environ, "HOME": str(home)}
    with Terminal([python, "-m", "ccviewer", str(file)], environment, patience=600) as peer:
        return {
            "usable": peer.wait_for(FIRST_WORDS.encode()),
            "CPU until usable": peer.cpu_s,
            "peak": peer.peak_mb,
        }


def _ratio(ours: dict[str, float], theirs: dict[str, float]) -> str:
    return f"{ours['peak'] / theirs['peak']:.2f}" if theirs["peak"] else ""


def _measure_on_few(home: Path, python: str) -> None:
    """The same file of 5 000 messages in the workbench and in ccviewer."""
    file = home / "peer.jsonl"
    write(file, PEER_LINES, PEER_MEGABYTES)
    print(f"\n{PEER_LINES} lines, {PEER_MEGABYTES} MB; the baseline is ccviewer in the same run\n", flush=True)
    with _workbench(file) as ours:
        usable = ours.wait_for(MARKS["usable"])
        ours.wait_for(MARKS["counted"])
        ours.settled(TOP)
        cpu, memory = ours.cpu_per_key(DOWN, 100), ours.peak_mb
        ours.settled(TOP)
        settled = ours.settled(DOWN)
    with Terminal([python, "-m", "ccviewer", str(file)], {**os.environ, "HOME": str(home)}) as peer:
        their_usable = peer.wait_for(FIRST_WORDS.encode())
        peer.settled(b"\t")
        their_cpu, their_memory = peer.cpu_per_key(DOWN, 100), peer.peak_mb
        peer.settled(TOP)
        their_settled = peer.settled(DOWN)
    _seconds("usable", usable, "", their_usable, "ccviewer")
    _row("CPU per key", f"{cpu:.1f} ms", "", f"{their_cpu:.1f} ms (ccviewer)", f"{cpu / their_cpu:.2f}")
    _row(
        "detail settled",
        f"{settled:.0f} ms",
        "",
        f"{their_settled:.0f} ms (ccviewer)",
        f"{settled / their_settled:.2f}",
    )
    _row("peak memory", f"{memory:.0f} MB", "", f"{their_memory:.0f} MB (ccviewer)", f"{memory / their_memory:.2f}")


def _workbench(file: Path) -> Terminal:
    return Terminal([sys.executable, "-m", "workbench", "open", str(file), "--fresh"], os.environ)


def _first_paint(file: Path) -> float:
    with _workbench(file) as terminal:
        return terminal.wait_for(MARKS["first paint"])


def _inside(name: str, file: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.inside", name, str(file)]
    run = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def _cpu(*given: str, python: str = sys.executable) -> float:
    """Seconds of the processor, user and system, of a Python process from its start to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([python, *given], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _import_seconds() -> float:
    code = "import time; t = time.perf_counter(); import textual.app; print(time.perf_counter() - t)"
    return float(subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True).stdout)


def _seconds(name: str, measured: float, budget: str, baseline: float, what: str) -> None:
    _row(name, f"{measured:.2f} s", budget, f"{baseline:.2f} s ({what})", f"{measured / baseline:.2f}")


def _row(*cells: str) -> None:
    _print(cells)


def _print(cells: tuple[str, ...]) -> None:
    name, measured, budget, baseline, ratio = cells
    print(f"| {name:48} | {measured:>9} | {budget:>7} | {baseline:44} | {ratio:>5} |", flush=True)


if __name__ == "__main__":
    main()
