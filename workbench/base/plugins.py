"""Plug-ins: entry points of other distributions. A plug-in is imported only when it is loaded by its name."""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from workbench.base.errors import BadInput
from workbench.base.secrets import error_line

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

T = TypeVar("T")


def plugin_names(group: str) -> tuple[str, ...]:
    """Return the names in a group of entry points, sorted."""
    return tuple(sorted({entry.name for entry in _entries(group)}))


def _entries(group: str) -> EntryPoints:
    return _cached_entries(group, tuple(sys.path))


@cache
def _cached_entries(group: str, places: tuple[str, ...]) -> EntryPoints:
    """Return the entry points. Cached: it reads files of every distribution, and the ids of strategies are requested
    often."""
    from importlib.metadata import entry_points  # slow to import

    return entry_points(group=group)


def _entry(group: str, name: str) -> EntryPoint:
    return next(entry for entry in _entries(group) if entry.name == name)


def _distribution(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else "a distribution without a name"


def load(group: str, name: str, kind: type[T]) -> T:
    """Return the value of the plug-in `name`, one of `plugin_names`. Raises BadInput with the distribution, the error
    and the remedy, for any exception during the import and for a value that is no `kind`."""
    entry = _entry(group, name)
    by = _distribution(entry)
    try:
        value = entry.load()
    except (Exception, SystemExit) as error:
        raise plugin_error(group, name, "cannot be imported", error) from error
    if not isinstance(value, kind):
        trouble = f"is a {type(value).__name__} and no {kind.__name__}"
        raise BadInput(f"{name!r} of {by} {trouble}; let its entry point name a {kind.__name__}.")
    return value


def plugin_error(group: str, name: str, what: str, error: BaseException) -> BadInput:
    """Return the exception for a plug-in that raised `error`: its distribution, the error and the remedy in one
    line."""
    by = _distribution(_entry(group, name))
    line = error_line(f"{type(error).__name__}: {error}")
    return BadInput(f"{name!r} of {by} {what} ({line}); update {by}, or uninstall it.")
