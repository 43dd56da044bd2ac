"""Record faults common to several formats: impossible counts, and reasoning that the API rejected."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from workbench.formats.fixes import Fault
from workbench.formats.kit.sheet import Path, RepairSheet, SheetEntry, value_at
from workbench.formats.kit.values import dict_of

SPARE_TOKENS = 30_000
"""Tokens that a recorded count may exceed the context by, for system prompt and tools."""

REFUSED_REASONING = re.compile(
    r"(?:redacted_)?thinking`? blocks .{0,80}cannot be modified"
    r"|invalid `?signature`? in `?thinking"
    r"|(?:reasoning|encrypted[ _]content).{0,80}(?:could not be|cannot be|invalid|failed to)",
    re.IGNORECASE | re.DOTALL,
)
"""Errors with which the Messages and Responses APIs reject reasoning that they produced earlier."""

REFUSED_ORDER = re.compile(r"expected `?thinking`? or `?redacted_thinking`?, but found", re.IGNORECASE)
"""Error of the Messages API for a turn that must begin with reasoning but has none."""


# -- Counts


def no_negative_counts(sheet: RepairSheet, entry: SheetEntry, path: Path) -> None:
    """Set negative counts in the object at `path` to 0, at any depth."""
    for inner, value in list(_numbers(value_at(entry.value, path), path)):
        if value < 0:
            entry.put(inner, 0)
            sheet.fixed(Fault.NEGATIVE_COUNT, entry, ".".join(map(str, inner)))


def _numbers(value: Any, path: Path) -> Iterator[tuple[Path, int | float]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, (*path, key))
    elif type(value) in (int, float):
        yield path, value


def sum_of(usage: Any, keys: Sequence[str]) -> int:
    """Return the sum of the token counts under `keys` in a usage record."""
    counts = [dict_of(usage).get(key) for key in keys]
    return sum(count for count in counts if type(count) is int and count > 0)


def chars_of(values: Iterable[Any]) -> int:
    """Return the number of characters of the values as JSON, an upper bound of their tokens."""
    return sum(len(json.dumps(value, ensure_ascii=False)) for value in values)


# -- Reasoning


def refused_reasoning(
    sheet: RepairSheet,
    entries: Sequence[SheetEntry],
    error: Callable[[SheetEntry], str],
    reasoning: Callable[[SheetEntry], tuple[Path, list[int]] | None],
    response: Callable[[SheetEntry], str],
) -> None:
    """Remove the reasoning from the responses before an API error that rejects it, if no response followed the error.

    `error` returns a record's API error, "" for none; `reasoning` the location of a response's reasoning blocks;
    `response` the id of the response that a record belongs to, "" for none.
    """
    for place in range(len(entries) - 1, -1, -1):
        text = error(entries[place])
        if REFUSED_ORDER.search(text):
            sheet.unrepaired(Fault.REFUSED_REASONING, entries[place])
            return
        if REFUSED_REASONING.search(text):
            before = [entry for entry in entries[:place] if response(entry) and not error(entry)]
            if before and "latest assistant" in text:
                before = [entry for entry in before if response(entry) == response(before[-1])]
            for entry in before:
                found = reasoning(entry)
                if found is not None and found[1]:
                    entry.remove(*found)
                    sheet.fixed(Fault.REFUSED_REASONING, entry, len(found[1]))
            return
        if not text and response(entries[place]):
            return
