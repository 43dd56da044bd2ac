"""Keys that this program adds to records, for facts that a format has no field for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.session import Kind, Message

MARK = "workbench_kind"
"""Kind of a message. Agents ignore unknown keys; our readers restore the kind from it."""

STALE_USAGE = "workbench_spent"
"""Marks usage recorded so far as stale: it counts a longer context than the one now in the file."""

COPY = "workbench_copy"
"""Marks a record that is repeated in the file, at the position where it was read."""


EXPORT_NOTE = "workbench_carried"
"""Note of an export about its context as a whole (`formats/export_note.py`), once per file."""


def marked(record: Mapping[str, Any]) -> Kind | None:
    """Return the kind that this program wrote into a record; None without one."""
    kind = record.get(MARK)
    return kind if kind in ("normal", "summary", "meta") else None


def without_stale_usage(messages: Sequence[Message], context: Sequence[int], last: int) -> tuple[Message, ...]:
    """Remove the usage of the context's messages up to number `last`, whose record is marked with STALE_USAGE.

    Usage of earlier epochs is kept. `context` numbers the messages of the newest context in file order.
    """
    stale = {number for number in context if number <= last}
    return tuple(replace(message, usage=None) if n in stale else message for n, message in enumerate(messages))
