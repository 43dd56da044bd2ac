"""Ids of messages where a file repeats its own."""

from __future__ import annotations


def unique_id(id: str, taken: dict[str, int]) -> str:
    """`id`, with a mark and a number behind it where it is in `taken`, to which the answer is added.

    `taken` counts how often each id was asked for, so that a file of nothing but one id takes no longer than another.
    """
    free = id
    while free in taken:
        taken[id] += 1
        free = f"{id}'{taken[id]}"
    taken[free] = 1
    return free
