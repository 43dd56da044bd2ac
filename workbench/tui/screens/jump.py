"""A letter before everything on the screen that one can go to; the next key goes there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.geometry import Offset
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Label, Tab, Tabs

from workbench.tui.keys import CLOSE_KEY, HELP_KEY

LETTERS = "asdfghjklwertuiopzxcvbnmASDFGHJKLWERTUIOPZXCVBNM1234567890"
"""The row of the fingers first; without q, which leaves. More than these are never seen at once."""


@dataclass(frozen=True, slots=True)
class Target:
    letter: str
    widget: Widget
    place: Offset


def targets(screen: Screen[Any]) -> Iterator[Target]:
    """What can have the focus and is seen, and the tabs, each with its letter, from the top to the bottom."""
    found = {*screen.focus_chain, *screen.query(Tab)}
    seen = [one for one in found if one.display and one.region.area and screen.region.overlaps(one.region)]
    seen.sort(key=lambda one: (one.region.y, one.region.x))
    for letter, one in zip(LETTERS, seen, strict=False):
        text = one.content_region
        yield Target(letter, one, Offset(max(0, text.x - 1), text.y))


class JumpScreen(ModalScreen[Widget | None]):
    HELP = "A letter stands before every list, text, field and tab; that letter goes there, esc stays."
    BINDINGS: ClassVar[list[BindingType]] = [
        CLOSE_KEY,
        HELP_KEY,
    ]

    def __init__(self, targets: Iterator[Target]) -> None:
        super().__init__()
        self.targets = {one.letter: one for one in targets}

    def compose(self) -> ComposeResult:
        for one in self.targets.values():
            label = Label(one.letter)
            label.styles.offset = one.place
            yield label

    def on_key(self, event: events.Key) -> None:
        target = self.targets.get(event.character or "")
        if target is not None:
            event.stop()
            event.prevent_default()
            self.dismiss(target.widget)


def go(widget: Widget | None) -> None:
    """To a place that was chosen."""
    if isinstance(widget, Tab):
        tabs = next(one for one in widget.ancestors if isinstance(one, Tabs))
        tabs.active = widget.id or ""
    elif widget is not None:
        widget.focus()
