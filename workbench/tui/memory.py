"""Memory that one thread has let go is there for the others."""

from __future__ import annotations

import ctypes
from contextlib import suppress

_M_ARENA_MAX = -8


def one_heap() -> None:
    """Have the C library give all threads the same heap. That of GNU gives each its own, and of what the loading thread
    has let go there, 15 MB for a file of 100, no other is given anything. Elsewhere nothing is done.
    """
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
