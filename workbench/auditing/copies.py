"""Compactions that stand in more than one file: of a session that was resumed or forked into another with its history,
and of a file that lies in two places. Each is counted in one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.auditing.rows import SessionRow


def counted_once(rows: Sequence[SessionRow]) -> tuple[SessionRow, ...]:
    """The rows, with every compaction but one of those that are the same marked as a copy. It counts in the session
    that has most calls, for there most is known of what came behind it."""
    holders: dict[str, tuple[int, str, str]] = {}
    for row in rows:
        here = _place(row)
        for one in row.compactions:
            holders[one.id] = min(here, holders.get(one.id, here))
    return tuple(_marked(row, holders) if row.compactions else row for row in rows)


def _place(row: SessionRow) -> tuple[int, str, str]:
    return -row.calls, row.path, row.part


def _marked(row: SessionRow, holders: dict[str, tuple[int, str, str]]) -> SessionRow:
    made = tuple(replace(one, copy=holders[one.id] != _place(row)) for one in row.compactions)
    return row if made == row.compactions else replace(row, compactions=made)
