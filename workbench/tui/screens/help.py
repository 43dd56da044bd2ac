"""What the screen in front shows and which keys it takes; made from its own bindings, so that it cannot go stale."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Static

from workbench.compaction.outcome import Fate

ABOUT_BENCH = """\
The bench shows one recorded session and what a compaction would do to it. Every change plans it again, without \
a model; only a run with one sends anything, and the file is never changed.

The bar on top is the model's window: what fills it, where the trigger lies, where the limit. The list below holds the \
rounds, each from one request of yours to the end of the answer, with its size; open one to see its messages. The line \
in the list is the split: what stands above it is compacted, what stands below stays as it is. The tabs show the \
message under the cursor, the abridged history, the request exactly as it would be sent, the new messages, the result, \
and why it came out so. The policy's fields are on the right."""

FATES = {
    Fate.PINNED: "kept verbatim because you pinned it",
    Fate.KEPT: "kept verbatim: the tail, and what no strategy touches",
    Fate.COMPRESSED: "kept, with tool results shortened",
    Fate.SUMMARIZED: "replaced: its text reaches the summarizer",
    Fate.ABRIDGED: "replaced: only a shortened form is left",
    Fate.DROPPED: "left out, and nothing stands for it",
}

SIGNS = {
    "(none)": "exact: billed by the provider",
    "≈": "counted and scaled to the session's model",
    "~": "estimated from characters, until counting gets there",
}

_NAMES = {
    "pagedown": "pgdn",
    "pageup": "pgup",
    "escape": "esc",
    "down": "↓",
    "up": "↑",
    "left": "←",
    "right": "→",
    "question_mark": "?",
}


Key = tuple[str, str, str]
"""A key as it is shown, what it does, and the id by which it can be remapped."""


class HelpScreen(ModalScreen[None]):
    CSS = """
    HelpScreen { align: center middle; }
    HelpScreen > VerticalScroll { width: 90; max-width: 96%; height: auto; max-height: 92%; padding: 1 2; }
    HelpScreen > VerticalScroll { border: round $border; background: $surface; }
    HelpScreen .heading { text-style: bold; color: $text-primary; margin: 1 0 0 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1", "dismiss", "Close", id="help.close", tooltip="Close the help."),
        Binding("j", "scroll(1)", "Down", show=False, id="help.down", tooltip="Scroll down."),
        Binding("k", "scroll(-1)", "Up", show=False, id="help.up", tooltip="Scroll up."),
    ]

    def __init__(self, keys: list[Key], text: str) -> None:
        """`text` says what the screen is for."""
        super().__init__()
        self.keys = keys
        self.text = text

    @classmethod
    def about(cls, screen: Screen[object], remapped: Mapping[str, str]) -> HelpScreen:
        """The help for `screen`: its own text, and the keys of it and of what can be focused on it."""
        kinds = dict.fromkeys(type(widget) for widget in screen.focus_chain)
        return cls(list(explained((type(screen), *kinds), remapped)), screen.HELP or "")

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static(Text(self.text))
            yield Static("Keys, and the names by which config.toml can change them", classes="heading")
            yield Static(_table(self.keys))
            if self.text is ABOUT_BENCH:
                yield Static("What becomes of a message", classes="heading")
                yield Static(_table([(f"{fate.glyph} {fate.value}", words) for fate, words in FATES.items()]))
                yield Static("Signs before a number", classes="heading")
                yield Static(_table(list(SIGNS.items())))

    def action_scroll(self, by: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=3 * by, animate=False)


def explained(places: Iterable[type[Widget]], remapped: Mapping[str, str]) -> Iterator[Key]:
    """The keys of screens and widgets as they are now: `remapped` gives ids other keys."""
    for place in places:
        for base in place.__mro__:
            for binding in base.__dict__.get("BINDINGS", ()):
                if isinstance(binding, Binding) and binding.tooltip:
                    keys = remapped.get(binding.id or "", binding.key).split(",")
                    shown = " ".join(dict.fromkeys(_NAMES.get(key.strip(), key.strip()) for key in keys))
                    yield shown, binding.tooltip, binding.id or ""


def _table(rows: Iterable[tuple[str, ...]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="bold")
    table.add_column(ratio=1)
    table.add_column(no_wrap=True, style="dim")
    for row in rows:
        table.add_row(*map(Text, row))
    return table
