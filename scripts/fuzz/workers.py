"""The processes that commands run in: each with limits, replaced when it dies, watched by the one that started it."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import tempfile
import time
import warnings
from collections import Counter as Counts
from dataclasses import dataclass, field, replace
from hashlib import sha1
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from scripts.fuzz import archives, folders, stores
from scripts.fuzz.commands import SECONDS, Run, emptied, lay_out, line, outcome_of, runs, sessions
from scripts.fuzz.watch import FOUND, start

SAVED = FOUND / "commands"
"""Where each failure lies: the input, and a text with the command that repeats it."""

LIFE = 400
"""Inputs that a process runs before another takes its place: what is kept between commands helps and hides."""

SILENT = 300.0
"""Seconds after which a process is killed that reports nothing: it waits for something."""

TELLING = 120.0

NAMES = ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")


@dataclass(frozen=True)
class Report:
    """What a process says: before a run what it is about to do, and afterwards what came out of it.

    run: () while the input is made; code: the exit code, None before the run is done; seconds: of the processor's time;
    peak: the most memory in MB.
    """

    number: int
    kind: str
    run: Run
    path: str
    code: int | None = None
    seconds: float = 0.0
    peak: int = 0
    fault: str = ""
    trace: str = ""


@dataclass
class Tally:
    """Figures of all runs. `slowest` and `largest` by command, `codes` by command and exit code."""

    seed: int
    inputs: Counts[str] = field(default_factory=Counts)
    codes: Counts[tuple[str, int]] = field(default_factory=Counts)
    slowest: dict[str, float] = field(default_factory=dict)
    largest: dict[str, int] = field(default_factory=dict)
    found: Counts[str] = field(default_factory=Counts)
    printed: float = field(default_factory=time.monotonic)

    def tell(self) -> None:
        """Print the figures so far, once in TELLING seconds."""
        if time.monotonic() - self.printed > TELLING:
            self.printed = time.monotonic()
            print(self.words(), flush=True)

    def take(self, report: Report, into: Path) -> None:
        """Count a run that is done; where it failed, keep its input."""
        command = report.run[0] if report.run else "making"
        self.codes[command, report.code or 0] += 1
        self.slowest[command] = max(self.slowest.get(command, 0.0), report.seconds)
        self.largest[command] = max(self.largest.get(command, 0), report.peak)
        if report.fault:
            self.found[report.fault] += 1
            self._keep(report, into)

    def _keep(self, report: Report, into: Path) -> None:
        """The smallest input of each failure."""
        name = f"{report.kind}-{sha1(report.fault.encode()).hexdigest()[:8]}"
        at = SAVED / name
        if at.exists() and _size(at) <= _size(into):
            return
        shutil.rmtree(at, ignore_errors=True)
        shutil.copytree(into, at, symlinks=True)
        args = line(report.run, at / Path(report.path).relative_to(into), Path("/tmp/out")) if report.run else []
        repeat = f"cwb {' '.join(args)}\npython -m scripts.fuzz --minutes 0 --seed {self.seed} "
        repeat += f"--first {report.number} --inputs 1\n"
        (SAVED / f"{name}.txt").write_text(f"{report.fault}\n\n{repeat}\n{report.trace}", "utf-8", "backslashreplace")
        print(f"{name}: {report.fault} ({_size(at)} bytes): {' '.join(args)}", flush=True)

    def words(self) -> str:
        """The figures as lines of text."""
        commands = dict.fromkeys(command for command, _ in self.codes)
        lines = [f"seed {self.seed}: {self.inputs.total():,} inputs, {self.codes.total():,} commands"]
        lines += ["inputs by kind: " + ", ".join(f"{kind} {count:,}" for kind, count in self.inputs.items())]
        for command in commands:
            codes = {code: count for (of, code), count in sorted(self.codes.items()) if of == command}
            ends = ", ".join(f"exit {code} {count:,}" for code, count in codes.items())
            lines.append(
                f"{command:8} {sum(codes.values()):7,} runs: {ends}; slowest {self.slowest[command]:.1f} s, "
                f"most memory {self.largest[command]:,} MB"
            )
        lines += [f"{len(self.found)} kinds of failures", *(f"  {n:6,} {fault}" for fault, n in self.found.items())]
        return "\n".join(lines)


def _size(folder: Path) -> int:
    return sum(one.lstat().st_size for one in folder.rglob("*"))


def run_commands(seed: int, first: int, count: int, each: int) -> Tally:
    """Run commands on `count` inputs from number `first` on, `each` of them on each input."""
    tally, number = Tally(seed), first
    sessions(), stores.stores(), archives.bombs()  # made once, before processes are forked that all need them
    for kind in folders.KINDS:
        folders.built(kind)
    with tempfile.TemporaryDirectory(dir=folders.IN_MEMORY) as home:
        while number < first + count:
            number = _one_process(tally, Path(home), range(number, min(number + LIFE, first + count)), each)
    return tally


def _one_process(tally: Tally, home: Path, numbers: range, each: int) -> int:
    """Run the inputs in a process until it is done or dies. Returns the number to go on with."""
    ours, theirs = get_context("fork").Pipe()
    process = get_context("fork").Process(target=_work, args=(theirs, home, tally.seed, numbers, each))
    process.start()
    theirs.close()
    last = Report(numbers.start, "", (), "")
    while True:
        if not ours.poll(SILENT):
            process.kill()
        try:
            last = ours.recv()
        except EOFError:
            break
        if not last.run and last.code == 0:
            tally.inputs[last.kind] += 1
        elif last.code is not None:
            tally.take(last, home / "in")
            ours.send("go on")  # the input may be laid out anew: where the run failed, it is kept
            tally.tell()
    process.join()
    if process.exitcode == 0:
        return numbers.stop
    tally.take(
        replace(last, code=-1, fault=f"ended by {_signal(process)}: {last.run[0] if last.run else 'making'}"),
        home / "in",
    )
    return last.number + 1


def _signal(process: BaseProcess) -> str:
    code = process.exitcode or 0
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


# --- in the process -------------------------------------------------------------------------------------------------


def _work(parent: Connection, home: Path, seed: int, numbers: range, each: int) -> None:
    """Make each input and run its commands."""
    for name in NAMES:
        os.environ[name] = str(emptied(home / "home") / name.lower())
    os.sched_getaffinity = lambda process: {0}  # type: ignore[assignment]  # no processes of its own
    tempfile.tempdir = str(home)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")  # zip archives with a name twice are made on purpose
    start()
    for number in numbers:
        into, out = emptied(home / "in"), emptied(home / "out") / "made"
        report = Report(number, "", (), str(into))
        parent.send(report)
        _limit_cpu()
        kind, path = lay_out(seed, number, into)
        parent.send(report := replace(report, kind=kind, path=str(path), code=0))
        for run in runs(seed, number, each):
            emptied(out.parent)
            parent.send(replace(report, run=run, code=None))
            _limit_cpu()
            _forget_peak()
            began = time.process_time()
            outcome = outcome_of(line(run, path, out), into)
            seconds = time.process_time() - began
            done = replace(report, run=run, code=outcome.code, seconds=seconds, peak=_peak())
            parent.send(replace(done, fault=outcome.fault, trace=outcome.trace))
            parent.recv()


def _limit_cpu() -> None:
    """Let the system end this process a little after it should have ended the run by itself."""
    used = int(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (used + int(SECONDS) + 5, resource.RLIM_INFINITY))


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    """Most memory since `_forget_peak`, in MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) >> 10
