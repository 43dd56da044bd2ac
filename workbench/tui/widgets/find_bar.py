"""Line under the panes: an input for a search or for the number of a message or round, then the results of search,
filter and order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from workbench.tui.keys import shared
from workbench.tui.widgets.inputs import OneLine

LineJob = Literal["search", "jump"]

_SIGNS = {"search": " / ", "jump": " message "}
_HINTS = {
    "search": "words, or /a regex/",
    "jump": "12, or r12 for round 12",
}


class FindBar(Horizontal):
    """Bar that is hidden while it is empty."""

    BINDINGS: ClassVar[list[BindingType]] = [
        shared("cancel", "cancel", "Cancel", "Cancel the search and return."),
    ]

    @dataclass
    class Typed(Message):
        job: LineJob
        text: str

    @dataclass
    class Accepted(Message):
        job: LineJob
        text: str

    @dataclass
    class Cancelled(Message):
        job: LineJob

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.job: LineJob = "search"

    def compose(self) -> ComposeResult:
        yield Static(id="find-sign")
        yield OneLine(compact=True, select_on_focus=True, id="find-input")
        yield Static(id="find-results")

    def ask(self, job: LineJob, text: str = "") -> None:
        """Open the line for typing."""
        self.job = job
        self.query_one("#find-sign", Static).update(_SIGNS[job])
        typed = self.query_one(Input)
        with self.prevent(Input.Changed):
            typed.value = text
        typed.placeholder = _HINTS[job]
        self.add_class("-asking")
        self.screen.set_focus(typed)  # at once: the next key is already typed into it

    def close(self) -> None:
        """Close the line; the results stay."""
        self.remove_class("-asking")

    def say(self, words: str) -> None:
        """Show the results, "" for none."""
        self.set_class(bool(words), "-has-results")
        text = Text(words, no_wrap=True, overflow="ellipsis")
        self.query_one("#find-results", Static).update(text, layout=False)

    @property
    def asking(self) -> bool:
        return self.has_class("-asking")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if self.asking:
            self.post_message(self.Typed(self.job, event.value))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Accepted(self.job, event.value))

    def action_cancel(self) -> None:
        self.post_message(self.Cancelled(self.job))
