"""The key that explains the screen in front, the same on every screen; and the ids of all keys there are."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from textual.binding import Binding
from textual.dom import DOMNode

from workbench import tui


def help_key(screen: str) -> Binding:
    """`?`, and F1 for screens on which something is typed."""
    return Binding(
        "f1,question_mark", "app.explain", "Help", id=f"{screen}.help", tooltip="Explain this screen and its keys."
    )


def known_key_ids() -> set[str]:
    """The id of every key that can be remapped, on every screen and widget. Imports them all: not at the start."""
    bindings = (binding for place in every_place() for binding in place.__dict__.get("BINDINGS", ()))
    return {binding.id for binding in Binding.make_bindings(bindings) if binding.id}


def every_place() -> Iterator[type[DOMNode]]:
    """Everything that can have keys: the application, the screens, the widgets."""
    for found in pkgutil.walk_packages(tui.__path__, f"{tui.__name__}."):
        module = importlib.import_module(found.name)
        own = (value for value in vars(module).values() if isinstance(value, type) and issubclass(value, DOMNode))
        yield from (value for value in own if value.__module__ == module.__name__)
