"""What an input is made of: the small sessions that the formats' tests are made of, and how they are damaged."""

from __future__ import annotations

import io
import json
import random
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import zstandard

from scripts.fuzz import folders
from scripts.fuzz.doors import LIBRARY, read
from tests.formats.test_conformance import samples

SHORT = 160
"""Characters of a text that are left of those in a seed: what is read fast is tried often."""

EXCERPTS = 12
"""Parts of each seed that are seeds as well."""

NEIGHBOURS = 5
STYLES = ("anthropic-messages", "openai-chat", "openai-responses", "langchain")

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
    if reader in folders.KINDS:
        return (Seed(folders.packed(folders.built(reader)[1])),)
    if reader != LIBRARY:
        return tuple(seed_of(data) for data in samples(reader))
    found = [json.loads(data) for style in STYLES for data in samples(style) if data[:1] in b"[{"]
    bodies = [next((one[key] for key in ("messages", "input") if key in one), one) for one in found]
    return tuple(seed_of(json.dumps(body).encode()) for body in bodies)


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
        value = thinned(seed.value, dice)
        yield Seed(told(value, seed.lines), value, seed.lines, tuple(ways_in(value)))


def thinned(value: Any, dice: random.Random) -> Any:
    """A copy with the first value and a few neighbours of each long list."""
    if isinstance(value, dict):
        return {key: thinned(inner, dice) for key, inner in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) > NEIGHBOURS:
        at = dice.randrange(1, len(value))
        value = [value[0], *value[at : at + dice.randint(1, NEIGHBOURS)]]
    return [thinned(inner, dice) for inner in value]


def seed_of(data: bytes) -> Seed:
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
    return Seed(told(value, lines), value, lines, tuple(ways_in(value)))


def _shortened(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shortened(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_shortened(inner) for inner in value]
    return value[:SHORT] if isinstance(value, str) and value[:1] not in ("{", "[") else value


def ways_in(value: Any, so_far: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield so_far
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from ways_in(one, (*so_far, key))


def told(value: Any, lines: bool) -> bytes:
    if lines and isinstance(value, list):
        return b"\n".join(json.dumps(line).encode() for line in value) + b"\n"
    return json.dumps(value).encode()


def made(reader: str, dice: random.Random) -> bytes:
    """An input for a reader. Raises RecursionError for JSON within JSON that was nested before."""
    if reader in folders.KINDS:
        files = folders.built(reader)[1]
        return folders.packed(folders.changed(files, dice, lambda data: mutated(_of_file(data), dice)))
    return mutated(drawn(reader, dice), dice)


@cache
def _of_file(data: bytes) -> Seed:
    return seed_of(data)


def mutated(seed: Seed, dice: random.Random) -> bytes:
    if seed.ways and dice.random() < 0.75:
        value = seed.value
        for _ in range(dice.choice((1, 1, 1, 2, 3, 6))):
            with suppress(LookupError, TypeError):
                value = _changed(value, dice.choice(seed.ways), seed, dice)
        try:
            data = told(value, seed.lines)
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
    return seed_of(zstandard.decompress(data))


def _changed(value: Any, way: tuple[Any, ...], seed: Seed, dice: random.Random) -> Any:
    """A copy with the value at the end of a way replaced, left out, doubled or moved. Raises LookupError or TypeError
    where an earlier change took the way."""
    if not way:
        return _other(value, seed, dice)
    key, *rest = way
    holder = copied(value)
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


def copied(holder: Any) -> Any:
    if not isinstance(holder, dict | list):
        raise TypeError
    return holder.copy()


def _other(value: Any, seed: Seed, dice: random.Random) -> Any:
    match dice.randrange(10):
        case 0 | 1 | 2 if isinstance(value, str) and value[:1] in ("{", "[") and len(value) > 2:  # JSON within JSON
            return mutated(seed_of(value.encode(errors="replace")), dice).decode("utf-8", "replace")
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
        base.deserialize(data[:18] + b"\x01\x01" + data[20:])  # in memory it can have no log
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
        written = base.serialize()
        return written[:18] + data[18:20] + written[20:]


def _cell(value: Any, dice: random.Random) -> Any:
    raw = value.encode() if isinstance(value, str) else value
    if isinstance(raw, bytes) and dice.random() < 0.7:
        made = mutated(seed_of(raw), dice)
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
                new.writestr(name, mutated(seed_of(inner), dice) if name == chosen else inner)
    return into.getvalue()
