"""Structural changes of a session's JSON: types, nesting, numbers, keys, lists and encodings.

A changed value may hold `Raw` and `Pairs`, for what `json` cannot write: `1e400`, 10 000 brackets, a key twice.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from scripts.fuzz.inputs import ODD, Seed, copied

DEPTHS = (30, 127, 128, 200, 255, 256, 500, 600, 900, 990, 1_000, 1_023, 1_024, 2_000, 10_000)
"""Levels of nesting around the limits of Python (1 000), orjson (1 024) and serde (128), and far beyond."""

NUMBERS = (
    *("-0", "-0.0", "0.0", "1e400", "-1e400", "1E+400", "1e-400", "1e308", "-1e308", "1.5e300", "1e22", "1e16"),
    *("NaN", "Infinity", "-Infinity", "nan", "inf", "0x10", "01", "+1", "1.", ".5", "1_000", "1e", "--1"),
    *("9" * 309, "-" + "9" * 309, "1" + "0" * 400, "7" * 4_299, "7" * 4_300, "7" * 4_301, "3" * 20_000),
    *("9" * 308 + ".5", "0." + "3" * 5_000, "0e99999999", "1e99999999999"),
    *(str(2**31), str(2**32), str(2**53 + 1), str(2**63 - 1), str(2**63), str(2**64), str(-(2**63) - 1)),
    *("-1", "1e9", "1000000000000", "253402300800", "253402300800000", "-62135596801", "99999999999999999999"),
)
ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "latin-1", "cp1252", "utf-7", "shift_jis")
LETTERS = ("é", "ß", "日本", "🙂", "\ufeff", "\u2028", "\u0085", "\x00", "\x1b]0;x\x07", "\x9b31m", "\u202e", "ﬁ")
HALVES = ("\\ud83d", "\\ude42", "\\ud83d\\ud83d", "\\udfff x", "\\ud800\\u0041", "\\uD83D\\uDE42")
BROKEN = (
    b"\xed\xa0\xbd",
    b"\xc0\xaf",
    b"\xff\xfe",
    b"\xfe\xff",
    b"\xe9",
    b"\xf4\x90\x80\x80",
    b"\xef\xbb\xbf",
    b"\x00",
)
KEYS = ("", " ", "__proto__", "type", "Type", "role", "content", "id", "\x00", "\ud83d", "k" * 3_000, "é", "$ref", "-")


@dataclass(frozen=True)
class Raw:
    """Text that stands in the JSON as it is."""

    text: str


@dataclass(frozen=True)
class Pairs:
    """An object as its keys stand in the file, some of them twice."""

    items: tuple[tuple[str, Any], ...]


Change = Callable[[Any, random.Random], Any]

DEEP = 10_000
"""Frames for writing values that are nested a thousand deep, several times in each other."""


def written(value: Any, lines: bool, ascii: bool = True) -> str:
    """JSON text of a changed value; `lines`: one record a line."""
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(DEEP)
    try:
        if lines and isinstance(value, list):
            return "".join(f"{_text(line, ascii)}\n" for line in value)
        return _text(value, ascii)
    finally:
        sys.setrecursionlimit(usual)


def _text(value: Any, ascii: bool) -> str:
    match value:
        case Raw(text):
            return text
        case Pairs(items):
            return (
                "{" + ",".join(f"{json.dumps(key, ensure_ascii=ascii)}:{_text(one, ascii)}" for key, one in items) + "}"
            )
        case dict():
            return _text(Pairs(tuple(value.items())), ascii)
        case list():
            return "[" + ",".join(_text(one, ascii) for one in value) + "]"
        case _:
            return json.dumps(value, ensure_ascii=ascii)


def changed(seed: Seed, kind: str, dice: random.Random) -> bytes:
    """The bytes of a session with one to four changes of a kind."""
    if kind == "encodings":
        return _encoded(seed, dice)
    value = seed.value
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        with suppress(LookupError, TypeError):
            value = _at(value, _way(seed, kind, dice), CHANGES[kind], dice)
    return written(value, seed.lines, dice.random() < 0.9).encode("utf-8", "surrogatepass")


def _way(seed: Seed, kind: str, dice: random.Random) -> tuple[Any, ...]:
    """A way to a value that the change is meant for, where a few tries find one."""
    way: tuple[Any, ...] = ()
    for _ in range(12):
        way = dice.choice(seed.ways)
        value = seed.value
        for step in way:
            value = value[step]
        if isinstance(value, _FOR.get(kind, object)) and not isinstance(value, bool):
            break
    return way


_FOR: dict[str, Any] = {"numbers": int | float, "keys": dict, "lists": dict | list}


def _at(value: Any, way: Sequence[Any], change: Change, dice: random.Random) -> Any:
    """A copy with the value at the end of the way changed. Raises LookupError or TypeError where an earlier change took
    the way."""
    if not way:
        return change(value, dice)
    holder = copied(value)
    holder[way[0]] = _at(value[way[0]], way[1:], change, dice)
    return holder


def _other_type(value: Any, dice: random.Random) -> Any:
    """A value of another type; where it can be, of the same content."""
    others: list[Any] = [
        None,
        True,
        False,
        0,
        -1,
        1.5,
        "",
        "x",
        [],
        {},
        [value],
        {"0": value},
        {"text": value},
        [[value]],
    ]
    match value:
        case bool() | None:
            others += [str(value), "true", "null"]
        case int() | float():
            others += [
                str(value),
                f"{value} tokens",
                value / 3 if abs(value) < 2**60 else 0.5,
                [value, value],
                {"value": value},
            ]
        case str():
            others += [
                len(value),
                list(value[:5]),
                {value[:9]: value},
                [{"type": "text", "text": value}],
                value.upper(),
            ]
        case list():
            others += [{str(place): one for place, one in enumerate(value)}, *value[:2], json.dumps(value, default=str)]
        case dict():
            others += [
                list(value.values()),
                list(value.items()),
                *list(value.values())[:2],
                json.dumps(value, default=str),
            ]
    return dice.choice(others if dice.random() < 0.8 else ODD)


def _nested(value: Any, dice: random.Random) -> Any:
    """The value within as many lists or objects."""
    depth = dice.choice(DEPTHS)
    before, after = dice.choice(
        (("[", "]"), ('{"a":', "}"), ('{"content":[', "]}"), ('[{"text":', "}]"), ('{"type":"text","content":', "}"))
    )
    inner = "" if dice.random() < 0.2 and before == "[" else _text(value, True)
    whole = before * depth + inner + after * (depth if dice.random() < 0.9 else depth // 2)
    return whole if dice.random() < 0.15 else Raw(whole)  # as a text: JSON within JSON, as arguments of calls are


def _number(value: Any, dice: random.Random) -> Any:
    odd = dice.choice(NUMBERS)
    return odd if dice.random() < 0.1 else [Raw(odd), value] if dice.random() < 0.1 else Raw(odd)


def _keys(value: Any, dice: random.Random) -> Any:
    """An object with a key removed, repeated or renamed; a list with one of its values removed or repeated."""
    if isinstance(value, list) and value:
        at = dice.randrange(len(value))
        less = value[:at] + value[at + 1 :]
        return dice.choice(
            (less, [*less, value[at]], [*value, value[at]], value * 3, value[::-1], value[:at], value[at:])
        )
    if not isinstance(value, dict) or not value:
        return _other_type(value, dice)
    items = list(value.items())
    at = dice.randrange(len(items))
    key, one = items[at]
    match dice.randrange(6):
        case 0:
            del items[at]
        case 1:
            items.append((key, _other_type(one, dice)))
        case 2:
            items.insert(0, (key, _other_type(one, dice)))
        case 3:
            items[at] = dice.choice(KEYS), one
        case 4:
            items += [(dice.choice(items)[0], one)] * dice.choice((1, 3, 200))
        case _:
            items = [dice.choice(items)]
    return Pairs(tuple(items))


def _lists(value: Any, dice: random.Random) -> Any:
    """A list where an object was, and an object where a list was."""
    if isinstance(value, dict):
        return dice.choice(
            ([value], [value, value], list(value.values()), list(value), list(value.items()), [], [[]], [None])
        )
    if isinstance(value, list):
        return dice.choice(
            (
                *value[:1],
                {},
                {str(n): one for n, one in enumerate(value)},
                {"items": value},
                [value],
                [[one] for one in value],
                [*value, None],
                [*value, []],
                [*value, "x"],
                [*value, 7],
            )
        )
    return dice.choice(([value], {"value": value}, [], {}))


CHANGES: dict[str, Change] = {
    "types": _other_type,
    "nesting": _nested,
    "numbers": _number,
    "keys": _keys,
    "lists": _lists,
}
KINDS = (*CHANGES, "encodings")


def _encoded(seed: Seed, dice: random.Random) -> bytes:
    """The session with letters beyond ASCII in its texts, in another encoding, or with bytes that are none."""
    value = seed.value
    for _ in range(dice.choice((1, 2, 4))):
        with suppress(LookupError, TypeError):
            value = _at(value, _text_way(seed, dice), _lettered, dice)
    text = written(value, seed.lines, dice.random() < 0.4)
    match dice.randrange(8):
        case 0 | 1 | 2:
            data = text.encode(dice.choice(ENCODINGS), "replace")
            return data if dice.random() < 0.8 else data[: dice.randrange(len(data) + 1)]
        case 3:  # half of it in another
            at = dice.randrange(len(text) + 1)
            return text[:at].encode("utf-8", "replace") + text[at:].encode(dice.choice(ENCODINGS), "replace")
        case 4:
            return text.replace("\n", dice.choice(("\r\n", "\r", "\n\ufeff", "\u2028", "\n\n", "\x00\n"))).encode(
                "utf-8", "replace"
            )
        case 5:
            return dice.choice(
                (b"\xef\xbb\xbf", b"\xef\xbb\xbf\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x00")
            ) + text.encode("utf-8", "replace")
        case 6:
            data = text.encode("utf-8", "surrogatepass")
            at = dice.randrange(len(data) + 1)
            return data[:at] + dice.choice(BROKEN) * dice.choice((1, 2, 400)) + data[at:]
        case _:
            return text.encode("utf-8", "surrogatepass")


def _text_way(seed: Seed, dice: random.Random) -> tuple[Any, ...]:
    for _ in range(12):
        way = dice.choice(seed.ways)
        value = seed.value
        for step in way:
            value = value[step]
        if isinstance(value, str):
            return way
    return ()


def _lettered(value: Any, dice: random.Random) -> Any:
    if not isinstance(value, str):
        raise TypeError
    at = dice.randrange(len(value) + 1)
    if dice.random() < 0.4:
        return Raw(json.dumps(value[:at])[:-1] + dice.choice(HALVES) + json.dumps(value[at:])[1:])
    return value[:at] + dice.choice(LETTERS) * dice.choice((1, 1, 3, 40)) + value[at:]
