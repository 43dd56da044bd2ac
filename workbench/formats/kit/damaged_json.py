"""Repair of damaged JSON: NUL padding, invalid characters, cut, joined or split lines, trailing bytes, a missing end.

A piece of a line counts as a record only if it resembles the readable records of the same file (`_Likeness`): an object
inside a cut record is not a record.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from workbench.base.values import json_value
from workbench.formats.fixes import Fault
from workbench.formats.kit.document import render
from workbench.formats.kit.jsonl import halves_in, loads_bounded, loads_whole, whole
from workbench.formats.kit.sheet import RepairSheet, SheetEntry

JOINED = 200
"""Most lines joined to restore a split record."""

TRIED = 2_000
"""Most positions in a broken line at which a complete record is searched."""

_BOM = b"\xef\xbb\xbf"
_SEPARATORS = {b"\xe2\x80\xa8": b"\\u2028", b"\xe2\x80\xa9": b"\\u2029"}
_BLANK = b" \t\r\x00"
_BLANK_TEXT = " \t\r\n"
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|["\[\]{}:,]|[^\s\[\]{}:,"]+', re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)
_FIRST_KEY = re.compile(rb'\s*\{\s*"([^"\\]{1,60})"')


@dataclass(slots=True)
class _Likeness:
    """Features of a file's records: `common` keys occur in all of them, `known` keys in any. `first` holds their first
    keys, `types` their values of `type`."""

    common: set[str] = field(default_factory=set)
    known: set[str] = field(default_factory=set)
    first: set[bytes] = field(default_factory=set)
    types: set[str] = field(default_factory=set)

    def learn(self, raw: bytes, value: dict[str, Any]) -> None:
        self.common = self.common & value.keys() if self.known else set(value)
        self.known |= value.keys()
        if found := _FIRST_KEY.match(raw):
            self.first.add(found[1])
        self.types.add(str(value.get("type")))

    def may_be(self, value: Any) -> bool:
        """Return True if a complete value at the start of a line, or after a record, is a record: a nonempty object
        with all common keys."""
        return isinstance(value, dict) and bool(value) and value.keys() >= self.common

    def fits(self, value: Any) -> bool:
        """Return True if a complete value inside a broken record is a record itself, not a part of it: its keys and its
        `type` occur in other records of the file."""
        if not self.may_be(value):
            return False
        return not self.known or (value.keys() <= self.known and str(value.get("type")) in self.types)


def sheet_of_lines(data: bytes, name: str = "", branch: int | None = None) -> RepairSheet:
    """Return the records of a file of lines, with a fix for every damaged line."""
    sheet = RepairSheet([], name=name, branch=branch)
    if data.startswith(_BOM):
        sheet.fixed(Fault.NOT_A_RECORD, subject=len(_BOM))
        data = data.removeprefix(_BOM)
    lines = data.split(b"\n")
    good = [_strict_object(line) for line in lines]
    likeness = _Likeness()
    for line, value in zip(lines, good, strict=True):
        if value is not None:
            likeness.learn(line, value)
    at = 0
    while at < len(lines):
        value = good[at]
        if value is not None:
            _add(sheet, lines[at], value, at + 1)
            at += 1
        else:
            at += _repair_line(sheet, lines, good, at, likeness)
    return sheet


def _strict_object(line: bytes) -> dict[str, Any] | None:
    value = json_value(line)
    return value if isinstance(value, dict) else None


def _add(sheet: RepairSheet, raw: bytes, value: dict[str, Any], line: int) -> None:
    entry = SheetEntry(raw, value, line)
    if count := sum(raw.count(separator) for separator in _SEPARATORS):
        for separator, escape in _SEPARATORS.items():
            entry.raw = entry.raw.replace(separator, escape)
        entry.changed = True
        sheet.fixed(Fault.LINE_SEPARATOR, entry, count)
    sheet.entries.append(entry)


def _repair_line(
    sheet: RepairSheet, lines: list[bytes], good: list[dict[str, Any] | None], at: int, likeness: _Likeness
) -> int:
    """Add the records of a damaged line; return the number of lines consumed."""
    line, body = lines[at], lines[at].strip(_BLANK)
    here = SheetEntry(b"", None, at + 1)
    if nul := line.count(b"\0"):
        sheet.fixed(Fault.NUL_PADDING, here, nul)
        body = line.replace(b"\0", b"").strip(_BLANK)
    if not body:
        return 1
    if _repair_characters(sheet, body, here):
        return 1
    pieces = list(_pieces(body, likeness))
    rest = pieces[-1] if pieces and pieces[-1][1] is None else None
    joined = _join_following_lines(rest[0], lines, good, at, likeness) if rest and rest[0].startswith(b"{") else None
    found = [piece for piece in pieces if piece[1] is not None]
    if len(found) > 1 or (found and (rest is not None or len(pieces) > len(found))):
        sheet.fixed(Fault.GLUED_RECORDS, here, len(pieces))
    for number, (raw, value) in enumerate(pieces, 1):
        if value is not None:
            _add(sheet, _strict_bytes(raw, value), value, at + 1)
        elif joined is None or number < len(pieces):
            _report_lost_bytes(sheet, raw, here)
    if joined is None:
        return 1
    value, count = joined
    sheet.fixed(Fault.SPLIT_RECORD, here, count)
    _add(sheet, render(value), value, at + 1)
    return count


def _repair_characters(sheet: RepairSheet, body: bytes, here: SheetEntry) -> bool:
    """Add the single record of a line in which only characters are damaged. Return False if that is not the damage."""
    try:
        value = loads_bounded(body)
    except ValueError:
        return False
    if not isinstance(value, dict):
        return False
    raw = body
    try:
        text = body.decode()
    except UnicodeDecodeError:
        text = ""
    repaired = whole(text)
    if repaired != text:
        raw = repaired.encode()
        sheet.fixed(Fault.LONE_SURROGATE, here, halves_in(text))
    if _strict_object(raw) is None:
        raw = render(value)
        sheet.fixed(Fault.BROKEN_TEXT, here)
    _add(sheet, raw, value, here.place)
    return True


def _strict_bytes(raw: bytes, value: dict[str, Any]) -> bytes:
    return raw if _strict_object(raw) is not None else render(value)


def _pieces(body: bytes, likeness: _Likeness) -> Iterator[tuple[bytes, dict[str, Any] | None]]:
    """Yield the pieces of a line in order: the bytes and value of each record, and bytes between records with None."""
    text = body.decode("latin-1")  # one character per byte
    at = 0
    while at < len(text):
        stop = _value_end(text, at)
        if stop is not None and likeness.may_be(value := _decode(body[at:stop])):
            yield body[at:stop], value
        else:
            start = _next_record(body, text, at + 1, likeness)
            yield body[at:start].rstrip(_BLANK), None
            stop = start
        at = stop
        while at < len(text) and text[at] in " \t\r,":
            at += 1


def _value_end(text: str, at: int) -> int | None:
    try:
        return _DECODER.raw_decode(text, at)[1]
    except (ValueError, RecursionError):
        return None


def _decode(raw: bytes) -> Any:
    try:
        return loads_bounded(raw)
    except ValueError:
        return None


def _next_record(body: bytes, text: str, at: int, likeness: _Likeness) -> int:
    """Return the start of the next complete record at or after `at`, or the end of the line if there is none."""
    if not likeness.first:
        return len(text)
    starts = re.compile(rb'\{\s*"(?:' + b"|".join(map(re.escape, likeness.first)) + rb')"')
    for tried, found in enumerate(starts.finditer(body, at)):
        if tried == TRIED:
            break
        stop = _value_end(text, found.start())
        if stop is not None and likeness.fits(_decode(body[found.start() : stop])):
            return found.start()
    return len(text)


def _join_following_lines(
    rest: bytes, lines: list[bytes], good: list[dict[str, Any] | None], at: int, likeness: _Likeness
) -> tuple[dict[str, Any], int] | None:
    """Return the record that the following lines complete, and its number of lines; None if they complete none. Line
    ends are kept if all lie between tokens or in prose, where the writer did not escape them; else they are removed."""
    parts = [rest]
    for number in range(at + 1, min(len(lines), at + JOINED)):
        if good[number] is not None and likeness.may_be(good[number]):
            return None
        parts.append(lines[number].replace(b"\0", b"").strip(b"\r"))
        if b"}" not in parts[-1]:
            continue
        ended, joined = _decode(b"\n".join(parts)), _decode(b"".join(parts))
        value = ended if likeness.may_be(ended) and _in_prose(ended, joined) else joined
        if likeness.may_be(value):
            return value, len(parts)
    return None


def _in_prose(ended: Any, joined: Any) -> bool:
    """Return True if the line ends that `ended` has and `joined` lacks lie between tokens or in texts with spaces, not
    in a key, an id or encoded data."""
    if isinstance(ended, dict) and isinstance(joined, dict):
        return ended.keys() == joined.keys() and all(_in_prose(ended[key], joined[key]) for key in ended)
    if isinstance(ended, list) and isinstance(joined, list):
        return len(ended) == len(joined) and all(map(_in_prose, ended, joined))
    return joined is None or ended == joined or (isinstance(joined, str) and " " in joined)


def _report_lost_bytes(sheet: RepairSheet, raw: bytes, here: SheetEntry) -> None:
    fault = Fault.CUT_RECORD if raw.startswith(b"{") else Fault.NOT_A_RECORD
    sheet.fixed(fault, here, len(raw))


def repair_document(data: bytes, sheet: RepairSheet) -> bytes:
    """Return the document as strict JSON, and add a fix to the sheet for each kind of damage. Undamaged bytes are
    returned unchanged."""
    if _is_strict(data):
        return data
    here = SheetEntry(b"", None, 1)
    body = data.removeprefix(_BOM)
    if b"\0" in body:
        sheet.fixed(Fault.NUL_PADDING, None, body.count(b"\0"))
        body = body.replace(b"\0", b"")
    body = body.strip()
    if _is_strict(body):
        return body
    text = body.decode("utf-8", "replace")
    repaired = whole(text)
    if repaired != text:
        sheet.fixed(Fault.LONE_SURROGATE, None, halves_in(text))
    repaired = _first_value(repaired, sheet)
    try:
        value = loads_whole(repaired)
    except ValueError:
        sheet.unrepaired(Fault.CUT_DOCUMENT, here)
        return data
    raw = repaired.encode("utf-8", "replace")
    if not _is_strict(raw):
        sheet.fixed(Fault.BROKEN_TEXT)
        return render(value)
    if "\ufffd" in text and b"\xef\xbf\xbd" not in body:
        sheet.fixed(Fault.BROKEN_TEXT)
    return raw


def _is_strict(data: bytes) -> bool:
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError:
        return False
    return True


def _first_value(text: str, sheet: RepairSheet) -> str:
    """Return the first value of the text, with its brackets closed if it is cut off."""
    try:
        stop = _DECODER.raw_decode(text)[1]
    except (ValueError, RecursionError):
        return _close_brackets(text, sheet)
    if rest := text[stop:].strip(_BLANK_TEXT):
        sheet.fixed(Fault.TRAILING_BYTES, None, len(rest.encode("utf-8", "replace")))
    return text[:stop]


def _close_brackets(text: str, sheet: RepairSheet) -> str:
    """Cut the text after the last complete element of the outermost open list, and close its brackets. Without such an
    element, cut after the last complete list or object."""
    stack: list[str] = []
    ends: list[int] = []
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark == '"':  # the file ends inside this text
            break
        if mark in "[{":
            stack.append(mark)
            ends.append(-1)
        elif mark in "]}":
            if not stack or (stack[-1] == "[") != (mark == "]"):
                break
            stack.pop()
            ends.pop()
            if ends:
                ends[-1] = token.end()
        elif stack and stack[-1] == "[" and mark not in ",:":
            ends[-1] = token.end()
    complete = [depth for depth in range(len(stack)) if ends[depth] > 0]
    lists = [depth for depth in complete if stack[depth] == "["]
    if not complete:
        return text
    depth = (lists or complete)[0]
    closing = "".join("]" if one == "[" else "}" for one in reversed(stack[: depth + 1]))
    sheet.fixed(Fault.CUT_DOCUMENT, None, len(text) - ends[depth])
    return text[: ends[depth]] + closing
