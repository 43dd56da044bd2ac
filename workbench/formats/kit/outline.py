"""A JSON document by its outline: all keys of its objects, the beginnings of its long texts and lists.

What is passed over is scanned and not decoded, by a regular expression from bracket to bracket: 100 to 200 MB a second,
and no memory. It is scanned once: where the long values within it end is kept for when they are looked into.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from workbench.formats.kit.jsonl import loads_text
from workbench.formats.kit.values import dict_of

SPAN = 64 * 1024
"""Bytes up to which a value is given whole; of a longer text so much, and of a longer list the elements in so much."""
FEW = 8
"""Elements of a list that are given in any case, as far as it has them."""
MANY = 10_000
"""Keys that are given of an object longer than `SPAN` within another value: more are names of things and no fields."""
LEVELS = 8
"""Levels of nesting on which what is longer than `SPAN` is looked into; on deeper ones it is cut off."""
DEEPEST = 200
"""Levels of nesting beyond which a value is no session's; the same bound as for lines."""

_BLANK = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n\x00]*")
_TEXT = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_KEY = re.compile(rb"[\s,]*(" + _TEXT + rb")\s*:\s*", re.DOTALL)
_STRING = re.compile(_TEXT, re.DOTALL)
_BRACKET = re.compile(rb'[^"\[\]{}]*+(?:' + _TEXT + rb'[^"\[\]{}]*+)*+([\[\]{}])', re.DOTALL)
_WORD = re.compile(rb'[^\s,:"\[\]{}]*')
_NEXT = re.compile(rb"[\s,]*")
_END = re.compile(rb"\s*[\]}]")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+|"', re.DOTALL)
_CUT_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?$")


def outline(data: bytes, at: int = 0) -> tuple[Any, int]:
    """The JSON value that begins at `at`, behind blanks, and where it ends; None where none is to be made out.

    Of a list that is the value itself only the beginning is looked at, and the end is where that ends.
    """
    at = _past(_BLANK, data, at)
    match data[at : at + 1]:
        case b"{":
            return _members(data, at, LEVELS, {})
        case b"[":
            return _elements(data, at, LEVELS, {})
        case _:
            return _value(data, at, LEVELS, {})


def glimpse(head: bytes) -> Any:
    """The value at the start of a document of which `head` may be only the beginning; None where that is no JSON.

    What is cut off is closed: an open string ends where the head ends, open lists and objects are closed after it.
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
    return found, _past(_END, data, at)


def _elements(data: bytes, start: int, levels: int, ends: dict[int, int]) -> tuple[list[Any], int]:
    found: list[Any] = []
    at = start + 1
    while len(found) < FEW or at - start < SPAN:
        begin = _past(_NEXT, data, at)
        value, at = _value(data, begin, levels, ends)
        if at == begin:
            break
        found.append(value)
    return found, _past(_END, data, at)


def _end_of(data: bytes, at: int, ends: dict[int, int]) -> int:
    """Where the value that begins at `at` ends: where the data end if it is cut off, at `at` if none begins.

    ends: by where they begin, the ends of lists and objects longer than `SPAN`; those passed over are added.
    """
    match data[at : at + 1]:
        case b'"':
            whole = _STRING.match(data, at)
            return whole.end() if whole else len(data)
        case b"{" | b"[":
            if at in ends:
                return ends[at]
            begun: list[int] = []
            while bracket := _BRACKET.match(data, at):
                at = bracket.end()
                if bracket[1] in b"[{":
                    begun.append(at - 1)
                    continue
                begin = begun.pop()
                if at - begin > SPAN:
                    ends[begin] = at
                if not begun:
                    return at
            ends.update(dict.fromkeys(begun, len(data)))
            return len(data)
        case _:
            return _past(_WORD, data, at)


def _past(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    found = pattern.match(data, at)
    return found.end() if found else at


def _closed(text: str) -> str:
    """`text` up to the last point at which closing its brackets gives a whole value, and those brackets."""
    open_brackets: list[str] = []
    best, closers = 0, ""
    before = ""
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark == '"':  # a string that the end of the head cuts
            if before != ":" and (not open_brackets or open_brackets[-1] == "}"):
                break
            return _CUT_ESCAPE.sub("", text) + '"' + "".join(reversed(open_brackets))
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
            break  # a number or a word that the end of the head may cut
        best, closers = token.end(), "".join(reversed(open_brackets))
        before = mark
        if not open_brackets and text[best:].strip():
            return ""  # more than one value: not one document
    return text[:best] + closers
