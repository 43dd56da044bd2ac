"""Where in a text something lies."""

from __future__ import annotations

from collections.abc import Iterator

Span = tuple[int, int]
"""The first character and the one behind the last."""

SHORTEST = 6
"""Characters of the shortest text that is taken for a secret, or could hold one."""


def places_of(word: str, text: str) -> Iterator[int]:
    """Where a word begins, each time. It is what finds a rare word the fastest."""
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))
