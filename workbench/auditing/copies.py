"""Compactions that are in several files, because a session was forked, resumed into a new file, or copied. Each is
counted once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.auditing.rows import SessionRow


def mark_copies(rows: Sequence[SessionRow]) -> tuple[SessionRow, ...]:
    """Mark all but one of equal compactions as copies. The one in the session with most calls counts: there most is
    known about its effects."""
    holders: dict[str, tuple[int, str, str]] = {}
    for row in rows:
        here = _sort_key(row)
        for one in row.compactions:
            holders[one.id] = min(here, holders.get(one.id, here))
    return tuple(_with_copies_marked(row, holders) if row.compactions else row for row in rows)


def _sort_key(row: SessionRow) -> tuple[int, str, str]:
    return -row.calls, row.path, row.part


def _with_copies_marked(row: SessionRow, holders: dict[str, tuple[int, str, str]]) -> SessionRow:
    compactions = tuple(replace(one, copy=holders[one.id] != _sort_key(row)) for one in row.compactions)
    return row if compactions == row.compactions else replace(row, compactions=compactions)
