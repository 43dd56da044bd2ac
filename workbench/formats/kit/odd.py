"""Limit on the number of warnings of one kind: a damaged file may cause one per line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from workbench.base.figures import grouped
from workbench.session import LoadWarning

TOLD = 1_000
"""Warnings of one kind that are listed one by one."""

_VARIES = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[\d\u202f\xa0]+")
"""Parts of a text that differ between warnings of one kind: quoted names and numbers."""


def limit_warnings(warnings: Iterable[LoadWarning]) -> tuple[LoadWarning, ...]:
    """Return at most `TOLD` warnings of each kind, followed by the number of further ones."""
    listed: list[LoadWarning] = []
    kinds: Counter[str] = Counter()
    newest: dict[str, LoadWarning] = {}
    for warning in warnings:
        kind = _VARIES.sub("", warning.text)
        kinds[kind] += 1
        if kinds[kind] <= TOLD:
            listed.append(warning)
        else:
            newest[kind] = warning
    for kind, last in newest.items():
        more = grouped(kinds[kind] - TOLD)
        listed.append(LoadWarning(f"{more} more warnings of this kind, the last: {last.text}", last.line))
    return tuple(listed)
