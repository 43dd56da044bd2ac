"""What the validators share, and nobody else: reading what is judged, and telling what is wrong with it.

Writers take nothing from here, and validators nothing from writers, so that the one judges the other. A validator is a
generator of sentences, each with its place ("Line 3 has no id."), under `@validator`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import wraps
from itertools import chain
from typing import Any, TypeVar

from workbench.base.values import DEEPEST

MOST = 20
"""Faults that are told; of more, how many."""
LONGEST = 300
"""Characters of a fault: it may name what a file says."""
SPARE_TOKENS = 30_000
"""Tokens that a count may claim beyond what the messages could be: instructions and tools."""

Faults = Iterator[str]
Item = dict[str, Any]
Shape = Mapping[str, type | tuple[type, ...]]
"""What keys an object must have, and of which type."""

MOST_COUNTED = 10**15
"""More than anybody's tokens or messages."""

T = TypeVar("T")
_SAID = re.compile(r"\S")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_BLANK = b"\xef\xbb\xbf \t\r\n\x00"
_MAY_BE_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_ESCAPES = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD]([89a-fA-F])[0-9a-fA-F]{2}|.)", re.DOTALL
)
_MAY_BE_WRONG = re.compile(rb'(?<!\\)"\s*:\s*(?:-[\dI]|\d{16}|\d[\d.]*[eE]|Infinity)')
_COUNTED = re.compile(r"token|removed$", re.IGNORECASE)
_LIMITS = re.compile(r"max|limit|budget|logprob|_id$|Id$", re.IGNORECASE)
_USAGES = ("usage", "tokens", "usagemetadata", "usage_metadata")
_ANYBODYS = frozenset(
    ["action", "args", "arguments", "attachment", "content", "extras", "functionCall", "functionResponse",
     "function_call", "function_response", "input", "observation", "result", "results", "schema",
     "toolTelemetry", "toolUseResult"]
)  # fmt: skip


class StopValidation(Exception):
    """There is nothing more to judge; the last fault says why."""


def validator(rules: Callable[[bytes], Faults]) -> Callable[[bytes], list[str]]:
    """What is wrong with a file by `rules`, a sentence each, `MOST` at most and then how many more."""

    @wraps(rules)
    def validate(data: bytes) -> list[str]:
        found: list[str] = []
        try:
            for fault in map(_on_one_line, rules(data)):
                found.append(fault if len(fault) <= LONGEST else f"{fault[: LONGEST - 1]}…")  # noqa: PERF401
        except StopValidation as last:
            found.append(str(last))
        except RecursionError:
            found.append("It is nested too deeply to validate.")
        found += (fault for fault in _damaged_values(data) if fault not in found)
        more = len(found) - MOST
        return found if more <= 0 else [*found[:MOST], f"{more} more fault{'' if more == 1 else 's'}."]

    return validate


def _on_one_line(fault: str) -> str:
    """The fault with control characters and line ends escaped: an id that it names may hold any."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], fault)


def _damaged_values(data: bytes) -> Faults:
    """Values that the API or the agent refuses wherever they stand: halves of characters, and counts out of range."""
    if not data.lstrip(_BLANK).startswith((b"{", b"[")):
        return
    halves = [found.start() for found in _ESCAPES.finditer(data) if found[1]] if _MAY_BE_HALF.search(data) else []
    for number in sorted({data.count(b"\n", 0, at) + 1 for at in halves[:MOST]}):
        yield f"Line {number} holds half a character (lone surrogate), which the API rejects."
    if _MAY_BE_WRONG.search(data):
        for where, value in _wrong_counts(data):
            yield f"{where} is {value if abs(value) < MOST_COUNTED else 'too large'}, out of the range of a count."


def _wrong_counts(data: bytes) -> Iterator[tuple[str, int | float]]:
    """Place and value of each count that is negative or larger than anything that is counted."""
    rows = lines(data)
    first = next(rows, (1, None))
    if first[1] is None:
        with suppress(StopValidation, RecursionError):
            for path, value in _counts(document(data)):
                if not 0 <= value < MOST_COUNTED:
                    yield f"Value {path}", value
        return
    for number, row in chain([first], rows):
        for path, value in _counts(row):
            if not 0 <= value < MOST_COUNTED:
                yield f"Line {number}: {path}", value


def _counts(value: Any) -> Iterator[tuple[str, int | float]]:
    """Path and value of each number that counts tokens or messages, in the order of the file. What a model gave a tool
    or got from it is passed over: its numbers are anybody's; so is what lies deeper than a session's values do."""
    waiting: list[tuple[Any, tuple[str, ...], bool, int]] = [(value, (), False, 0)]
    while waiting:
        value, path, within, depth = waiting.pop()
        inner: list[tuple[Any, tuple[str, ...], bool, int]] = []
        if isinstance(value, list):
            last = path[-1] if path else ""
            inner = [(one, (*path[:-1], f"{last}[{n}]"), within, depth + 1) for n, one in enumerate(value)
                     if isinstance(one, dict | list)]  # fmt: skip
        elif isinstance(value, dict):
            for key, one in value.items():
                if isinstance(one, dict | list):
                    if key not in _ANYBODYS:
                        inner.append((one, (*path, key), within or key.lower().endswith(_USAGES), depth + 1))
                elif type(one) in (int, float) and (within or _COUNTED.search(key)) and not _LIMITS.search(key):
                    inner.append((one, (*path, key), within, depth))
        elif path:
            yield ".".join(path), value
        if depth <= DEEPEST:
            waiting += reversed(inner)


def document(data: bytes) -> Any:
    """The value of a file that is one JSON document. Raises Hopeless."""
    try:
        return json.loads(data.decode("utf-8-sig", "replace"), strict=False)
    except ValueError as error:
        raise StopValidation(f"It is not a JSON document: {error}.") from None


def lines(data: bytes) -> Iterator[tuple[int, Item | None]]:
    """Number and object of each line that is not blank, None for one that holds something else."""
    text, at, number = data.decode("utf-8", "replace"), 0, 1
    while said := _SAID.search(text, at):
        begin = max(at, text.rfind("\n", at, said.start()) + 1)
        number += text.count("\n", at, begin)
        end = text.find("\n", begin)
        at = len(text) if end < 0 else end + 1
        try:
            value = json.loads(text[begin:at], strict=False)
        except (ValueError, RecursionError):
            value = None
        yield number, value if isinstance(value, dict) else None
        number += 1


def require_list(value: Any, what: str) -> list[Any]:
    """The value where it is a list with something in it. Raises Hopeless: "There are no messages."."""
    if isinstance(value, list) and value:
        return value
    raise StopValidation(f"There are no {what}.")


def inner(value: Any, key: str, kind: type[T]) -> T:
    """What an object has at `key` where it is of that kind, an empty one otherwise."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, kind) else kind()


def objects(values: Any) -> list[Item]:
    """The objects among the values of a list."""
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def missing_keys(value: Any, shape: Shape, where: str) -> Faults:
    """A fault for each key that is missing or of another type; `where` is what lacks it."""
    for key, kind in shape.items():
        if not isinstance(value.get(key) if isinstance(value, dict) else None, kind):
            yield f"{where} has no {key} of the right type."


def excess_tokens(where: str, tokens: Any, sent: Iterable[Any]) -> Faults:
    """Whether a count of tokens is more than what is sent can be: tools compact by the newest one."""
    largest = sum(len(json.dumps(item, ensure_ascii=False)) for item in sent) + SPARE_TOKENS
    if isinstance(tokens, int) and tokens > largest:
        yield f"{where} claims {tokens} tokens, more than the context can have."
