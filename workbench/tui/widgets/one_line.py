"""An input of one line, around which nothing can move."""

from __future__ import annotations

from textual import events
from textual.geometry import Size
from textual.reactive import Reactive
from textual.widgets import Input


class OneLine(Input):
    """Textual's input asks for a layout of the whole screen, 15 ms on the bench, with every character."""

    virtual_size = Reactive(Size(0, 0), layout=False)

    def on_paste(self, event: events.Paste) -> None:
        """Take a paste of several lines as one; Textual's input takes the first of them."""
        event.prevent_default()
        event.stop()
        self.replace(" ".join(event.text.split("\n")), *self.selection)
