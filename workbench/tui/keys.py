"""Keys that every screen shares, the ids of all keys, and the ids that former versions had."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from textual.binding import Binding
from textual.dom import DOMNode

from workbench import tui

HELP_KEY = Binding(
    "f1,question_mark", "app.explain", "Help", id="screen.help", tooltip="Explain this screen and its keys."
)
"""`?`, and F1 for screens on which something is typed."""

CLOSE_KEY = Binding("escape,q", "dismiss(None)", "Close", id="screen.close", tooltip="Go back; nothing else changes.")
"""For a screen that a key has nothing to ask before it closes. Where something is typed, q is a letter."""

_CLOSED = ("ask.cancel", "choose.cancel", "compare.close", "export.close", "go.stay", "list.close", "policies.cancel",
           "repair.close", "replay.close", "summarizer.cancel", "two.close", "why.close", "writing.leave")  # fmt: skip

_AUDIT = ("open", "sort", "filter", "table", "write", "sums", "read", "leave")

_IN_SETTINGS = ("window", "exact", "save-preset", "paste-params", "copy-toml", "copy-params", "reset-policy")
_IN_PALETTE = ("write-text", "follow", "questions", "repair", "reread")

FORMER = {
    **dict.fromkeys((*_CLOSED, "ab.close"), CLOSE_KEY.id or ""),
    **{f"audit.{name}": f"sessions.{name}" for name in _AUDIT},
    "open.choose": "sessions.open",
    "open.browse": "sessions.browse",
    "open.leave": "sessions.leave",
    **dict.fromkeys(("bench.audit", "open.audit"), "bench.choose_file"),
    **dict.fromkeys(("tour.next", "tour.back", "tour.leave"), "bench.play"),
    **dict.fromkeys(("refusal.open", "spend.yes"), "confirm.yes"),
    **dict.fromkeys(("refusal.close", "spend.no"), "confirm.no"),
    **dict.fromkeys(("ab.prompt-a", "ab.prompt-b"), "compare.prompt"),
    **dict.fromkeys(("ab.who-a", "ab.who-b"), "compare.model"),
    **dict.fromkeys(("ab.take-a", "ab.take-b"), "compare.open"),
    **dict.fromkeys(("policies.play", "replay.alone", "replay.recorded"), "compare.lines"),
    **dict.fromkeys(("policies.all", "replay.policies"), "compare.all"),
    "ab.run": "compare.run",
    "bench.ab": "bench.compare",
    "policies.mark": "compare.mark",
    "replay.focus": "compare.focus",
    "replay.go": "plot.choose",
    "replay.lost": "compare.lost",
    "two.summaries": "compare.beside",
    **{f"bench.{id}": "a row of the settings (9)" for id in _IN_SETTINGS},
    **{f"bench.{id}": "a command of the palette (ctrl+p)" for id in _IN_PALETTE},
    "bench.change-filter": "bench.filter",
    "bench.prompts": "bench.edit-text",
    **dict.fromkeys(("exact.count", "exact.forget", "exact.close"), "a row of the settings (9)"),
    **dict.fromkeys(("paste.take", "paste.cancel", "filter.show", "filter.close"), "enter and escape, as in any line"),
}
"""Ids of keys that are no more, with the id or the place that has their job."""


def now_at(id: str) -> str:
    """The id or place that has the job of a former id, "" for an id that never was."""
    return (HELP_KEY.id or "") if id.endswith(".help") else FORMER.get(id, "")


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
