"""The keys this program adds to records it writes, where a format has no word for what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.session import Kind, Message

MARK = "workbench_kind"
"""Tools pass over keys they do not know; a reader of this program finds the kind again."""

SPENT = "workbench_spent"
"""That the usage recorded up to here speaks of a longer context than the one that the file has now."""

COPY = "workbench_copy"
"""That the record stands in the file once more, where it was read."""


CARRIED = "workbench_carried"
"""What an export says of its context as a whole (`formats/carried.py`), once in the file."""


def marked(record: Mapping[str, Any]) -> Kind | None:
    """The kind that this program wrote into a record; None where it wrote none."""
    kind = record.get(MARK)
    return kind if kind in ("normal", "summary", "meta") else None


def without_spent(messages: Sequence[Message], context: Sequence[int], last: int) -> tuple[Message, ...]:
    """The messages without the usage of those in the context up to the one numbered `last`, which bears the mark.

    What was billed in earlier epochs stays. `context` numbers the messages of the newest one, all of them in the order
    of the file.
    """
    forget = {number for number in context if number <= last}
    return tuple(replace(message, usage=None) if n in forget else message for n, message in enumerate(messages))
