"""A dialog with one sentence: what could not be done, and why."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from workbench.tui.help_key import help_key


class RefusalScreen(ModalScreen[None]):
    HELP = "What could not be done, why, and what to do about it. Nothing was changed."
    CSS = """
    RefusalScreen { align: center middle; }
    RefusalScreen > Vertical { width: 72; max-width: 90%; height: auto; padding: 1 2; }
    RefusalScreen > Vertical { border: round $error; background: $surface; }
    RefusalScreen Button { margin: 1 0 0 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Close", id="refusal.close", tooltip="Close this dialog."),
        help_key("refusal"),
    ]

    def __init__(self, sentence: str) -> None:
        super().__init__()
        self.sentence = sentence

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Text(f"✘ {self.sentence}"), id="sentence")
            yield Button("Close", variant="error")

    def on_button_pressed(self) -> None:
        self.dismiss()
