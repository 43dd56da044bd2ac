"""What of the loaded file stays as it was: the kept messages that end a context, in the file's order."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.session import Message


def tail_of(messages: Sequence[Message]) -> int:
    """Where the unbroken run of kept messages begins that ends the context; what lies between them is kept as well."""
    start = len(messages)
    while start and messages[start - 1].source:
        if start < len(messages) and messages[start - 1].source[0] >= messages[start].source[0]:
            break
        start -= 1
    return start
