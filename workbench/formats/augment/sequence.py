"""Assign sequence ids, which order the entries of a history; an inserted entry gets the mean of its neighbours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from workbench.formats.kit.document import render
from workbench.formats.kit.json_spans import replace_fields
from workbench.formats.kit.jsonl import loads
from workbench.formats.kit.values import dict_of


def sequence_ids(existing: Sequence[float | None]) -> list[float]:
    """Return strictly rising sequence ids: a new one for each None, the others unchanged if possible.

    A new id is the mean of its neighbours rounded to 6 decimals, with 0 before the first; several share the gap evenly.
    At the end an id is its index. If the ids would not rise (the 21st insertion in one gap), all are numbered from 0.
    """
    ids: list[float] = []
    following = _next_known(existing)
    for place, known in enumerate(existing):
        before = ids[-1] if ids else 0.0
        after = following[place]
        if known is not None:
            ids.append(known)
        elif after is None:
            ids.append(float(max(place, math.floor(before) + 1 if ids else 0)))
        else:
            where, value = after
            ids.append(round(before + (value - before) / (where - place + 1), 6))
    if all(a < b for a, b in pairwise(ids)):
        return ids
    return [float(place) for place in range(len(ids))]


def _next_known(ids: Sequence[float | None]) -> list[tuple[int, float] | None]:
    """Return for each index the first known id from there on, as (index, id)."""
    next_ids: list[tuple[int, float] | None] = []
    after: tuple[int, float] | None = None
    for place in range(len(ids) - 1, -1, -1):
        known = ids[place]
        after = after if known is None else (place, known)
        next_ids.append(after)
    return next_ids[::-1]


def sequence_id_of(value: Any) -> float | None:
    """Return a recorded id as a number, None for any other value."""
    return float(value) if type(value) in (int, float) and math.isfinite(value) else None


def compact_number(value: float) -> float:
    """Return an integral number as an int, as auggie writes it."""
    return int(value) if value.is_integer() else value


def recorded_sequence_id(raw: bytes) -> float | None:
    return sequence_id_of(dict_of(loads(raw)).get("sequenceId"))


def with_sequence_id(raws: Sequence[bytes], index: int, sequence_id: float) -> int | bytes:
    """Return a loaded entry by index, or as JSON where its sequence id changes."""
    value = loads(raws[index])
    if not isinstance(value, dict) or sequence_id_of(value.get("sequenceId")) == sequence_id:
        return index
    return replace_fields(raws[index], {"sequenceId": render(compact_number(sequence_id))})
