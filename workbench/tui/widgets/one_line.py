"""An input of one line, around which nothing can move."""

from __future__ import annotations

from textual.geometry import Size
from textual.reactive import Reactive
from textual.widgets import Input


class OneLine(Input):
    """Textual's input asks for a layout of the whole screen, 15 ms on the bench, with every character."""

    virtual_size = Reactive(Size(0, 0), layout=False)
