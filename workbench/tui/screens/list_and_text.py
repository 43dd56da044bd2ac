"""A screen with a list and, next to it or below it, the text of the marked row."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Static
from textual.worker import Worker

from workbench.tui.failures import failure_of
from workbench.tui.keys import CLOSE_KEY, HELP_KEY
from workbench.tui.plain import titled
from workbench.tui.widgets.cut_text import CutText
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.text_list import TextList
from workbench.tui.widgets.text_view import TextView

T = TypeVar("T")


class ListAndText(ModalScreen[T | None]):
    """Screen whose subclass fills the list and the text."""

    NAME: ClassVar[str] = ""
    EMPTY: ClassVar[str] = ""
    """Text of an empty list, which names the key to press."""
    HELP = "A list, and the text of the marked row."
    BINDINGS: ClassVar[list[BindingType]] = [
        CLOSE_KEY,
        HELP_KEY,
    ]
    AUTO_FOCUS = "TextList"

    def compose(self) -> ComposeResult:
        with Vertical():
            yield CutText(id="about")
            with Horizontal():
                yield TextList(empty=self.EMPTY)
                yield TextView()
            yield KeysLine()

    @property
    def at(self) -> int:
        """Index of the row under the cursor, -1 if there is none."""
        return self.query_one(TextList).at

    def holds(self, many: int) -> None:
        """Note that `many` lines are listed."""
        self.set_class(not many, "-empty")
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Grey the subclass's actions while the list is empty: they act on a row."""
        own = {binding.action for binding in type(self).__dict__["BINDINGS"]}
        return None if action in own and self.has_class("-empty") else super().check_action(action, parameters)

    def say(self, words: str) -> None:
        """Show up to two lines above the list."""
        self.query_one("#about", Static).update(titled(self.NAME, words))

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self.say(f"✘ {failure}")
