"""A session among several in one file, as a chooser lists it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """`messages` is how many the file holds for it; `id` finds it again."""

    id: str
    title: str
    messages: int
