"""The watch over what is tried: time, memory, and by what failures are told apart."""

from __future__ import annotations

import gc
import json
import resource
import signal
import time
import traceback
from collections import Counter as Counts
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha1
from pathlib import Path
from types import FrameType
from typing import Any

from scripts.fuzz.inputs import copied, seed_of, told, ways_in

FOUND = Path(__file__).resolve().parents[2] / "build" / "fuzz"
SECONDS = 5.0
MEMORY = 1 << 30


class TookLong(BaseException):
    """Not an Exception: nothing that is tried may catch it."""


def _too_long(signal_: int, frame: FrameType | None) -> None:
    raise TookLong("more of the processor's time than an input may take")


@contextmanager
def watched(seconds: float = SECONDS) -> Iterator[None]:
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def start() -> None:
    """Limit the process to MEMORY from here on; what is there already is no garbage."""
    signal.signal(signal.SIGPROF, _too_long)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.RLIM_INFINITY))
    gc.freeze()


def kind_of(error: BaseException) -> str:
    """By what findings are told apart: the error, and where in the workbench it came from."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [one for one in frames if "/workbench/" in one.filename] or frames
    where = "" if isinstance(error, TookLong) else f":{own[-1].name}"
    return f"{type(error).__name__} {own[-1].filename.rpartition('/workbench/')[2]}{where}"


def failure(tried: Callable[[], object]) -> BaseException | None:
    try:
        with watched():
            tried()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return error
    return None


def smallest(data: bytes, fails: Callable[[bytes], bool], seconds: float = 20.0) -> bytes:
    """A smaller input that fails in the same way: values are left out and texts shortened while it does."""
    until, seed = time.monotonic() + seconds, seed_of(data)
    if not seed.ways:
        return data
    value = json.loads(data) if not seed.lines else [json.loads(line) for line in data.splitlines() if line.strip()]
    again = True
    while again and time.monotonic() < until:
        again = False
        for way in sorted(ways_in(value), key=len):
            for less in (_without, _cut):
                with suppress(LookupError, TypeError):
                    smaller = less(value, way)
                    if time.monotonic() < until and fails(told(smaller, seed.lines)):
                        value, again = smaller, True
                        break
    made = told(value, seed.lines)
    return made if fails(made) else data


def _without(value: Any, way: tuple[Any, ...]) -> Any:
    key, *rest = way or (None,)
    holder = copied(value)
    if rest:
        holder[key] = _without(value[key], tuple(rest))
    else:
        del holder[key]
    return holder


def _cut(value: Any, way: tuple[Any, ...]) -> Any:
    if not way:
        if not isinstance(value, str) or len(value) < 2:
            raise TypeError
        return value[: len(value) // 2]
    holder = copied(value)
    holder[way[0]] = _cut(value[way[0]], way[1:])
    return holder


@dataclass
class Tally:
    """What was tried. `exports` are counted by target, everything else by reader."""

    inputs: Counts[str] = field(default_factory=Counts)
    taken: Counts[str] = field(default_factory=Counts)
    exports: Counts[str] = field(default_factory=Counts)
    found: dict[str, int] = field(default_factory=dict)
    slowest: float = 0.0

    def note(self, reader: str, data: bytes, error: BaseException, fails: Callable[[bytes], object]) -> None:
        kind = kind_of(error)
        self.found[kind] = self.found.get(kind, 0) + 1
        if self.found[kind] > 1:
            return

        def alike(smaller: bytes) -> bool:
            again = failure(lambda: fails(smaller))
            return again is not None and kind_of(again) == kind

        if not isinstance(error, TookLong | MemoryError):
            data = smallest(data, alike)
        FOUND.mkdir(parents=True, exist_ok=True)
        name = f"{reader}-{sha1(kind.encode()).hexdigest()[:8]}"
        (FOUND / name).write_bytes(data)
        trace = "".join(traceback.format_exception(error))
        (FOUND / f"{name}.txt").write_text(trace[-6000:], "utf-8", "backslashreplace")
        print(f"{name}: {kind}: {str(error)[:150]!a} ({len(data)} bytes)", flush=True)

    def told(self) -> str:
        lines = [
            f"{self.inputs.total():,} inputs, {self.taken.total():,} of them read; {self.exports.total():,} exports",
            "reader: inputs, read     " + "  ".join(f"{r} {n:,}, {self.taken[r]:,}" for r, n in self.inputs.items()),
            "writer: exports          " + "  ".join(f"{name} {count:,}" for name, count in self.exports.items()),
            f"{self.inputs.total() / time.process_time():,.0f} inputs in a second of the processor's time, "
            f"slowest {self.slowest:.1f} s, memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10:,} MB",
            f"{len(self.found)} kinds of failures",
            *(f"  {count:6,} {kind}" for kind, count in self.found.items()),
        ]
        return "\n".join(lines)
