"""Usage that speaks of another context, as a session that was compacted and written back still holds it.

Tools take the last recorded usage for the size of the context and would compact such a session again at once, so
writers set it to nothing. The calls kept before it were billed for the longer context they once had.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.session import Message, Usage


def without_stale(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages without usage of nothing, and without any recorded before such a one that the next call belies."""
    calls = [index for index, message in enumerate(messages) if message.usage is not None]
    reset = next((at for at in range(len(calls) - 1, -1, -1) if not _context(messages[calls[at]])), None)
    if reset is None:
        return tuple(messages)
    forget = {index for index in calls if not _context(messages[index])}
    before = next((size for index in reversed(calls[:reset]) if (size := _context(messages[index]))), 0)
    after = next((size for index in calls[reset:] if (size := _context(messages[index]))), 0)
    if after < before:
        forget.update(calls[:reset])
    return tuple(replace(message, usage=None) if index in forget else message for index, message in enumerate(messages))


def _context(message: Message) -> int:
    usage = message.usage or Usage()
    return usage.context
