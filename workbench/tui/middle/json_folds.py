"""JSON as foldable text; a large value shows its size first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from workbench.base.text import plural
from workbench.tui.middle.view import Folds, Piece
from workbench.tui.plain import figure, several

BIG = 4_000
"""Most characters of a value whose nested and long parts are open at first; in a larger one they are closed."""

SHORT = 80
"""Most characters of a nested value on one line without a fold."""

LONG_TEXT = 300
"""Characters from which a text has its own fold, as does one with line breaks."""

DEEPEST = 60
"""Most levels that fold; deeper ones are on one line."""


def folded(value: Any, folds: Folds, place: str, language: str = "") -> list[Piece]:
    """`value` as lines with folds. `place` is its key among all folds; long texts are in `language`."""
    return list(_inside(value, folds, place, language, big=len(compact(value)) > BIG, indent=0))


def _inside(value: Any, folds: Folds, place: str, language: str, *, big: bool, indent: int) -> Iterator[Piece]:
    entries: list[tuple[str, str, Any]]
    if isinstance(value, Mapping):
        entries = [(f"{json.dumps(str(key), ensure_ascii=False)}: ", str(key), item) for key, item in value.items()]
    elif isinstance(value, list | tuple):
        entries = [("", str(number), item) for number, item in enumerate(value)]
    else:
        entries = [("", "", value)]
    last = len(entries) - 1
    for number, (name, key, item) in enumerate(entries):
        comma = "," if number < last else ""
        yield from _entry(name, item, comma, folds, f"{place}/{key}", language, big=big, indent=indent)


def _entry(
    name: str, value: Any, comma: str, folds: Folds, place: str, language: str, *, big: bool, indent: int
) -> Iterator[Piece]:
    pad = "  " * indent
    if isinstance(value, str) and (len(value) > LONG_TEXT or "\n" in value):
        is_open = folds.is_open(place, not big)
        yield Piece(_head(pad, name, is_open, text_shape(value), "" if is_open else value), fold=place, language="json")
        if is_open:
            yield Piece(value, language=language)
        return
    flat = compact(value)
    if not isinstance(value, Mapping | list | tuple) or len(flat) <= SHORT or indent >= DEEPEST:
        yield Piece(f"  {pad}{name}{flat}{comma}", language="json")
        return
    is_open = folds.is_open(place, not big)
    yield Piece(
        _head(pad, name, is_open, shape(value, len(flat)), "" if is_open else flat), fold=place, language="json"
    )
    if is_open:
        yield from _inside(value, folds, place, language, big=big, indent=indent + 1)


def _head(pad: str, name: str, is_open: bool, shape: str, first: str) -> str:
    words = f" · {' '.join(first[:60].split())}…" if first else ""
    return f"{'▾' if is_open else '▸'} {pad}{name}{shape}{words}"


def shape(value: Any, chars: int) -> str:
    """Size of a nested value: `{3 fields} 1 204 characters`."""
    mapping = isinstance(value, Mapping)
    count = f"{figure(len(value))} {plural(len(value), 'field' if mapping else 'item')}"
    return f"{'{' if mapping else '['}{count}{'}' if mapping else ']'} {figure(chars)} characters"


def text_shape(text: str) -> str:
    """Size of a text: `812 lines, 41 210 characters`."""
    lines = text.count("\n") + (not text.endswith("\n"))
    return f"{several(lines, 'line')}, {figure(len(text))} characters"


def compact(value: Any) -> str:
    """`value` as JSON on one line, or a note if it is nested too deep."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, ValueError):
        return '"… nested too deep to be shown"'


def pretty(value: Any) -> str:
    """Arguments of a call as text: JSON indented, long texts with their own line breaks."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        long = {k: v for k, v in value.items() if isinstance(v, str) and "\n" in v}
        rest = {k: v for k, v in value.items() if k not in long}
        texts = [_indented(rest)] if rest or not long else []
        return "\n".join([*texts, *(f"{key}:\n{text}" for key, text in long.items())])
    return _indented(value)


def _indented(value: Any) -> str:
    try:
        return json.dumps(value, indent=2, ensure_ascii=False, default=str)
    except (RecursionError, ValueError):
        return compact(value)
