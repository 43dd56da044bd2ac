"""Caches of functions that are called again and again with the texts of a session."""

from __future__ import annotations

from collections.abc import Callable
from functools import _lru_cache_wrapper, lru_cache
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")

CACHES: list[_lru_cache_wrapper[Any]] = []
"""All cached functions."""


def session_cache(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Cache the last `most` results of a function, until `clear_session_caches`."""

    def wrapped(function: Callable[P, T]) -> Callable[P, T]:
        cached = lru_cache(maxsize=most)(function)
        CACHES.append(cached)
        return cast(Callable[P, T], cached)

    return wrapped


def clear_session_caches() -> None:
    """Clear all caches: the next session has other texts, and thousands of sessions would fill the memory."""
    for one in CACHES:
        one.cache_clear()
