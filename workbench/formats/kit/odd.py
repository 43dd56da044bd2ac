"""The most warnings of a kind that a session is given: a damaged file may have one for each of its lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from workbench.base.figures import grouped
from workbench.session import LoadWarning

TOLD = 1_000
"""Warnings of a kind that are listed one by one."""

_VARIES = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[\d\u202f\xa0]+")
"""Parts of a text that differ between warnings of one kind: names in quotation marks, and numbers."""


def capped(warnings: Iterable[LoadWarning]) -> tuple[LoadWarning, ...]:
    """The warnings with `TOLD` of each kind at most; behind them, how many more there are of it."""
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
