"""Where the secrets of a text lie."""

from __future__ import annotations

from workbench.base.secrets import names, places
from workbench.base.secrets.shapes import MARKED, TOKEN

_HOLLOW = frozenset("xXyYzZ*.-_")
"""Of these alone ends a placeholder: `ghp_XXXX…`."""


def spans(text: str) -> list[tuple[int, int]]:
    """From the first to the last, none touching another."""
    found = [match.span() for match in TOKEN.finditer(text) if not set(match[0][-12:]) <= _HOLLOW]
    for before, shape in MARKED:
        found += [(match.start() - before, match.end()) for match in shape.finditer(text)]
    for way in (places.keys, places.cut, places.addresses, places.headers, places.commands, names.spans):
        found += way(text)
    found.sort()
    joined: list[tuple[int, int]] = []
    for start, end in found:
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined
