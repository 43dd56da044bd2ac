"""Damaged sessions through every reader, validator, writer and the library: whatever stands in a file, it is read or
refused in a sentence, within seconds and in bounded memory.

    python -m scripts.fuzz [READER ...] [--minutes 10] [--seed 1] [--exports 20]

Mutates the small sessions that the formats' tests are made of: values, keys and places of their JSON, cells of their
databases, files in their archives, bytes of anything. Readers take turns; of what could be read some (`--exports`
percent) is compacted, exported to whatever was least exported to, and read back. Any error but BadInput, more than
SECONDS of the processor's time and more than MEMORY are findings: the smallest input of each kind is written to
`build/fuzz`, from where it goes to `tests/formats/crashes` together with its mend. Exit code 1 where there is one.
"""

from __future__ import annotations

import argparse
import gc
import io
import json
import random
import resource
import signal
import sqlite3
import sys
import time
import traceback
import zipfile
from collections import Counter as Counts
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha1
from pathlib import Path
from types import FrameType
from typing import Any

import zstandard

import workbench
from tests.formats.test_conformance import samples
from workbench.base.errors import BadInput
from workbench.bench import open_bench
from workbench.compaction.exporting import exported
from workbench.compaction.preset import load_preset, preset_names
from workbench.formats import registry
from workbench.formats.export import export
from workbench.formats.files import load_bytes
from workbench.formats.format import no_progress
from workbench.session import Message, Session, Text, pairs_of, rounds_of
from workbench.tokens import Counter

FOUND = Path(__file__).resolve().parent.parent / "build" / "fuzz"
SECONDS = 5.0
MEMORY = 1 << 30
TOGETHER = 40
"""Inputs of a reader before it is the next one's turn."""

SHORT = 160
"""Characters of a text that are left of those in a seed: what is read fast is tried often."""

EXCERPTS = 12
"""Parts of each seed that are seeds as well."""

NEIGHBOURS = 5

LIBRARY = "library"
"""What is tried beside the formats: lists of messages as an agent has them, given to the calls."""

STYLES = ("anthropic-messages", "openai-chat", "openai-responses", "langchain")
PLACE = Path("some") / "session"


# --- what is done with an input -------------------------------------------------------------------------------------


def read(reader: str, data: bytes, parts: bool = True) -> Session | None:
    """Judge and read it, whole, the last of its parts and every epoch; None where one sentence refused it."""
    known = registry.by_id(reader)
    if known.codec.validate is not None:
        known.codec.validate(data)
    try:
        session = known.codec.read(PLACE, data, no_progress)
        if parts and known.codec.sessions_in is not None and known.codec.read_part is not None:
            for part in known.codec.sessions_in(PLACE, data)[-1:]:
                with suppress(BadInput):
                    known.codec.read_part(PLACE, data, part.id, no_progress)
    except BadInput:
        return None
    for epoch in session.epochs:
        context = session.context(epoch.number)
        pairs_of(context)
        rounds_of(context)
    return session


def opened(data: bytes) -> Session | None:
    """Recognise it among all formats first, as when a file is opened."""
    with suppress(BadInput):
        return load_bytes(PLACE, data)
    return None


def export_to(session: Session, target: str, preset: str) -> None:
    """Compact and export it; "" for a preset exports what stands there."""
    with suppress(BadInput):
        if preset:
            bench = open_bench(session, Counter(), preset=preset)
            outcome = bench.plan.outcome
            exported(session, bench.context.from_outcome(outcome), outcome.messages, target)
        else:
            summary = Message("made", "user", (Text("in short"),), "summary")
            export(session, (summary, *session.context()[2:]), target)


def ask_library(data: bytes, which: int) -> bool:
    """One of the calls with the value that the bytes are, False where it was refused. Raises AssertionError where what
    was given is another afterwards."""
    try:
        given = json.loads(data)
    except (ValueError, RecursionError):
        return False
    calls: Sequence[Callable[[Any], object]] = (
        lambda it: workbench.compact(it, budget_tokens=200),
        lambda it: workbench.compact(it, preset="claude-code", summarize=lambda prompt: "in short \ud83d"),
        lambda it: workbench.compact(it, "trim", pins=("m1",), window=500),
        lambda it: workbench.should_compact(it, window=500),
        lambda it: workbench.summary(it, 200),
        lambda it: workbench.context(it, tools=[{"name": "x"}], system=[{"type": "text", "text": "\ud83d"}]),
    )
    try:
        calls[which % len(calls)](given)
    except BadInput:
        return False
    finally:
        assert json.dumps(given) == json.dumps(json.loads(data)), "what was given is changed"
    return True


@cache
def targets() -> tuple[str, ...]:
    return tuple(one.id for one in registry.targets())


@cache
def presets() -> tuple[str, ...]:
    return ("", *preset_names())


def everything(reader: str, data: bytes) -> None:
    """All that is done with an input, to every target. What the tests do with each of those that once failed."""
    if reader == LIBRARY:
        for which in range(6):
            ask_library(data, which)
        return
    opened(data)
    session = read(reader, data)
    for number, target in enumerate(targets() if session else ()):
        assert session is not None
        export_to(session, target, "")
        export_to(session, target, presets()[number % len(presets())])


# --- what an input is made of ---------------------------------------------------------------------------------------

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**53, 2**64, -(2**70), 10**40, 1e308, 1e18, 0.5, -0.0),
    *(float("nan"), float("inf"), "", " ", "0", "-1", "null", "user", "assistant", "tool", "system", "text"),
    *("tool_use", "tool_result", "summary", "compaction", "2026-13-45T99:99:99Z", "0001-01-01T00:00:00+23:59"),
    *("9999-12-31T23:59:59Z", "\ud83d", "\udca9 x", "\x00", "\u2028", "\ufeff", "../../etc/passwd", "a" * 3000),
    *("{}", "[", '{"a": ', "<summary>", "</summary>", "```", "{{ x }}", [], {}, [[]], [None], [{}], {"": ""}),
    *({"type": None}, {"type": "text", "text": None}, [{"type": "text"}], {"type": {"a": 1}}, [["text"]]),
)
PIECES = (b"", b"\x00", b"\xff", b"\n", b'"', b"{", b"]", b"null", b"NaN", b"1e999", b"\\ud800", b"\xed\xa0\x80", b"-")


@dataclass(frozen=True, eq=False)
class Seed:
    """A session as it can be changed: its JSON (`lines`: one value a line) with the ways to all values, or bytes."""

    data: bytes
    value: Any = None
    lines: bool = False
    ways: tuple[tuple[Any, ...], ...] = ()


@cache
def seeds(reader: str) -> tuple[Seed, ...]:
    if reader != LIBRARY:
        return tuple(_seed(data) for data in samples(reader))
    found = [json.loads(data) for style in STYLES for data in samples(style) if data[:1] in b"[{"]
    bodies = [next((one[key] for key in ("messages", "input") if key in one), one) for one in found]
    return tuple(_seed(json.dumps(body).encode()) for body in bodies)


@cache
def excerpts(reader: str) -> tuple[Seed, ...]:
    """Parts of them that the reader takes, each once."""
    made = {part.data: part for seed in seeds(reader) for part in _excerpts(seed)}
    return tuple(part for part in made.values() if reader == LIBRARY or read(reader, part.data))


def drawn(reader: str, dice: random.Random) -> Seed:
    """Mostly an excerpt, and of all of them smaller ones more often: in the time of a large one many are tried."""
    among = excerpts(reader) if dice.random() < 0.8 else ()
    return dice.choices(among or seeds(reader), _weights(among or seeds(reader)))[0]


@cache
def _weights(among: tuple[Seed, ...]) -> tuple[float, ...]:
    return tuple(1 / (1_000 + len(seed.data)) for seed in among)


def _excerpts(seed: Seed) -> Iterator[Seed]:
    """The same with a few neighbours of each long list behind its first: read sooner, and some of it is missing."""
    dice = random.Random(len(seed.data))
    for _ in range(EXCERPTS if seed.ways else 0):
        value = _thinned(seed.value, dice)
        yield Seed(_told(value, seed.lines), value, seed.lines, tuple(_ways(value)))


def _thinned(value: Any, dice: random.Random) -> Any:
    if isinstance(value, dict):
        return {key: _thinned(inner, dice) for key, inner in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) > NEIGHBOURS:
        at = dice.randrange(1, len(value))
        value = [value[0], *value[at : at + dice.randint(1, NEIGHBOURS)]]
    return [_thinned(inner, dice) for inner in value]


def _seed(data: bytes) -> Seed:
    if data.lstrip()[:1] not in (b"{", b"["):
        return Seed(data)
    value, lines = None, False
    try:
        value = json.loads(data)
    except ValueError:
        with suppress(ValueError):
            value, lines = [json.loads(line) for line in data.splitlines() if line.strip()], True
    if value is None:
        return Seed(data)
    value = _shortened(value)
    return Seed(_told(value, lines), value, lines, tuple(_ways(value)))


def _shortened(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shortened(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_shortened(inner) for inner in value]
    return value[:SHORT] if isinstance(value, str) and value[:1] not in ("{", "[") else value


def _ways(value: Any, so_far: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield so_far
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from _ways(one, (*so_far, key))


def _told(value: Any, lines: bool) -> bytes:
    if lines and isinstance(value, list):
        return b"\n".join(json.dumps(line).encode() for line in value) + b"\n"
    return json.dumps(value).encode()


def mutated(seed: Seed, dice: random.Random) -> bytes:
    if seed.ways and dice.random() < 0.75:
        value = seed.value
        for _ in range(dice.choice((1, 1, 1, 2, 3, 6))):
            with suppress(LookupError, TypeError):
                value = _changed(value, dice.choice(seed.ways), seed, dice)
        try:
            data = _told(value, seed.lines)
        except RecursionError:
            data = seed.data
        return data if dice.random() < 0.9 else bytes_changed(data, dice)
    if seed.data.startswith(b"SQLite format 3\x00") and dice.random() < 0.6:
        return _cells_changed(seed.data, dice)
    if seed.data.startswith(b"PK\x03\x04") and dice.random() < 0.7:
        return _archive_changed(seed.data, dice)
    if seed.data.startswith(b"\x28\xb5\x2f\xfd") and dice.random() < 0.8:
        return zstandard.compress(mutated(_unpacked(seed.data), dice))
    return bytes_changed(seed.data, dice)


@cache
def _unpacked(data: bytes) -> Seed:
    return _seed(zstandard.decompress(data))


def _changed(value: Any, way: tuple[Any, ...], seed: Seed, dice: random.Random) -> Any:
    """A copy with the value at the end of a way replaced, left out, doubled or moved. Raises LookupError or TypeError
    where an earlier change took the way."""
    if not way:
        return _other(value, seed, dice)
    key, *rest = way
    holder = _copy(value)
    if rest:
        holder[key] = _changed(value[key], tuple(rest), seed, dice)
        return holder
    match dice.randrange(8):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, list):
            holder.insert(dice.randrange(len(holder) + 1), holder[key])
        case 1:
            holder[dice.choice(("type", "id", "role", "content", "text", "x", ""))] = holder.pop(key)
        case 2 if isinstance(holder, list):
            holder.insert(dice.randrange(len(holder) + 1), holder.pop(key))
        case _:
            holder[key] = _other(holder[key], seed, dice)
    return holder


def _copy(holder: Any) -> Any:
    if not isinstance(holder, dict | list):
        raise TypeError
    return holder.copy()


def _other(value: Any, seed: Seed, dice: random.Random) -> Any:
    match dice.randrange(10):
        case 0 | 1 | 2 if isinstance(value, str) and value[:1] in ("{", "[") and len(value) > 2:  # JSON within JSON
            return mutated(_seed(value.encode()), dice).decode("utf-8", "replace")
        case 0 | 1 | 2:  # of the right sort perhaps, in the wrong place: ids that are there twice, links in circles
            other = seed.value
            for step in dice.choice(seed.ways):
                other = other[step]
            return other
        case 3:
            return [value]
        case 4:
            return {dice.choice(("type", "text", "content", "x")): value}
        case 5 if isinstance(value, str):
            at = dice.randrange(len(value) + 1)
            return (
                value[:at]
                + dice.choice(("\ud83d", "\x00", "\n", "\x1b[2J", "\u202e", "</", '"', "é" * 40))
                + value[at:]
            )
        case 6 if isinstance(value, str):
            return value[: dice.randrange(len(value) + 1)]
        case 7 if dice.random() < 0.1:
            for _ in range(dice.choice((30, 190, 201, 240, 600, 900))):
                value = [value] if dice.random() < 0.5 else {"a": value}
            return value
        case _:
            return dice.choice(ODD)


def bytes_changed(data: bytes, dice: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 5))):
        at = dice.randrange(len(changed) + 1)
        match dice.randrange(6):
            case 0:
                del changed[at : at + dice.choice((1, 2, 9, 400))]
            case 1:
                del changed[at:]
            case 2:
                changed[at:at] = changed[at : at + 400]
            case 3 if changed:
                changed[min(at, len(changed) - 1)] = dice.randrange(256)
            case 4:
                changed[at : at + 4] = dice.randbytes(4)
            case _:
                changed[at : at + dice.choice((0, 1))] = dice.choice(PIECES)
    return bytes(changed)


def _cells_changed(data: bytes, dice: random.Random) -> bytes:
    with closing(sqlite3.connect(":memory:")) as base:
        base.deserialize(data)
        names = [name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for _ in range(dice.choice((1, 2, 4))):
            table = dice.choice(names)
            column = dice.choice([row[1] for row in base.execute(f'PRAGMA table_info("{table}")')])
            found = base.execute(f'SELECT rowid, "{column}" FROM "{table}" ORDER BY random() LIMIT 1').fetchone()
            if found is None:
                continue
            with suppress(sqlite3.Error, OverflowError, UnicodeEncodeError):
                base.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = ?', (_cell(found[1], dice), found[0]))
        base.commit()
        return base.serialize()


def _cell(value: Any, dice: random.Random) -> Any:
    raw = value.encode() if isinstance(value, str) else value
    if isinstance(raw, bytes) and dice.random() < 0.7:
        made = mutated(_seed(raw), dice)
        return made if isinstance(value, bytes) or dice.random() < 0.2 else made.decode(errors="replace")
    odd = dice.choice(ODD)
    return json.dumps(odd) if isinstance(odd, list | dict) else odd


def _archive_changed(data: bytes, dice: random.Random) -> bytes:
    into = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as new:
        chosen = dice.choice(old.namelist())
        for name in old.namelist():
            inner = old.read(name)
            if name != chosen or dice.random() < 0.95:
                new.writestr(name, mutated(_seed(inner), dice) if name == chosen else inner)
    return into.getvalue()


# --- the watch over it ----------------------------------------------------------------------------------------------


class TookLong(BaseException):
    """Not an Exception: nothing that is tried may catch it."""


def _too_long(signal_: int, frame: FrameType | None) -> None:
    raise TookLong(f"more than {SECONDS:.0f} s")


@contextmanager
def watched() -> Iterator[None]:
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


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
    until, seed = time.monotonic() + seconds, _seed(data)
    if not seed.ways:
        return data
    value = json.loads(data) if not seed.lines else [json.loads(line) for line in data.splitlines() if line.strip()]
    again = True
    while again and time.monotonic() < until:
        again = False
        for way in sorted(_ways(value), key=len):
            for less in (_without, _cut):
                with suppress(LookupError, TypeError):
                    smaller = less(value, way)
                    if time.monotonic() < until and fails(_told(smaller, seed.lines)):
                        value, again = smaller, True
                        break
    made = _told(value, seed.lines)
    return made if fails(made) else data


def _without(value: Any, way: tuple[Any, ...]) -> Any:
    key, *rest = way or (None,)
    holder = _copy(value)
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
    holder = _copy(value)
    holder[way[0]] = _cut(value[way[0]], way[1:])
    return holder


# --- the run --------------------------------------------------------------------------------------------------------


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
            f"slowest {self.slowest:.1f} s, memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10:,} MB",
            f"{len(self.found)} kinds of failures",
            *(f"  {count:6,} {kind}" for kind, count in self.found.items()),
        ]
        return "\n".join(lines)


def one(reader: str, dice: random.Random, tally: Tally, percent: float) -> None:
    try:
        data = mutated(drawn(reader, dice), dice)
    except RecursionError:  # in JSON within JSON that was nested before
        return
    tally.inputs[reader] += 1
    began = time.process_time()
    if reader == LIBRARY:
        which, taken = dice.randrange(6), [False]
        if error := failure(lambda: taken.append(ask_library(data, which))):
            tally.note(reader, data, error, lambda smaller: ask_library(smaller, which))
        tally.taken[reader] += taken[-1]
    else:
        sessions: list[Session | None] = [None]
        parts = dice.random() < 0.3
        through = opened if dice.random() < 0.1 else lambda data: read(reader, data, parts)
        if error := failure(lambda: sessions.append(through(data))):
            tally.note(reader, data, error, through)
        session = sessions[-1]
        tally.taken[reader] += session is not None
        if session is not None and dice.random() * 100 < percent:
            _exports(reader, session, data, dice, tally)
    tally.slowest = max(tally.slowest, time.process_time() - began)


def _exports(reader: str, session: Session, data: bytes, dice: random.Random, tally: Tally) -> None:
    """To the format itself and to what was exported to least."""
    preset = dice.choice(presets()) if dice.random() < 0.5 else ""
    own = [target for target in targets() if target.partition(":")[0] == session.format]
    for target in {*own, *sorted(targets(), key=lambda one: tally.exports[one])[:3]}:
        tally.exports[target] += 1
        if error := failure(lambda target=target: export_to(session, target, preset)):  # type: ignore[misc]

            def fails(smaller: bytes, target: str = target) -> None:
                again = read(reader, smaller)
                if again is not None:
                    export_to(again, target, preset)

            tally.note(f"{reader}", data, error, fails)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("readers", nargs="*", help="ids of formats, or library; all of them without")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--exports", type=float, default=20, metavar="PERCENT")
    wanted = parser.parse_args()
    readers = wanted.readers or [*(known.id for known in registry.FORMATS), LIBRARY]
    for preset in preset_names():
        load_preset(preset)
    signal.signal(signal.SIGPROF, _too_long)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.RLIM_INFINITY))
    dice, tally = random.Random(wanted.seed), Tally()
    for reader in readers:
        drawn(reader, dice)
    gc.freeze()
    until = time.monotonic() + wanted.minutes * 60
    told = time.monotonic()
    while time.monotonic() < until:
        for reader in readers:
            for _ in range(TOGETHER):
                one(reader, dice, tally, wanted.exports)
            if time.monotonic() > until:
                break
        if time.monotonic() - told > 60:
            told = time.monotonic()
            print(tally.told(), flush=True)
    print(tally.told())
    return 1 if tally.found else 0


if __name__ == "__main__":
    sys.exit(main())
