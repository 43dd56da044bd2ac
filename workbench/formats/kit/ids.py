"""Unique ids of messages in files that repeat ids."""

from __future__ import annotations


def unique_id(id: str, used: dict[str, int]) -> str:
    """Return `id`, with a mark and a number appended if it is in `used`, to which the result is added.

    `used` counts the requests for each id, so that a file of equal ids takes linear time.
    """
    free = id
    while free in used:
        used[id] += 1
        free = f"{id}'{used[id]}"
    used[free] = 1
    return free
