"""Inputs that do not move anything around them: a line of text, and a switch that shows its state in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive, reactive
from textual.widget import Widget
from textual.widgets import Input

from workbench.tui.keys import shared


class OneLine(Input):
    """Input without a layout per character: Textual's lays out the complete screen, 15 ms on the bench."""

    virtual_size = Reactive(Size(0, 0), layout=False)

    def on_paste(self, event: events.Paste) -> None:
        """Paste several lines as one; Textual's input takes only the first."""
        event.prevent_default()
        event.stop()
        self.replace(" ".join(event.text.split("\n")), *self.selection)


class OnOff(Widget, can_focus=True):
    BINDINGS: ClassVar[list[BindingType]] = [
        shared("toggle", "switch", "On/off", "Switch on or off.", show=False),
        shared("open", "switch", "On/off", "Switch on or off.", show=False),
    ]

    value: reactive[bool] = reactive(False)

    @dataclass
    class Switched(Message):
        on_off: OnOff
        value: bool

        @property
        def control(self) -> OnOff:
            return self.on_off

    def __init__(self, value: bool, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.set_reactive(OnOff.value, value)

    def render(self) -> Text:
        return Text("◉ on" if self.value else "○ off")

    def watch_value(self, value: bool) -> None:
        self.post_message(self.Switched(self, value))

    def action_switch(self) -> None:
        self.value = not self.value

    def on_click(self) -> None:
        self.action_switch()
