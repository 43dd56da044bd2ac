"""A dialog with a sentence and one or two answers; also the question before a run exceeds the spend limit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from workbench.base import paths
from workbench.summarizers.spend_limit import SpendLimit, default_spend_limit
from workbench.tui.keys import HELP_KEY, shared
from workbench.tui.plain import plain
from workbench.tui.widgets.keys_line import KeysLine


class ConfirmScreen(ModalScreen[bool]):
    """Dialog dismissed with True for `yes`; without `yes` there is only `no`, which has the focus and changes
    nothing."""

    HELP = """\
An error with its cause and remedy, or a question. y answers yes; escape closes the dialog, and nothing is done.

You are asked before a call that could bring the cost of this run above max_cost of the settings. The sum is an \
upper bound: the cost of the run so far, plus the call as counted here, without a cache and with the longest answer. \
“Send it” allows this sum; before a larger one you are asked again. The call and its time-outs wait for your answer."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes", id="confirm.yes", tooltip="Answer yes."),
        Binding("n", "answer(False)", "No", show=False, id="confirm.no", tooltip="Answer no; nothing is done."),
        shared("close", "answer(False)", "Close", "Close this dialog; nothing is done."),
        HELP_KEY,
    ]
    AUTO_FOCUS = "#no"

    def __init__(self, sentence: str, *, title: str = "", about: str = "", yes: str = "", no: str = "Close") -> None:
        super().__init__()
        self.sentence, self.words, self.about, self.yes, self.no = sentence, title, about, yes, no

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = self.words or None
            yield Static(Text(plain(self.sentence)), id="sentence")
            if self.about:
                yield Static(Text(self.about), classes="about")
            with Horizontal():
                yield Button(self.no, variant="primary", id="no")
                if self.yes:
                    yield Button(f"{self.yes} (y)", variant="warning", id="yes")
        yield KeysLine()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self.yes) or parameters != (True,)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)


def spend_question(what: str) -> ConfirmScreen:
    about = f"The limit is max_cost in {paths.settings()}."
    return ConfirmScreen(f"{what}.", title="Send it anyway?", about=about, yes="Send it", no="Leave it")


def spend_limit_of(app: App[Any]) -> SpendLimit:
    """Spend limit of the settings that asks in a dialog before it is exceeded: call it from a worker. Raises BadInput
    for broken settings."""

    async def ask(what: str) -> bool:
        yes = await app.push_screen(spend_question(what), wait_for_dismiss=True)
        return bool(yes)

    return replace(default_spend_limit(), ask=ask)
