"""Outline of a JSON document: all keys of its objects, and the beginnings of long texts and lists.

Skipped values are scanned by a regular expression from bracket to bracket, not decoded: 100 to 200 MB per second
without memory. Ends of long values are stored, so that no byte is scanned twice.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from workbench.formats.kit.jsonl import loads_text
from workbench.formats.kit.values import dict_of

SPAN = 64 * 1024
"""Bytes up to which a value is complete. Longer texts are cut there; longer lists have the elements within it."""
FEW = 8
"""Elements of a list that are always included."""
MANY = 10_000
"""Keys included of a nested object longer than `SPAN`; more keys are data, not fields."""
LEVELS = 8
"""Nesting depth down to which values longer than `SPAN` are outlined; deeper ones are cut off."""
DEEPEST = 200
"""Nesting depth beyond which a value is rejected; the same limit as for lines."""

_BLANK = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n\x00]*")
_TEXT = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_KEY = re.compile(rb"[\s,]*(" + _TEXT + rb")\s*:\s*", re.DOTALL)
_STRING = re.compile(_TEXT, re.DOTALL)
_BRACKET = re.compile(rb'[^"\[\]{}]*+(?:' + _TEXT + rb'[^"\[\]{}]*+)*+([\[\]{}])', re.DOTALL)
_WORD = re.compile(rb'[^\s,:"\[\]{}]*')
_NEXT = re.compile(rb"[\s,]*")
_END = re.compile(rb"\s*[\]}]")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+|"', re.DOTALL)
_CUT_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?$")
"""An escape that is cut off, after complete escapes of backslashes."""


def outline(data: bytes, at: int = 0) -> tuple[Any, int]:
    """Return the JSON value that begins at `at`, after white space, and its end. The value is None if there is no JSON.

    A list at the top is read only at its beginning; the end is the end of that part.
    """
    at = _skip(_BLANK, data, at)
    match data[at : at + 1]:
        case b"{":
            return _members(data, at, LEVELS, {})
        case b"[":
            return _elements(data, at, LEVELS, {})
        case _:
            return _value(data, at, LEVELS, {})


def glimpse(head: bytes) -> Any:
    """Return the value of a document of which `head` may be only the beginning; None if it is not JSON.

    A string that is cut off ends with the head; open lists and objects are closed after it.
    """
    try:
        return orjson.loads(head)
    except orjson.JSONDecodeError:
        text = head.decode(errors="replace").removeprefix("\ufeff")
    try:
        return loads_text(text)
    except ValueError:
        pass
    try:
        return loads_text(_closed(text))
    except ValueError:
        return None


def _value(data: bytes, at: int, levels: int, ends: dict[int, int]) -> tuple[Any, int]:
    stop = _end_of(data, at, ends)
    if stop - at <= SPAN:
        return glimpse(data[at:stop]), stop
    match data[at : at + 1]:
        case b"{" if levels:
            return _members(data, at, levels - 1, ends)[0], stop
        case b"[" if levels:
            return _elements(data, at, levels - 1, ends)[0], stop
        case _:
            return dict_of(glimpse(b'{"cut":' + data[at : at + SPAN])).get("cut"), stop


def _members(data: bytes, at: int, levels: int, ends: dict[int, int]) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    at += 1
    while (levels == LEVELS or len(found) < MANY) and (key := _KEY.match(data, at)):
        value, at = _value(data, key.end(), levels, ends)
        found[str(glimpse(key[1]))] = value
    return found, _skip(_END, data, at)


def _elements(data: bytes, start: int, levels: int, ends: dict[int, int]) -> tuple[list[Any], int]:
    found: list[Any] = []
    at = start + 1
    while len(found) < FEW or at - start < SPAN:
        begin = _skip(_NEXT, data, at)
        value, at = _value(data, begin, levels, ends)
        if at == begin:
            break
        found.append(value)
    return found, _skip(_END, data, at)


def _end_of(data: bytes, at: int, ends: dict[int, int]) -> int:
    """Return the end of the value that begins at `at`: the end of the data if it is cut off, `at` if there is none.

    ends: ends of lists and objects longer than `SPAN`, by start; those scanned are added.
    """
    match data[at : at + 1]:
        case b'"':
            string = _STRING.match(data, at)
            return string.end() if string else len(data)
        case b"{" | b"[":
            if at in ends:
                return ends[at]
            open_brackets: list[int] = []
            while bracket := _BRACKET.match(data, at):
                at = bracket.end()
                if bracket[1] in b"[{":
                    open_brackets.append(at - 1)
                    continue
                start = open_brackets.pop()
                if at - start > SPAN:
                    ends[start] = at
                if not open_brackets:
                    return at
            ends.update(dict.fromkeys(open_brackets, len(data)))
            return len(data)
        case _:
            return _skip(_WORD, data, at)


def _skip(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    found = pattern.match(data, at)
    return found.end() if found else at


def _closed(text: str) -> str:
    """Return `text` up to the last point at which closing its brackets makes a complete value, with those brackets."""
    open_brackets: list[str] = []
    best, closers = 0, ""
    before = ""
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark == '"':  # a string cut off by the end of the head
            if before != ":" and (not open_brackets or open_brackets[-1] == "}"):
                break
            return _CUT_ESCAPE.sub(r"\1", text) + '"' + "".join(reversed(open_brackets))
        if mark in "{[":
            open_brackets.append("}" if mark == "{" else "]")
            if len(open_brackets) > DEEPEST:
                return ""
        elif mark in "}]":
            if not open_brackets or open_brackets.pop() != mark:
                return ""
        elif mark in ",:":
            before = mark
            continue
        elif before != ":" and open_brackets and open_brackets[-1] == "}":
            before = mark  # a key
            continue
        elif token.end() == len(text) and mark[0] != '"':
            break  # a number or a word that may be cut off by the end of the head
        best, closers = token.end(), "".join(reversed(open_brackets))
        before = mark
        if not open_brackets and text[best:].strip():
            return ""  # several values, not one document
    return text[:best] + closers
