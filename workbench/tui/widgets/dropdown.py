"""Textual's dropdown, with the keys of every list in what drops down."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Select
from textual.widgets._select import SelectCurrent, SelectOverlay

from workbench.tui.widgets.list_keys import MOVING

T = TypeVar("T")


class Dropped(SelectOverlay):
    """The choices while they are seen. Letters are keys until `/`, which goes to the choice that has what is typed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *MOVING,
        Binding("slash", "search", "Find", show=False, id="dropdown.find", tooltip="Find among the choices."),
        Binding("escape,q", "dismiss", "Close", show=False, id="dropdown.close", tooltip="Leave what is chosen."),
    ]

    def __init__(self) -> None:
        super().__init__(type_to_search=False)

    def action_search(self) -> None:
        self._type_to_search = True

    def watch_has_focus(self, value: bool) -> None:
        self._type_to_search = False
        super().watch_has_focus(value)


class Dropdown(Select[T]):
    """Enter, space and the keys that go along a list let the choices drop."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space,down,j,up,k", "show_overlay", "Choose", show=False, id="dropdown.open", tooltip="Choose."),
    ]

    def compose(self) -> ComposeResult:
        yield SelectCurrent(self.prompt)
        yield Dropped().data_bind(compact=Select.compact)
