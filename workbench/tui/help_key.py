"""The key that explains the screen in front, the same on every screen; and the ids of all keys there are."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from textual.binding import Binding
from textual.widget import Widget


def help_key(screen: str) -> Binding:
    """`?`, and F1 for screens on which something is typed."""
    return Binding(
        "f1,question_mark", "app.explain", "Help", id=f"{screen}.help", tooltip="Explain this screen and its keys."
    )


def known_key_ids() -> set[str]:
    """The id of every key that can be remapped, on every screen and widget. Imports them all: not at the start."""
    from workbench.tui.app import WorkbenchApp

    bindings = (binding for place in (WorkbenchApp, *every_place()) for binding in place.__dict__.get("BINDINGS", ()))
    return {binding.id for binding in Binding.make_bindings(bindings) if binding.id}


def every_place() -> Iterator[type[Widget]]:
    """Every screen and widget of the workbench, the mixins of the bench among them."""
    from workbench.tui import middle, screens, widgets

    for room in (screens, widgets, middle):
        for found in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
            module = importlib.import_module(found.name)
            own = (value for value in vars(module).values() if isinstance(value, type) and issubclass(value, Widget))
            yield from (value for value in own if value.__module__ == module.__name__)
