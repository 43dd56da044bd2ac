"""A dialog that asks whether something is to be sent although it could cost more than it may."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from workbench.base import paths
from workbench.tui.keys import HELP_KEY
from workbench.tui.plain import plain
from workbench.tui.widgets.keys_line import KeysLine


class SpendScreen(ModalScreen[bool]):
    """Dismissed with whether it is to be sent."""

    HELP = """\
What is about to be sent could cost more than max_cost of the settings allows: its requests as they are counted here, \
at the price of an empty cache, with answers as long as they may be, beside what this run has cost so far. “Send it” \
allows just that sum; what would cost more is asked for again. This call is not sent meanwhile, and its time-outs \
stand still."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Send it", id="spend.yes", tooltip="Send it, up to this sum."),
        Binding("escape,n,q", "answer(False)", "Leave it", id="spend.no", tooltip="Send nothing more."),
        HELP_KEY,
    ]
    AUTO_FOCUS = "#no"

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = "Send it all the same?"
            yield Static(Text(f"{plain(self.what)}."), id="what")
            yield Static(Text(f"The limit is max_cost in {paths.settings()}."), classes="about")
            with Horizontal():
                yield Button("Leave it", variant="primary", id="no")
                yield Button("Send it (y)", variant="warning", id="yes")
        yield KeysLine()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)
