"""A screen with a list and, beside it or below it, the text of what is marked in it."""

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
    """What stands in the list and in the text is the subclass's to say."""

    NAME: ClassVar[str] = ""
    EMPTY: ClassVar[str] = ""
    """What stands in a list without anything, and says what to press."""
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
        """The place in the list that is marked, -1 where none is."""
        return self.query_one(TextList).at

    def holds(self, many: int) -> None:
        """So many lines are to be listed now."""
        self.set_class(not many, "-empty")
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What a subclass does is done to what is listed: greyed where nothing is."""
        own = {binding.action for binding in type(self).__dict__["BINDINGS"]}
        return None if action in own and self.has_class("-empty") else super().check_action(action, parameters)

    def say(self, words: str) -> None:
        """Up to two lines above both."""
        self.query_one("#about", Static).update(titled(self.NAME, words))

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self.say(f"✘ {failure}")
