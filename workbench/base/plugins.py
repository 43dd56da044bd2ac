"""What other distributions offer under an entry point's name. Nothing is imported but what is asked for by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from workbench.base.errors import BadInput

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

T = TypeVar("T")


def offered(group: str) -> tuple[str, ...]:
    """The names in a group of entry points, in the order of the alphabet."""
    return tuple(sorted({entry.name for entry in _entries(group)}))


def _entries(group: str) -> EntryPoints:
    from importlib.metadata import entry_points  # takes as long to import as a format

    return entry_points(group=group)


def load(group: str, name: str, kind: type[T]) -> T:
    """The value offered under `name`, one of those `offered`. Raises BadInput, which names the distribution, what went
    wrong and the remedy, whatever the plug-in raises when it is imported."""
    entry = next(entry for entry in _entries(group) if entry.name == name)
    by = entry.dist.name if entry.dist else "a distribution without a name"
    try:
        value = entry.load()
    except (Exception, SystemExit) as error:
        trouble = f"cannot be imported ({type(error).__name__}: {error})"
        raise BadInput(f"{name!r} of {by} {trouble}; update {by}, or uninstall it.") from error
    if not isinstance(value, kind):
        trouble = f"is a {type(value).__name__} and no {kind.__name__}"
        raise BadInput(f"{name!r} of {by} {trouble}; let its entry point name a {kind.__name__}.")
    return value
