"""Repairs of records common to several formats: tool pairs, impossible counts, and reasoning that the API rejected.

APIs accept a result only after its call, and a call only with a result before the next response. A result that cannot
be paired becomes text, so that its content is kept; a call without a result gets one that says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from workbench.formats.fixes import Fault
from workbench.formats.kit.sheet import Path, RepairSheet, SheetEntry, value_at
from workbench.formats.kit.values import dict_of
from workbench.session import Session

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


# -- Pairs


def _put_before_in_file(sheet: RepairSheet, entry: SheetEntry, new: SheetEntry) -> None:
    sheet.entries.insert(sheet.index(entry), new)


def _drop(sheet: RepairSheet, entry: SheetEntry) -> None:
    sheet.drop(lambda one: one is entry)


class Pairing(Struct, frozen=True):
    """Access to the calls and results in a format's records.

    `calls` and `results` return the ids in a record, in order. `response` returns the id of the response that a record
    belongs to, "" for none. `as_text` turns the n-th result of a record into text. `answers` makes records with a
    result for each of some calls of a record. `put_before` places a record before another; `detach` takes a record out
    of its place.
    """

    calls: Callable[[SheetEntry], list[str]]
    results: Callable[[SheetEntry], list[str]]
    response: Callable[[SheetEntry], str]
    as_text: Callable[[SheetEntry, int], None]
    answers: Callable[[SheetEntry, Sequence[str]], list[SheetEntry]]
    put_before: Callable[[RepairSheet, SheetEntry, SheetEntry], None] = _put_before_in_file
    detach: Callable[[RepairSheet, SheetEntry], None] = _drop


def with_results(
    sheet: RepairSheet, sent: Sequence[SheetEntry], session: Session, pairing: Pairing
) -> list[SheetEntry]:
    """Return the sent records and, in file order, those with results that were cleared or edited later: the session's
    messages for such results come from other records, or from none."""
    order = list(sent)
    result_ids = {id for entry in sent for id in pairing.results(entry)}
    edited = {result.call_id for message in session.context() for result in message.results} - result_ids
    place = {entry: number for number, entry in enumerate(sheet.entries)}
    for entry in sheet.entries if edited else ():
        if edited & set(pairing.results(entry)):
            at = next((n for n, one in enumerate(order) if place[one] > place[entry]), len(order))
            order.insert(at, entry)
    return order


def pair(sheet: RepairSheet, context: Sequence[SheetEntry], pairing: Pairing) -> None:
    """Repair the pairs in `context`, the sent records in their order."""
    order = list(context)
    _move_early_results(sheet, order, pairing)
    _replace_orphans(sheet, order, pairing)
    _supply_results(sheet, order, pairing)


def _move_early_results(sheet: RepairSheet, order: list[SheetEntry], pairing: Pairing) -> None:
    """Move records that contain only results to after their calls."""
    calls = {id: entry for entry in reversed(order) for id in pairing.calls(entry)}  # the first with each id
    place = {entry: number for number, entry in enumerate(order)}
    for entry in list(order):
        ids = pairing.results(entry)
        later = [calls[id] for id in ids if id in calls and place[calls[id]] > place[entry]]
        if not ids or len(later) < len(ids) or pairing.response(entry):
            continue
        at = order.index(max(later, key=place.__getitem__))
        following = _next_turn(order, at, pairing)
        if following is None:
            continue
        order.remove(entry)
        pairing.detach(sheet, entry)
        pairing.put_before(sheet, following, entry)
        order.insert(order.index(following), entry)
        sheet.fixed(Fault.EARLY_RESULT, entry, ", ".join(ids))


def _replace_orphans(sheet: RepairSheet, order: list[SheetEntry], pairing: Pairing) -> None:
    """Turn results without an open call before them into text."""
    open_calls: set[str] = set()
    answered: set[str] = set()
    for entry in order:
        found = pairing.calls(entry)
        open_calls.update(found)
        answered.difference_update(found)
        wrong: list[tuple[int, str, Fault]] = []
        for nth, id in enumerate(pairing.results(entry)):
            if id in open_calls:
                open_calls.discard(id)
                answered.add(id)
            else:
                wrong.append((nth, id, Fault.REPEATED_RESULT if id in answered else Fault.ORPHAN_RESULT))
        for nth, id, fault in reversed(wrong):
            pairing.as_text(entry, nth)
            sheet.fixed(fault, entry, id or "a call without an id")


def _supply_results(sheet: RepairSheet, order: list[SheetEntry], pairing: Pairing) -> None:
    """Move late results to their calls, and add missing results."""
    for entry in list(order):
        calls = pairing.calls(entry)
        at = order.index(entry)
        following = _next_turn(order, at, pairing)
        if not calls or following is None:
            continue
        until = _next_response(order, at, pairing)
        result_ids = {id for one in order[at:until] for id in pairing.results(one)}
        missing = [id for id in calls if id not in result_ids]
        if not missing:  # usual case; the code below scans the rest of the session
            continue
        for late in [one for one in order[until:] if set(pairing.results(one)) & set(missing)]:
            ids = pairing.results(late)
            if set(ids) <= set(missing) and not pairing.response(late):
                order.remove(late)
                pairing.detach(sheet, late)
                pairing.put_before(sheet, following, late)
                order.insert(order.index(following), late)
                sheet.fixed(Fault.LATE_RESULT, late, ", ".join(ids))
                missing = [id for id in missing if id not in ids]
            else:
                for nth in reversed(range(len(ids))):
                    if ids[nth] in missing:
                        pairing.as_text(late, nth)
                        sheet.fixed(Fault.ORPHAN_RESULT, late, ids[nth])
        if missing:
            for new in pairing.answers(entry, missing):
                pairing.put_before(sheet, following, new)
                order.insert(order.index(following), new)
            for id in missing:
                sheet.fixed(Fault.MISSING_RESULT, entry, id)


def _next_response(order: list[SheetEntry], at: int, pairing: Pairing) -> int:
    """Return the index of the first record of another response; the end if there is none."""
    response = pairing.response(order[at])
    rest = (number for number in range(at + 1, len(order)) if pairing.response(order[number]) not in ("", response))
    return next(rest, len(order))


def _next_turn(order: list[SheetEntry], at: int, pairing: Pairing) -> SheetEntry | None:
    """Return the first record after a response that is neither part of it nor a result; None if there is none."""
    response = pairing.response(order[at])
    for entry in order[at + 1 :]:
        if pairing.response(entry) != response and not (pairing.results(entry) and not pairing.response(entry)):
            return entry
    return None


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
