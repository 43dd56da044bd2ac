"""Building blocks of validators: reading of the file under validation, and wording of its faults.

Writers import nothing from here, and validators nothing from writers, so that one checks the other. A validator is a
generator of sentences, each with a place ("Line 3 has no id."), decorated with `@validator`.
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
"""Faults that are listed; of further ones, only the number."""
LONGEST = 300
"""Characters of a fault, which may quote the file."""
SPARE_TOKENS = 30_000
"""Tokens that a count may exceed the messages by, for system prompt and tools."""

Faults = Iterator[str]
Item = dict[str, Any]
Shape = Mapping[str, type | tuple[type, ...]]
"""Required keys of an object, with their types."""

MOST_COUNTED = 10**15
"""Bound above any real count of tokens or messages."""

T = TypeVar("T")
_NOT_BLANK = re.compile(r"\S")
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
_TOOL_DATA = frozenset(
    ["action", "args", "arguments", "attachment", "content", "extras", "functionCall", "functionResponse",
     "function_call", "function_response", "input", "observation", "result", "results", "schema",
     "toolTelemetry", "toolUseResult"]
)  # fmt: skip


class StopValidation(Exception):
    """Ends a validation; its text is the last fault."""


def validator(rules: Callable[[bytes], Faults]) -> Callable[[bytes], list[str]]:
    """Make a validator of `rules`: it returns at most `MOST` faults, and the number of further ones."""

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
    """Return the fault with control characters and line ends escaped, because it may quote an id from the file."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], fault)


def _damaged_values(data: bytes) -> Faults:
    """Yield values that APIs and agents reject anywhere: lone surrogates, and counts out of range."""
    if not data.lstrip(_BLANK).startswith((b"{", b"[")):
        return
    halves = [found.start() for found in _ESCAPES.finditer(data) if found[1]] if _MAY_BE_HALF.search(data) else []
    for number in sorted({data.count(b"\n", 0, at) + 1 for at in halves[:MOST]}):
        yield f"Line {number} holds half a character (lone surrogate), which the API rejects."
    if _MAY_BE_WRONG.search(data):
        for where, value in _wrong_counts(data):
            yield f"{where} is {value if abs(value) < MOST_COUNTED else 'too large'}, out of the range of a count."


def _wrong_counts(data: bytes) -> Iterator[tuple[str, int | float]]:
    """Yield place and value of each count that is negative or impossibly large."""
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
    """Yield path and value of each number that counts tokens or messages, in file order. Tool input and tool results
    are skipped, as are values nested too deeply."""
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
                    if key not in _TOOL_DATA:
                        inner.append((one, (*path, key), within or key.lower().endswith(_USAGES), depth + 1))
                elif type(one) in (int, float) and (within or _COUNTED.search(key)) and not _LIMITS.search(key):
                    inner.append((one, (*path, key), within, depth))
        elif path:
            yield ".".join(path), value
        if depth <= DEEPEST:
            waiting += reversed(inner)


def document(data: bytes) -> Any:
    """Return the value of a file that is one JSON document. Raises StopValidation."""
    try:
        return json.loads(data.decode("utf-8-sig", "replace"), strict=False)
    except ValueError as error:
        raise StopValidation(f"It is not a JSON document: {error}.") from None


def lines(data: bytes) -> Iterator[tuple[int, Item | None]]:
    """Yield number and object of each line that is not blank, None for a line that is no object."""
    text, at, number = data.decode("utf-8", "replace"), 0, 1
    while character := _NOT_BLANK.search(text, at):
        begin = max(at, text.rfind("\n", at, character.start()) + 1)
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
    """Return the value if it is a nonempty list. Raises StopValidation, which names `what`, for any other value."""
    if isinstance(value, list) and value:
        return value
    raise StopValidation(f"There are no {what}.")


def inner(value: Any, key: str, kind: type[T]) -> T:
    """Return the value at `key` if it has the type `kind`, else an empty one."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, kind) else kind()


def objects(values: Any) -> list[Item]:
    """Return the objects in a list."""
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def missing_keys(value: Any, shape: Shape, where: str) -> Faults:
    """Yield a fault for each key that is missing or of another type; `where` names the object."""
    for key, kind in shape.items():
        if not isinstance(value.get(key) if isinstance(value, dict) else None, kind):
            yield f"{where} has no {key} of the right type."


def excess_tokens(where: str, tokens: Any, sent: Iterable[Any]) -> Faults:
    """Yield a fault if a token count is more than the sent items can have: agents compact by the newest count."""
    largest = sum(len(json.dumps(item, ensure_ascii=False)) for item in sent) + SPARE_TOKENS
    if isinstance(tokens, int) and tokens > largest:
        yield f"{where} claims {tokens} tokens, more than the context can have."
