"""Repair of a damaged JSON document: NUL padding, invalid characters, trailing bytes, a missing end."""

from __future__ import annotations

import json
import re

import orjson

from workbench.formats.fixes import Fault
from workbench.formats.kit.document import render
from workbench.formats.kit.jsonl import loads_whole, whole
from workbench.formats.kit.sheet import RepairSheet, SheetEntry

_BOM = b"\xef\xbb\xbf"
_DECODER = json.JSONDecoder(strict=False)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|["\[\]{}:,]|[^\s\[\]{}:,"]+', re.DOTALL)
_BLANK = " \t\r\n"


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
        sheet.fixed(Fault.LONE_SURROGATE, None, sum(a != b for a, b in zip(text, repaired, strict=True)) // 4 or 1)
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
    if rest := text[stop:].strip(_BLANK):
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
