"""The first look around: six steps from a full window to a compacted session, with the bench behind them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.css.query import NoMatches
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Button, Static

from workbench.tui.keys import HELP_KEY
from workbench.tui.widgets.keys_line import KeysLine


@dataclass(frozen=True, slots=True)
class Step:
    """`place` selects what the step speaks of on the bench; `pane` is where that is on a small screen. `keys` are those
    that it names: they do on the bench what they always do, while the step stands there."""

    title: str
    text: str
    place: str
    pane: str = "rounds"
    keys: tuple[str, ...] = ()


_SPLIT = Step(
    "What is summarized",
    "The line ═══ in the list is the split. Everything above it becomes one summary; everything below is kept. "
    "Try it: [ and ] move it, c puts it at the cursor. Sentences, bars and checks follow at once.",
    "#rounds",
    keys=("left_square_bracket", "right_square_bracket", "c"),
)

_FATES = Step(
    "What is summarized",
    "The line ═══ says what happens to the messages above and below it; a line of the list names a fate only where "
    "it differs. This strategy has no split to move; P has others. Try it: x drops the round under the cursor, x again "
    "restores it. Sentences, bars and checks follow at once.",
    "#rounds",
    keys=("x", "j", "k"),
)


def steps(*, movable: bool) -> tuple[Step, ...]:
    """The tour of a bench whose strategy has a split that can be moved, or none."""
    return (
        Step(
            "The window is full",
            "The bars are the model's context window, now and after the compaction. Their colours are its parts: "
            "system and tools, the head, the tail. ▲ marks the trigger, │ the end of the window. The two sentences "
            "above say the same in words.",
            "#budget",
        ),
        Step(
            "What filled it",
            "Every line is a round: a request and all work for it, with its tokens as a bar. Try it: j and k "
            "move, z puts the largest on top, and z again orders by time.",
            "#rounds",
            keys=("j", "k", "z"),
        ),
        _SPLIT if movable else _FATES,
        Step(
            "What must be kept",
            "The first request of the sample, round 1, has rules that must not get lost. Try it: home, then J goes "
            "there, p pins it. A pinned message is always kept word for word. u undoes any step.",
            "#rounds",
            keys=("home", "J", "p", "u"),
        ),
        Step(
            "What the model reads",
            "The numbers choose a tab: 1 the message under the cursor, 2 the request for the summary exactly as sent, "
            "3 the summary, 4 the result and its changes, 5 the checks and the reasons. Try them. 9 opens the "
            "settings, which plan again as you type.",
            "#text",
            "message",
            keys=("1", "2", "3", "4", "5"),
        ),
        Step(
            "Run it, take it with you",
            "r runs the compaction, offline and free; Done does it for you and leads back to the list. Then e writes "
            "the compacted session to a new file, in its agent's format; the one you opened is never changed. ctrl+o "
            "opens another session, ? explains a screen.",
            "#text",
            "message",
            keys=("r",),
        ),
    )


LOW = 8
"""A place of so few lines is tinted: an outline would cover the first and the last of them."""


class TourScreen(ModalScreen[bool]):
    """Dismissed with whether it was followed to its end."""

    HELP = "Six steps around the bench, with keys to try; u takes back what they did. The palette has the tour again."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,n,space", "go(1)", "Next", id="tour.next", tooltip="To the next step; after the last, out."),
        Binding("left,b,backspace", "go(-1)", "Back", id="tour.back", tooltip="To the step before."),
        Binding("escape,q", "dismiss(False)", "Leave", id="tour.leave", tooltip="Leave the tour."),
        HELP_KEY,
    ]
    AUTO_FOCUS = "#next"

    def __init__(
        self,
        show_pane: Callable[[str], object] | None = None,
        bench: Screen[Any] | None = None,
        *,
        movable: bool = True,
    ) -> None:
        """`show_pane` goes to a pane of the `bench` behind; a tour over another screen has nothing to frame."""
        super().__init__()
        self.show_pane, self.bench = show_pane, bench
        self.steps = steps(movable=movable)
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
        if self.number + by >= len(self.steps):
            self.dismiss(True)
        elif self.number + by >= 0:
            self.number += by
            self._show()

    async def on_key(self, event: events.Key) -> None:
        """A key that the step names does on the bench what it always does there."""
        if self.bench is None or event.key not in self.steps[self.number].keys:
            return
        event.stop()
        active = self.bench.active_bindings.get(event.key)
        if active is not None and active.enabled:
            await self.app.run_action(active.binding.action, active.node)

    def _show(self) -> None:
        step = self.steps[self.number]
        self.set_class(step.pane != "rounds", "-over-list")
        self.query_one(Vertical).border_title = f"{self.number + 1} of {len(self.steps)} · {step.title}"
        self.query_one("#step", Static).update(Text(step.text))
        self.query_one("#back", Button).disabled = self.number == 0
        self.query_one("#next", Button).label = "Done" if self.number + 1 == len(self.steps) else "Next"
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
        if place.size.height > LOW:
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
                self.dismiss(False)
