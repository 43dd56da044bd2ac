"""A dialog with one sentence: what could not be done, and why."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from workbench.tui.keys import HELP_KEY
from workbench.tui.widgets.keys_line import KeysLine


class RefusalScreen(ModalScreen[bool]):
    """Dismissed with whether another session is to be chosen, which is offered where nothing else is shown."""

    HELP = "What could not be done, why, and what to do about it. Nothing was changed."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(False)", "Close", id="refusal.close", tooltip="Close this dialog."),
        Binding("o,ctrl+o", "choose", "Open", id="refusal.open", tooltip="Choose another session to open."),
        HELP_KEY,
    ]

    def __init__(self, sentence: str, *, is_first: bool = False) -> None:
        """`is_first`: there is no screen below to go back to."""
        super().__init__()
        self.sentence, self.is_first = sentence, is_first

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Text(f"✘ {self.sentence}"), id="sentence")
            with Horizontal():
                yield Button("Close", variant="error", id="close")
                if self.is_first:
                    yield Button("Open another (o)", id="open")
        yield KeysLine()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.is_first if action == "choose" else True

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "open")

    def action_choose(self) -> None:
        self.dismiss(True)
