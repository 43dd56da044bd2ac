"""JSONL as agents really write it: fast where it is clean, forgiving where it is not.

Seen in real files: two objects on one line after a concurrent append, a last line that was cut
off, halves of surrogate pairs, NaN, NUL padding after a crash, a byte order mark, CRLF.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import orjson
from msgspec import Struct

from workbench.base.figures import grouped
from workbench.base.values import is_too_deep
from workbench.formats.kit.bounds import beyond, enough
from workbench.formats.kit.odd import TOLD
from workbench.session import LoadWarning, Records

_BOM = b"\xef\xbb\xbf"
_EDGES = b" \t\r\x00"
_BLANK = _EDGES + b"\n"
_SAID = re.compile(rb"[^ \t\r\n\x00]")
_DECODER = json.JSONDecoder(strict=False)
_LEFT_OUT = "NUL bytes left by a crash; ignored"
_OBJECT = re.compile(r"\{\s*\"")
_NULS = re.compile(rb"\x00(?:[^\n]*\x00)?")
"""The NUL bytes of a blank line, from the first to the last."""
_NO_NULS = re.compile(r"[\s\x00]*")
_TWO_KEYS = re.compile(r'(\{\s*"[^"\\]*"\s*:)\s*(?:"(?:[^"\\]|\\.)*"|[\w.+-]+)\s*,\s*"([^"\\]*)"\s*:', re.DOTALL)
"""How a record opens: its first key with a plain value, and its second key."""

_OVERLAP = 8
"""Characters of the next record that a cut one may seem to hold, or back from where it makes no sense: the longest
is an escape (`\\ud83d`)."""

_TRIES = 64
"""Places in a cut record at which the next one is looked for: each costs a look at the whole line."""

MOST_DIGITS = 300
"""Digits of an integer that is read, its sign among them: a float takes the sum of as many as a file holds."""

_HEX = r"[0-9a-fA-F]{2}"
_MAY_BE_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPES = re.compile(rf"\\(?:u[dD][89abAB]{_HEX}\\u[dD][c-fC-F]{_HEX}|u[dD]([89a-fA-F]){_HEX}|.)", re.DOTALL)


class Record(NamedTuple):
    """One JSON value and where it lies: `data[start:stop]`, beginning on 1-based `line`.

    `problem` says what was odd about it, "" when nothing was. A record that cannot be read at all has `readable` False
    and the value None, and so have NUL bytes that fill lines. Strings in `value` never hold half a surrogate pair: it
    became U+FFFD.
    """

    start: int
    stop: int
    line: int
    value: Any
    problem: str = ""
    readable: bool = True


class Lines(Struct, frozen=True):
    """A file of lines while it is read: its records in order, where they are put down, and how many bytes it has."""

    found: Iterable[Record]
    records: Records
    size: int


class Longer(Exception):
    """A line holds more than is read at once: only the whole file tells what to do with it."""


BLOCK = 1 << 20
"""Bytes of a file that are read at once; a longer line is decoded where it lies, for a copy is as large as it is."""


def lines_of(data: bytes) -> Lines:
    return Lines(records_of(data), Records(data), len(data))


def lines_in(file: BinaryIO, size: int, tell: Callable[[bytes], object], block: int | None = None) -> Lines:
    """The same of a file of about `size` bytes, of which a block at a time is in memory (`block` bytes, for None
    `BLOCK`); `tell` is given each.

    Its records are put down as those of a file that is being read. Whoever asks for the next one may be raised Longer,
    and OSError.
    """
    return Lines(_records_in(file, tell, block or BLOCK), Records.being_read(file), size)


def _records_in(file: BinaryIO, tell: Callable[[bytes], object], size: int) -> Iterator[Record]:
    rest, before, line = b"", 0, 0
    while block := file.read(size):
        tell(block)
        data = rest + block
        end = data.rfind(b"\n") + 1
        if len(data) > enough() and not 0 <= data.find(b"\n") <= enough():
            raise Longer
        yield from _records(data, 0 if before else _begin(data), end, before, line)
        before, line, rest = before + end, line + data.count(b"\n", 0, end), data[end:]
    yield from _records(rest, 0 if before else _begin(rest), len(rest), before, line)


def records_of(data: bytes, end: int | None = None) -> Iterator[Record]:
    """Every record of a JSONL file in order, of its first `end` bytes where that is given. Never raises; blank lines
    give nothing."""
    return _records(data, _begin(data), len(data) if end is None else end, 0, 0)


def _begin(data: bytes) -> int:
    return len(_BOM) if data.startswith(_BOM) else 0


def _records(data: bytes, at: int, end: int, before: int, line: int) -> Iterator[Record]:
    """Those of `data[at:end]`, which stands in its file behind so many bytes and lines."""
    short = enough()
    while at < end:
        if data[at] in _BLANK:  # a file may end in millions of such lines
            said = _SAID.search(data, at, end)
            begin = end if said is None else max(at, data.rfind(b"\n", at, said.start()) + 1)
            counted, ahead = at, line + 1
            for padding in _NULS.finditer(data, at, begin):
                ahead += data.count(b"\n", counted, padding.start())
                counted = padding.start()
                yield _padding(before + counted, before + padding.end(), ahead, padding[0].count(0))
            if said is None:
                return
            line += data.count(b"\n", at, begin)
            at = begin
        line += 1
        newline = data.find(b"\n", at, end)
        stop = end if newline < 0 else newline
        start = before + at
        if stop - at > short and (much := beyond(data, at, stop)):
            yield _unreadable(start, before + stop, line, f"holds {much}, too much for a session")
            at = stop + 1
            continue
        try:
            value = orjson.loads(data[at:stop] if stop - at <= BLOCK else memoryview(data)[at:stop])
        except orjson.JSONDecodeError:
            yield from _odd_line(data[at:stop], start, line, last=newline < 0)
        else:
            edge = before + (stop - 1 if data.endswith(b"\r", at, stop) else stop)
            if is_too_deep(value, data, at, stop):
                yield _unreadable(start, edge, line, "nested too deeply")
            else:
                yield tuple.__new__(Record, (start, edge, line, value, "", True))
        at = stop + 1


def objects_of(
    found: Iterable[Record],
    size: int,
    records: Records,
    warnings: list[LoadWarning],
    progress: Callable[[int, int], None],
) -> Iterator[tuple[dict[str, Any], int, int]]:
    """The objects among records, each with the index it has in `records` and its line.

    Every record is added to `records`; what is odd about one, or that it is no object, is warned of: of the first ones
    by their lines, of the others together. `size` is that of the whole file in bytes, for the progress.
    """
    due, odd = 0, 0
    for record in found:
        if record.start >= due:
            progress(record.start, size)
            due = record.start + (1 << 20)
        index = records.add(record.start, record.stop, record.line)
        problem = record.problem
        if isinstance(record.value, dict):
            yield record.value, index, record.line
        elif record.readable:
            problem = "; ".join(filter(None, (problem, "not a JSON object; kept in the file, not shown")))
        if problem:
            odd += 1
            if odd <= TOLD:
                warnings.append(LoadWarning(problem, record.line))
    if odd > TOLD:
        warnings.append(LoadWarning(f"{grouped(odd - TOLD)} more lines with problems"))
    progress(size, size)


def left_out(records: str, unknown: Counter[str]) -> list[LoadWarning]:
    """A warning of the records, called so, of kinds that nothing is known of."""
    kinds = ", ".join(f"{kind} ({count})" for kind, count in sorted(unknown.items()))
    return [LoadWarning(f"holds {records} of unknown kinds, left out: {kinds}")] if kinds else []


def object_of(raw: bytes) -> dict[str, Any] | None:
    """The object that a record holds, None for one that is damaged or holds something else; the reader warned of it."""
    try:
        value = loads_bounded(raw)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def loads(raw: bytes) -> Any:
    """Decode JSON that orjson refuses: invalid UTF-8, halves of surrogate pairs, NaN, control characters in strings.

    Raises ValueError when it is not JSON even so.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return loads_text(raw.decode("utf-8", "replace"))


def loads_bounded(raw: bytes) -> Any:
    """The same of what a file holds that was not read yet. Raises ValueError also where it is nested too deeply."""
    return _not_too_deep(loads(raw), raw)


def loads_text(text: str) -> Any:
    """The same for what was decoded. Strings in the value never hold half a surrogate pair: it became U+FFFD. Raises
    ValueError, as JSONDecodeError with the place where that is known."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return loads_whole(whole(text))
    return _not_too_deep(value, text)


def loads_whole(text: str) -> Any:
    """The same of what `whole` gave."""
    try:
        value = json.loads(text, strict=False, parse_int=_integer)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return _not_too_deep(value, text)


def _integer(digits: str) -> int | float:
    """An integer that any calculation takes; one of more than MOST_DIGITS digits becomes a float, as `1e400` does."""
    return int(digits) if len(digits) <= MOST_DIGITS else float(digits)


def _not_too_deep(value: Any, text: bytes | str) -> Any:
    if is_too_deep(value, text):
        raise ValueError("nested too deeply")
    return value


def whole(text: str) -> str:
    """JSON with each escape of half a surrogate pair as that of U+FFFD, which is as long. No file, request or terminal
    takes such a half, and every door would have to look for it. The text itself where there is none."""
    return _ESCAPES.sub(_whole_escape, text) if _MAY_BE_HALF.search(text) else text


def _odd_line(chunk: bytes, at: int, line: int, *, last: bool) -> Iterator[Record]:
    """The records of a line that is not one clean JSON value: none, one, or several."""
    body = chunk.strip(_EDGES)
    if not body:
        if padding := chunk.count(0):
            yield _padding(at + chunk.index(0), at + chunk.rindex(0) + 1, line, padding)
        return
    at += chunk.index(body)
    pieces = _pieces(body)
    padding = chunk.count(0) - sum(body.count(0, start, stop) for start, stop in pieces)
    beside = f"{grouped(padding)} {_LEFT_OUT}" if padding else ""
    for number, (start, stop) in enumerate(pieces):
        raw = body[start:stop]
        try:
            value = loads_bounded(raw)
        except ValueError:
            cut_off = last and number == len(pieces) - 1
            problem = "the file ends inside this line" if cut_off else "not JSON"
            if number < len(pieces) - 1:
                problem = "is cut off, and another record follows on the same line"
            yield _unreadable(at + start, at + stop, line, "; ".join(filter(None, (beside, problem))))
        else:
            problem = "; ".join(filter(None, (_problem(raw, number), beside)))
            yield Record(at + start, at + stop, line, value, problem)
        beside = ""


def is_padding(record: Record) -> bool:
    """True for NUL bytes that fill lines: there is nothing in them that could be read."""
    return not record.readable and record.problem.endswith(_LEFT_OUT)


def _padding(start: int, stop: int, line: int, count: int) -> Record:
    return Record(start, stop, line, None, f"{grouped(count)} {_LEFT_OUT}", readable=False)


def _unreadable(start: int, stop: int, line: int, problem: str) -> Record:
    return Record(start, stop, line, None, f"{problem}; kept in the file, not shown", readable=False)


def _problem(raw: bytes, number: int) -> str:
    if number:
        return "a second record on the same line"
    try:
        orjson.loads(raw)
    except orjson.JSONDecodeError:
        return "not strict JSON (invalid characters, NaN or similar); read anyway"
    return ""


def _pieces(body: bytes) -> list[tuple[int, int]]:
    """Byte spans of the JSON values that stand side by side in `body`, and of what is none between and behind them."""
    text = body.decode("latin-1")  # one character per byte
    pieces: list[tuple[int, int]] = []
    at, end = 0, len(text)
    while at < end:
        try:
            stop = _DECODER.raw_decode(text, at)[1]
        except json.JSONDecodeError as error:
            stop = _end_of_cut_record(text, at, error.pos)
        except (ValueError, RecursionError):
            stop = end
        pieces.append((at, stop))
        while stop < end and text[stop] in " \t\r\x00":
            stop += 1
        at = stop
    return pieces


def _end_of_cut_record(text: str, at: int, broken: int) -> int:
    """Return the start of the next complete record after the cut one at `at`, which stops being JSON at `broken`; the
    end of the text if there is none.

    A record that was cut within a string or a word makes sense for a few characters more: the quotation mark of the
    next one ends the string. Cut before a value, it takes the next record for that value, and goes on to the end.
    """
    for _ in range(_TRIES):
        if broken >= len(text):
            break
        first = max(at + 1, broken - _OVERLAP)
        padded = _NO_NULS.match(text, broken)
        found = _OBJECT.search(text, first, (padded.end() if padded else broken) + _OVERLAP)
        if found is None:
            break
        try:
            _DECODER.raw_decode(text, found.start())
        except json.JSONDecodeError as error:
            at, broken = found.start(), error.pos  # cut as well, perhaps before one that is not
        except (ValueError, RecursionError):
            break
        else:
            return _same_kind(text, at, found.start())
    return _same_kind(text, at, len(text))


def _same_kind(text: str, at: int, end: int) -> int:
    """Return the start of a value inside the cut record at `at` that has the record's first two keys and reaches to
    `end`: it is the next record. Return `end` if there is none."""
    opening = _TWO_KEYS.match(text, at, end)
    if opening is None:
        return end
    for found in islice(re.compile(re.escape(opening[1])).finditer(text, at + 1, end), _TRIES):
        keys = _TWO_KEYS.match(text, found.start(), end)
        if keys is None or keys[2] != opening[2]:
            continue
        try:
            stop = _DECODER.raw_decode(text, found.start())[1]
        except (ValueError, RecursionError):
            continue
        if stop <= end and not text[stop:end].strip(" \t\r\x00"):
            return found.start()
    return end


def _whole_escape(found: re.Match[str]) -> str:
    """An escape sequence as it is, but for half a surrogate pair."""
    return "\\ufffd" if found[1] else found[0]
