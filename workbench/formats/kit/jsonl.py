"""Tolerant and fast reading of JSON lines as agents write them.

Seen in real files: two objects on one line after a concurrent append, a truncated last line, halves of surrogate pairs,
NaN, NUL padding after a crash, a byte order mark, CRLF.
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
from workbench.formats.kit.limits import MOST_WARNINGS, beyond, enough
from workbench.session import LoadWarning, Records

_BOM = b"\xef\xbb\xbf"
_EDGES = b" \t\r\x00"
_BLANK = _EDGES + b"\n"
_NOT_BLANK = re.compile(rb"[^ \t\r\n\x00]")
_DECODER = json.JSONDecoder(strict=False)
_PADDING_PROBLEM = "NUL bytes left by a crash; ignored"
_OBJECT = re.compile(r"\{\s*\"")
_NULS = re.compile(rb"\x00(?:[^\n]*\x00)?")
"""NUL bytes of a blank line, from the first to the last."""
_NO_NULS = re.compile(r"[\s\x00]*")
_TWO_KEYS = re.compile(r'(\{\s*"[^"\\]*"\s*:)\s*(?:"(?:[^"\\]|\\.)*"|[\w.+-]+)\s*,\s*"([^"\\]*)"\s*:', re.DOTALL)
"""Beginning of a record: its first key with a plain value, and its second key."""

_OVERLAP = 8
"""The beginning of the next record is searched from this many characters before a decoding error to as many after it.
The longest token that can lie in between is an escape (`\\ud83d`)."""

_TRIES = 64
"""Most positions in a cut record that are tried as the beginning of the next one; each costs a scan of the line."""

MOST_DIGITS = 300
"""Most digits, sign included, of an integer that is not read as a float; sums of such integers fit a float."""

_HEX = r"[0-9a-fA-F]{2}"
_MAY_BE_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPES = re.compile(rf"\\(?:u[dD][89abAB]{_HEX}\\u[dD][c-fC-F]{_HEX}|u[dD]([89a-fA-F]){_HEX}|.)", re.DOTALL)


class Record(NamedTuple):
    """One JSON value and its location: `data[start:stop]`, beginning on 1-based `line`.

    `problem` describes an irregularity, "" if there is none. Unreadable records and NUL bytes that fill lines have
    `readable` False and the value None. Strings in `value` never hold half a surrogate pair; it becomes U+FFFD.
    """

    start: int
    stop: int
    line: int
    value: Any
    problem: str = ""
    readable: bool = True


class Lines(Struct, frozen=True):
    """A file of lines while it is read: its records in order, the `Records` that store their spans, and its size in
    bytes."""

    found: Iterable[Record]
    records: Records
    size: int


class LineTooLong(Exception):
    """Raised for a line longer than `limits.enough()`; the entire file must be read instead."""


BLOCK = 1 << 20
"""Bytes read at once. A longer line is decoded in place, to avoid a copy."""


def lines_of(data: bytes) -> Lines:
    return Lines(records_of(data), Records(data), len(data))


def lines_in(file: BinaryIO, size: int, on_block: Callable[[bytes], object], block: int | None = None) -> Lines:
    """Return the lines of a file of about `size` bytes, read in blocks of `block` bytes (`BLOCK` for None); each block
    is passed to `on_block`.

    The spans are stored in `Records.being_read(file)`, which reads the file on demand. Iteration may raise LineTooLong
    and OSError.
    """
    return Lines(_records_in(file, on_block, block or BLOCK), Records.being_read(file), size)


def _records_in(file: BinaryIO, on_block: Callable[[bytes], object], size: int) -> Iterator[Record]:
    rest, before, line = b"", 0, 0
    while block := file.read(size):
        on_block(block)
        data = rest + block
        end = data.rfind(b"\n") + 1
        if len(data) > enough() and not 0 <= data.find(b"\n") <= enough():
            raise LineTooLong
        yield from _records(data, 0 if before else _begin(data), end, before, line)
        before, line, rest = before + end, line + data.count(b"\n", 0, end), data[end:]
    yield from _records(rest, 0 if before else _begin(rest), len(rest), before, line)


def records_of(data: bytes, end: int | None = None) -> Iterator[Record]:
    """Yield every record of a JSONL file in order, up to byte `end` if it is not None. Never raises; blank lines are
    skipped."""
    return _records(data, _begin(data), len(data) if end is None else end, 0, 0)


def _begin(data: bytes) -> int:
    return len(_BOM) if data.startswith(_BOM) else 0


def _records(data: bytes, at: int, end: int, before: int, line: int) -> Iterator[Record]:
    """Yield the records of `data[at:end]`; `before` and `line` are the bytes and lines before `data` in the file."""
    short = enough()
    while at < end:
        if data[at] in _BLANK:  # a file may end in millions of such lines
            content = _NOT_BLANK.search(data, at, end)
            begin = end if content is None else max(at, data.rfind(b"\n", at, content.start()) + 1)
            counted, ahead = at, line + 1
            for padding in _NULS.finditer(data, at, begin):
                ahead += data.count(b"\n", counted, padding.start())
                counted = padding.start()
                yield _padding(before + counted, before + padding.end(), ahead, padding[0].count(0))
            if content is None:
                return
            line += data.count(b"\n", at, begin)
            at = begin
        line += 1
        newline = data.find(b"\n", at, end)
        stop = end if newline < 0 else newline
        start = before + at
        if stop - at > short and (excess := beyond(data, at, stop)):
            yield _unreadable(start, before + stop, line, f"holds {excess}, too much for a session")
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
    """Yield the objects among records, each with its index in `records` and its line.

    Every record is added to `records`. Irregular records and values that are no objects cause warnings: the first ones
    by line, the others as a count. `progress` gets the bytes read so far and `size`, the file's size in bytes.
    """
    due, irregular = 0, 0
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
            irregular += 1
            if irregular <= MOST_WARNINGS:
                warnings.append(LoadWarning(problem, record.line))
    if irregular > MOST_WARNINGS:
        warnings.append(LoadWarning(f"{grouped(irregular - MOST_WARNINGS)} more lines with problems"))
    progress(size, size)


def left_out(records: str, unknown: Counter[str]) -> list[LoadWarning]:
    """Return a warning about records of unknown kinds; `records` is their noun."""
    kinds = ", ".join(f"{kind} ({count})" for kind, count in sorted(unknown.items()))
    return [LoadWarning(f"holds {records} of unknown kinds, left out: {kinds}")] if kinds else []


def object_of(raw: bytes) -> dict[str, Any] | None:
    """Return the object of a record; None if it is damaged or no object. The reader has warned about it."""
    try:
        value = loads_bounded(raw)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def loads(raw: bytes) -> Any:
    """Decode JSON, also with what orjson rejects: invalid UTF-8, halves of surrogate pairs, NaN, control characters in
    strings. Raises ValueError for other text.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return loads_text(raw.decode("utf-8", "replace"))


def loads_bounded(raw: bytes) -> Any:
    """Decode like `loads`, for data not yet checked. Raises ValueError for deep nesting as well."""
    return _not_too_deep(loads(raw), raw)


def loads_text(text: str) -> Any:
    """Decode a text like `loads_bounded`. Halves of surrogate pairs become U+FFFD. Raises ValueError, or
    JSONDecodeError with the position if it is known."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return loads_whole(whole(text))
    return _not_too_deep(value, text)


def loads_whole(text: str) -> Any:
    """Decode a text that `whole` returned. Raises like `loads_text`."""
    try:
        value = json.loads(text, strict=False, parse_int=_integer)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return _not_too_deep(value, text)


def _integer(digits: str) -> int | float:
    """Return an integer; one of more than MOST_DIGITS digits becomes a float, as `1e400` does."""
    return int(digits) if len(digits) <= MOST_DIGITS else float(digits)


def _not_too_deep(value: Any, text: bytes | str) -> Any:
    if is_too_deep(value, text):
        raise ValueError("nested too deeply")
    return value


def whole(text: str) -> str:
    """Replace each escaped half of a surrogate pair by U+FFFD, which has the same length; files, requests and terminals
    reject such halves. Returns the same text if there is none."""
    return _ESCAPES.sub(_whole_escape, text) if _MAY_BE_HALF.search(text) else text


def halves_in(text: str) -> int:
    """Return the number of escapes that `whole` replaces."""
    return sum(found[1] is not None for found in _ESCAPES.finditer(text))


def _odd_line(chunk: bytes, at: int, line: int, *, last: bool) -> Iterator[Record]:
    """Yield the records of a line that is not blank and not one clean JSON value."""
    body = chunk.strip(_EDGES)
    at += chunk.index(body)
    pieces = _pieces(body)
    padding = chunk.count(0) - sum(body.count(0, start, stop) for start, stop in pieces)
    padding_note = f"{grouped(padding)} {_PADDING_PROBLEM}" if padding else ""
    for number, (start, stop) in enumerate(pieces):
        raw = body[start:stop]
        try:
            value = loads_bounded(raw)
        except ValueError:
            cut_off = last and number == len(pieces) - 1
            problem = "the file ends inside this line" if cut_off else "not JSON"
            if number < len(pieces) - 1:
                problem = "is cut off, and another record follows on the same line"
            yield _unreadable(at + start, at + stop, line, "; ".join(filter(None, (padding_note, problem))))
        else:
            problem = "; ".join(filter(None, (_problem(raw, number), padding_note)))
            yield Record(at + start, at + stop, line, value, problem)
        padding_note = ""


def is_padding(record: Record) -> bool:
    """Return True for NUL bytes that fill lines, which have no content."""
    return not record.readable and record.problem.endswith(_PADDING_PROBLEM)


def _padding(start: int, stop: int, line: int, count: int) -> Record:
    return Record(start, stop, line, None, f"{grouped(count)} {_PADDING_PROBLEM}", readable=False)


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
    """Return byte spans of the adjacent JSON values in `body`, and of other text between and after them."""
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
    """Return the start of the next complete record after the cut record at `at`, or the end of the text if there is
    none. Decoding the cut record failed at `broken`.

    If it is cut within a string or word, decoding fails a few characters after the beginning of the next record, whose
    first quotation mark ends the string. If it is cut before a value, the next record is decoded as that value, and
    decoding fails only at the end of the text.
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
            return _swallowed_record_start(text, at, found.start())
    return _swallowed_record_start(text, at, len(text))


def _swallowed_record_start(text: str, at: int, end: int) -> int:
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
    """Return an escape sequence, with half a surrogate pair replaced by U+FFFD."""
    return "\\ufffd" if found[1] else found[0]
