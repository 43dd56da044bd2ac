"""Keys that every screen shares, the ids of all keys, and the ids that former versions had."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

from textual.binding import Binding
from textual.dom import DOMNode

from workbench import tui
from workbench.tui.settings import current_id

SHARED = {
    # on every screen; `cancel` where letters are typed
    "help": "f1,question_mark", "close": "escape,q", "cancel": "escape",
    # along lists, tables, texts, plots and time
    "move.down": "down,j", "move.up": "up,k", "move.page-down": "pagedown", "move.page-up": "pageup",
    "move.first": "home,g", "move.last": "end,G", "move.left": "left,h", "move.right": "right,l",
    "more": "plus,equals_sign", "less": "minus",
    "open": "enter", "toggle": "space", "all": "a", "remove": "x",
    "find": "slash", "find.next": "n", "find.previous": "N", "filter": "f", "table.sort": "s", "sums": "b",
    "copy": "y", "write": "w", "save": "ctrl+s", "editor": "f4", "refresh": "f5",
    "next-pane": "tab,f6", **{f"tab.{number}": str(number) for number in range(10)},
    "epoch.previous": "left_curly_bracket", "epoch.next": "right_curly_bracket",
    # actions on the session or a run
    "pin": "p", "watch": "W", "undo": "u", "run": "r", "model": "m", "history": "H", "beside": "d",
}  # fmt: skip
"""Keys by id, for the ids that several screens have."""


def shared(id: str, action: str, name: str, tooltip: str, **more: Any) -> Binding:
    """Binding of an id that several screens have; `name` and `tooltip` describe it on this screen. config.toml changes
    its keys on all of them."""
    return Binding(SHARED[id], action, name, id=id, tooltip=tooltip, **more)


HELP_KEY = shared("help", "app.explain", "Help", "Explain this screen and its keys.")
"""Key of the help: `?`, or F1 while the user types."""

CLOSE_KEY = shared("close", "dismiss(None)", "Close", "Go back; nothing else changes.")
"""Key of screens that close without a question: escape, or q, which is a letter while the user types."""

_CLOSED = (
    "ask.cancel", "choose.cancel", "compare.close", "export.close", "go.stay", "help.close", "keys.back", "kept.close",
    "list.close", "loading.cancel", "play.leave", "policies.cancel", "repair.close", "replay.close", "rules.close",
    "rules.quit", "run.leave", "sessions.leave", "summarizer.cancel", "two.close", "why.close", "writing.leave",
    "ab.close", "audit.leave", "open.leave", "tour.leave",
)  # fmt: skip
_OPENED = (
    "ab.take-a", "ab.take-b", "audit.open", "choose.take", "chosen.open", "compare.open", "facts.go", "fold.turn",
    "form.use", "list.choose", "open.choose", "play.open", "plot.choose", "replay.go", "rounds.open", "rules.go",
    "run.send", "sessions.open", "summarizer.take",
)  # fmt: skip
_IN_SETTINGS = (
    "window", "exact", "save-preset", "paste-params", "copy-toml", "copy-params", "reset-policy",
    "exact.count", "exact.forget", "exact.close",
)  # fmt: skip
_IN_PALETTE = (
    "write-text", "follow", "questions", "repair", "reread", "open-text", "verbosity", "replay", "play",
    "rescue", "tour.next", "tour.back",
)  # fmt: skip
SETTINGS_ROW, PALETTE = "a row of the settings (9)", "a command of the palette (ctrl+p)"

_NOW = {
    "close": _CLOSED,
    "cancel": ("edit.cancel", "find.cancel", "leave", "pane.rounds", "prompt.cancel", "search-lines.leave"),
    "help": ("keys",),
    "open": _OPENED,
    "toggle": ("compare.mark", "onoff.toggle", "play.pause", "policies.mark", "runs.mark"),
    "move.down": ("chosen.next", "list.down", "typing.down"),
    "move.up": ("chosen.last", "list.up", "typing.up"),
    "move.page-down": (
        "form.next-group",
        "list.page-down",
        "play.scene",
        "plot.on",
        "text.page-down",
        "typing.page-down",
    ),
    "move.page-up": (
        "form.previous-group",
        "list.page-up",
        "play.before",
        "plot.back",
        "text.page-up",
        "typing.page-up",
    ),
    "move.first": ("list.first", "play.again", "plot.first"),
    "move.last": ("list.last", "play.end", "plot.last"),
    "move.left": ("facts.kind-before", "play.back", "plot.left", "records.left", "rounds.fold"),
    "move.right": ("facts.kind", "play.step", "plot.right", "records.right", "rounds.unfold"),
    "more": ("fold.open", "form.more", "generations.more", "play.faster", "plot.closer"),
    "less": ("fold.close", "form.less", "generations.fewer", "play.slower", "plot.wider"),
    "find": ("list.find", "rules.filter", "rules.new"),
    "find.next": ("find-next.1", "list.next", "plot.next"),
    "find.previous": ("find-next.-1", "list.before", "plot.before"),
    "filter": ("audit.filter", "change-filter", "questions.failed", "sessions.filter"),
    "table.sort": ("audit.sort", "compare.sort", "sessions.sort"),
    "copy": ("copy-text", "export.copy", "fold.copy", "list.copy"),
    "write": ("audit.write", "questions.write", "repair.write", "sessions.write"),
    "save": ("edit.take", "prompt.save", "run.go"),
    "refresh": ("audit.read", "sessions.read", "summarizer.models"),
    "editor": ("edit.outside", "prompts.outside", "run.outside"),
    "next-pane": ("compare.focus", "replay.focus", "run.next-pane", "why.focus"),
    "tab.1": ("kept.facts", "pane.message", "run.pane.left", "why.findings"),
    "tab.2": ("kept.questions", "pane.request", "run.pane.centre", "why.layers"),
    "tab.3": ("kept.generations", "pane.summary", "run.pane.right", "why.tools"),
    "tab.4": ("kept.rework", "pane.result", "why.files"),
    "tab.5": ("pane.checks", "why.rounds"),
    "tab.6": ("pane.theirs", "why.largest"),
    "tab.7": ("why.rereads",),
    "tab.8": ("why.unused",),
    "tab.9": ("pane.policy", "why.others"),
    "tab.0": ("why.rework",),
    "epoch.previous": ("epoch.-1", "why.epoch-before"),
    "epoch.next": ("epoch.1", "why.epoch-next"),
    "pin": ("kept.pin", "rules.pin", "run.pin-fact"),
    "watch": ("kept.watch", "rules.watch"),
    "undo": ("kept.undo", "rules.undo"),
    "all": ("compare.all", "policies.all", "replay.policies", "rules.all"),
    "remove": ("compare.remove", "drop", "runs.delete"),
    "run": ("ab.run", "compare.run", "export.run", "runs.replay"),
    "history": ("run.history", "runs"),
    "model": ("ab.who-a", "ab.who-b", "compare.model", "questions.model", "run.summarizer"),
    "beside": ("compare.beside", "runs.diff", "two.summaries"),
    "sums": ("audit.sums", "runs.sums", "sessions.sums"),
    "split_here": ("unsplit",),
    "sessions.browse": ("open.browse",),
    "sessions.table": ("audit.table",),
    "choose_file": ("audit", "open.audit"),
    "compare": ("ab",),
    "compare.prompt": ("ab.prompt-a", "ab.prompt-b"),
    "compare.lines": ("policies.play", "replay.alone", "replay.recorded"),
    "compare.lost": ("replay.lost",),
    "confirm.yes": ("refusal.open", "spend.yes"),
    "confirm.no": ("refusal.close", "spend.no"),
    "edit-text": ("prompts",),
    SETTINGS_ROW: _IN_SETTINGS,
    PALETTE: _IN_PALETTE,
    "enter and escape, as in any line": ("paste.take", "paste.cancel", "filter.show", "filter.close"),
}

FORMER = {id: now for now, ids in _NOW.items() for id in ids}
"""Former key ids, each with the id or the place that replaced it."""


def now_at(id: str) -> str:
    """Id or place that replaced a former id; "" for an id that never existed."""
    return "help" if id.endswith(".help") else FORMER.get(current_id(id), "")


def known_key_ids() -> set[str]:
    """Ids of all keys that can be remapped. Imports every screen and widget, which is slow: not for the start."""
    bindings = (binding for place in every_place() for binding in place.__dict__.get("BINDINGS", ()))
    return {binding.id for binding in Binding.make_bindings(bindings) if binding.id}


def every_place() -> Iterator[type[DOMNode]]:
    """Yield every class that can have keys: the application, screens and widgets."""
    for found in pkgutil.walk_packages(tui.__path__, f"{tui.__name__}."):
        module = importlib.import_module(found.name)
        own = (value for value in vars(module).values() if isinstance(value, type) and issubclass(value, DOMNode))
        yield from (value for value in own if value.__module__ == module.__name__)
