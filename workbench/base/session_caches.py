"""What was found out about the texts of a session, kept while there is something to do with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import _lru_cache_wrapper, lru_cache
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")

CACHES: list[_lru_cache_wrapper[Any]] = []
"""Every such function."""


def session_cache(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A function that is asked about the same texts again and again, with its last `most` answers."""

    def wrapped(function: Callable[P, T]) -> Callable[P, T]:
        remembering = lru_cache(maxsize=most)(function)
        CACHES.append(remembering)
        return cast(Callable[P, T], remembering)

    return wrapped


def clear_session_caches() -> None:
    """Let go of all of it: the next session says other things, and of thousands each would leave its own behind."""
    for one in CACHES:
        one.cache_clear()
