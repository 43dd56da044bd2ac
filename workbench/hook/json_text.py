"""Edits of a JSON file as text: members and items are added at the end of their container or removed. No other byte
changes; removing what was added restores the text."""

from __future__ import annotations

from json.decoder import JSONDecoder
from typing import Any, NamedTuple

_decode = JSONDecoder().raw_decode


class JsonPart(NamedTuple):
    """A member of an object or an item of a list in a text: `text[start:stop]`. `key` is "" for an item; the value
    begins at `at`."""

    key: str
    start: int
    at: int
    stop: int
    value: Any


def parts_of(text: str, at: int) -> list[JsonPart]:
    """Return the parts of the object or list that begins at `at`. Raises ValueError for a damaged text."""
    is_object, found, here = text[at] == "{", list[JsonPart](), _skip(text, at + 1)
    while text[here] not in "]}":
        start, key = here, ""
        if is_object:
            key, here = _decode(text, here)
            here = _skip(text, _skip(text, here) + 1)  # the colon
        value, stop = _decode(text, here)
        found.append(JsonPart(key, start, here, stop, value))
        here = _skip(text, stop)
        here = _skip(text, here + 1) if text[here] == "," else here
    return found


def part_named(text: str, at: int, key: str) -> JsonPart | None:
    """Return the member of this key, the last of several; None without one."""
    return next((one for one in reversed(parts_of(text, at)) if one.key == key), None)


def start_of(text: str) -> int:
    """Return the offset of the first character that is no white space or byte order mark."""
    return _skip(text, len(text) - len(text.removeprefix("\ufeff")))


def with_part(text: str, at: int, part: str, depth: int) -> str:
    """Return the text with a part at the end of the container that begins at `at`. `depth` of the part: 1 in the
    outermost container."""
    found = parts_of(text, at)
    space = _line_break(text, depth)
    if found:
        stop = found[-1].stop
        return f"{text[:stop]},{space or ' '}{part}{text[stop:]}"
    stop = _skip(text, at + 1)
    return f"{text[: at + 1]}{space}{part}{_line_break(text, depth - 1)}{text[stop:]}"


def without_part(text: str, at: int, number: int) -> str:
    """Return the text without a part of the container that begins at `at`."""
    found = parts_of(text, at)
    if len(found) == 1:
        return text[: at + 1] + text[_skip(text, found[0].stop) :]
    if number:
        return text[: found[number - 1].stop] + text[found[number].stop :]
    return text[: found[0].start] + text[found[1].start :]


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _line_break(text: str, depth: int) -> str:
    """Return a line break with the text's own indentation; "" for a text on one line."""
    end = "\r\n" if "\r\n" in text else "\n"
    if end not in text.strip():
        return ""
    first = text.strip().split(end)[1]
    indent = first[: len(first) - len(first.lstrip())] or "  "
    return end + indent * depth
