"""What the screen in front shows and which keys it takes; made from its own bindings, so that it cannot go stale."""

from __future__ import annotations

from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from workbench.compaction.outcome import Fate

ABOUT = """\
The bench shows one recorded session and what a compaction would do to it. Every change plans it again; nothing is \
sent to a model and the file is never changed.

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


class HelpScreen(ModalScreen[None]):
    CSS = """
    HelpScreen { align: center middle; }
    HelpScreen > VerticalScroll { width: 90; max-width: 96%; height: auto; max-height: 92%; padding: 1 2; }
    HelpScreen > VerticalScroll { border: round $border; background: $surface; }
    HelpScreen .heading { text-style: bold; color: $text-primary; margin: 1 0 0 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark", "dismiss", "Close", id="help.close", tooltip="Close the help."),
        Binding("j", "scroll(1)", "Down", show=False, id="help.down", tooltip="Scroll down."),
        Binding("k", "scroll(-1)", "Up", show=False, id="help.up", tooltip="Scroll up."),
    ]

    def __init__(self, keys: list[tuple[str, str]]) -> None:
        """`keys`: each key as it is shown, and what it does."""
        super().__init__()
        self.keys = keys

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static(Text(ABOUT))
            yield Static("Keys", classes="heading")
            yield Static(_table(self.keys))
            yield Static("What becomes of a message", classes="heading")
            yield Static(_table([(f"{fate.glyph} {fate.value}", words) for fate, words in FATES.items()]))
            yield Static("Signs before a number", classes="heading")
            yield Static(_table(list(SIGNS.items())))

    def action_scroll(self, by: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=3 * by, animate=False)


def _table(rows: list[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for left, right in rows:
        table.add_row(Text(left, "bold"), Text(right))
    return table
