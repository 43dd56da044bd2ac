"""The first look around: six steps from a full window to a compacted session, with the bench behind them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.css.query import NoMatches
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Button, Static

from workbench.tui.help_key import help_key
from workbench.tui.widgets.keys_line import KeysLine


@dataclass(frozen=True, slots=True)
class Step:
    """`place` selects what the step speaks of on the bench; `pane` is where that is on a small screen."""

    title: str
    text: str
    place: str
    pane: str = "rounds"


STEPS = (
    Step(
        "The window is full",
        "The bar on top is the model's context window. Its colours are what fills it: the system prompt and tools, the "
        "history, what stays. ▲ marks where the compaction would start and where the window ends.",
        "#budget",
    ),
    Step(
        "What filled it",
        "Every line is a round: a request and all that was done for it, with its tokens as a bar. j and k move, enter "
        "opens a round and shows its messages. Look for the longest bars.",
        "#rounds",
    ),
    Step(
        "What would go",
        "The line in the list is the split. Above it everything becomes one summary; below it everything stays as it "
        "is. [ and ] move it, c puts it at the cursor. Bar, figures and checks follow at once.",
        "#rounds",
    ),
    Step(
        "What must stay",
        "In the sample's first request stands a rule that must not get lost. Go there (home key), press p: a pinned "
        "message is kept word for word, wherever the split lies. u undoes whatever you did.",
        "#rounds",
    ),
    Step(
        "What the model would read",
        "The numbers 1 to 9 choose what this pane shows: the message under the cursor, the shortened history, the "
        "request for the summary as it would be sent, the result, and why it came out so. The policy's fields replan "
        "as you type.",
        "#text",
        "message",
    ),
    Step(
        "Run it, take it with you",
        "r runs the compaction, offline and free, and shows its summary. e writes the compacted session to a new file, "
        "in its tool's format; the one you opened is never changed. ctrl+o opens another session, ? explains a screen.",
        "#text",
        "message",
    ),
)


class TourScreen(ModalScreen[None]):
    HELP = "Six steps around the bench. Nothing you do here changes anything; the palette (ctrl+p) has the tour again."
    CSS = """
    TourScreen { align: center bottom; background: $background 20%; }
    TourScreen > Vertical { width: 72; max-width: 96%; height: auto; padding: 0 2; margin: 0 0 2 0; }
    TourScreen > Vertical { border: round $accent; background: $surface; border-title-style: bold; }
    TourScreen #step { height: auto; min-height: 5; margin: 1 0; }
    TourScreen #buttons { height: auto; }
    TourScreen Button { margin: 0 1 0 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,n,space,j", "go(1)", "Next", id="tour.next", tooltip="To the next step; after the last, out."),
        Binding("left,b,backspace,k", "go(-1)", "Back", id="tour.back", tooltip="To the step before."),
        Binding("escape,q", "dismiss", "Leave", id="tour.leave", tooltip="Leave the tour."),
        help_key("tour"),
    ]
    AUTO_FOCUS = "#next"

    def __init__(self, show_pane: Callable[[str], object] | None = None, bench: Screen[Any] | None = None) -> None:
        """`show_pane` goes to a pane of the `bench` behind; a tour over another screen has nothing to frame."""
        super().__init__()
        self.show_pane, self.bench = show_pane, bench
        self.number = 0
        self._framed: Widget | None = None

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(id="step")
            with Horizontal(id="buttons"):
                yield Button("Next", variant="primary", id="next")
                yield Button("Back", id="back")
                yield Button("Leave", id="leave")
        yield KeysLine()

    def on_mount(self) -> None:
        self._show()

    def action_go(self, by: int) -> None:
        if self.number + by >= len(STEPS):
            self.dismiss()
        elif self.number + by >= 0:
            self.number += by
            self._show()

    def _show(self) -> None:
        step = STEPS[self.number]
        self.query_one(Vertical).border_title = f"{self.number + 1} of {len(STEPS)} · {step.title}"
        self.query_one("#step", Static).update(Text(step.text))
        self.query_one("#back", Button).disabled = self.number == 0
        self.query_one("#next", Button).label = "Done" if self.number + 1 == len(STEPS) else "Next"
        self._frame(step)

    def _frame(self, step: Step) -> None:
        """Frame on the bench what the step speaks of."""
        self._unframe()
        if self.bench is None or self.show_pane is None:
            return
        self.show_pane(step.pane)
        try:
            place = self.bench.query_one(step.place)
        except NoMatches:
            return
        if place.size.height > 3:
            place.styles.outline = ("heavy", self.app.theme_variables["accent"])
        else:
            place.styles.tint = f"{self.app.theme_variables['accent']} 25%"
        self._framed = place

    def _unframe(self) -> None:
        if self._framed is not None:
            self._framed.styles.outline = None
            self._framed.styles.tint = None
            self._framed.refresh()
            self._framed = None

    def on_unmount(self) -> None:
        self._unframe()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        match event.button.id:
            case "next":
                self.action_go(1)
            case "back":
                self.action_go(-1)
            case _:
                self.dismiss()
