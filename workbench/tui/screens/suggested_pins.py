"""Suggested pins: what the user's messages ask to be kept, with the reason and the cost of each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.binding import Binding, BindingType
from textual.widgets.option_list import Option

from workbench.analysis.suggested_pins import SuggestedPin, accepted, suggest
from workbench.base.text import plural
from workbench.bench import Bench
from workbench.tui.plain import figure, one_line
from workbench.tui.screens.list_and_text import ListAndText
from workbench.tui.screens.watch import turned
from workbench.tui.widgets.options import Options
from workbench.tui.widgets.text_view import Part, TextView


class SuggestedPinsScreen(ListAndText[tuple[str, ...]]):
    """Dismissed with the ids of the messages to pin, or None."""

    EMPTY = "Nothing to pin was found. esc, then p, pins any message."
    HELP = """\
What the user's own words ask to be kept: <Pin> passages, standing instructions, constraints and answers, with the \
reason and what it costs in tokens to pin the message with its tool pairs. Space accepts the marked one, a all of them \
but the superseded (the latest wins) and the dear ones (long messages, better pinned by hand or said again). Enter \
pins what is accepted, in one step that undo takes back. W watches the marked one: it stays in the bench's header."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "accept", "Accept", id="pins.accept", tooltip="Accept the marked suggestion, or not."),
        Binding("a", "all", "All", id="pins.all", tooltip="Accept all but superseded and dear ones; again: none."),
        Binding(
            "W", "watch", "Watch", id="pins.watch", tooltip="Watch the marked sentence in the header, or let it go."
        ),
        Binding(
            "enter", "pin", "Pin them", priority=True, id="pins.pin", tooltip="Pin what is accepted, or the marked."
        ),
    ]

    def __init__(self, bench: Bench, watch: Callable[[str], tuple[str, ...]]) -> None:
        """`watch` watches a sentence or lets it go, and gives what is watched then; it raises BadInput."""
        super().__init__()
        self.bench, self.turn = bench, watch
        self.found: tuple[SuggestedPin, ...] = ()
        self.taken: frozenset[str] = frozenset()
        """The messages whose suggestions are accepted: a pin keeps a whole message."""

    def on_mount(self) -> None:
        self.say("reading what the user said …")
        self.look()

    @work(exclusive=True, group="pins", exit_on_error=False, description="look")
    async def look(self) -> None:
        self.found = await asyncio.to_thread(suggest, self.bench.context)
        self.draw()

    def draw(self) -> None:
        options, at = self.query_one(Options), max(self.at, 0)
        self.holds(len(self.found))
        options.border_title = f"suggested pins · {len(self.found)}"
        numbers = {pin.message: pin.index + 1 for pin in self.found}
        options.set_options(Option(line(pin, pin.message in self.taken, numbers)) for pin in self.found)
        if self.found:
            options.highlighted = min(at, len(self.found) - 1)
        self._tell()

    def _tell(self) -> None:
        if not self.found:
            self.say("No standing instruction was found; p on the bench pins any message.")
            self.query_one(TextView).show((Part(self.EMPTY, "dim"),), "empty")
            return
        tokens = sum({pin.message: pin.tokens for pin in self.found if pin.message in self.taken}.values())
        pinned = len({pin.message for pin in self.found if pin.pinned})
        many = f"{len(self.taken)} {plural(len(self.taken), 'message')} accepted: +{figure(tokens)} tokens"
        self.say(f"{many}{f' · {pinned} pinned already' if pinned else ''}\nspace accepts · a all · enter pins them")

    @on(Options.OptionHighlighted)
    def _marked(self, event: Options.OptionHighlighted) -> None:
        pin = self.found[event.option_index]
        message = self.bench.messages[pin.index]
        where = f"message {figure(pin.index + 1)}, {figure(pin.tokens)} tokens with its tool pairs"
        parts = [
            Part(f"{pin.reason} · {state(pin) or 'in force'} · {where}", "dim"),
            Part(pin.text, "title"),
            Part(""),
            Part(message.text),
        ]
        self.query_one(TextView).show(parts, pin.message)

    # --- accepting --------------------------------------------------------------------------------------------------

    def action_accept(self) -> None:
        if self.at >= 0 and not self.found[self.at].pinned:
            self.taken ^= {self.found[self.at].message}
            self.draw()

    def action_watch(self) -> None:
        if self.at >= 0:
            words = turned(self.turn, self.found[self.at].text)
            self._tell()
            self.say(f"{words}\nspace accepts · a all · enter pins them")

    def action_all(self) -> None:
        every = frozenset(accepted(pin for pin in self.found if not pin.pinned))
        self.taken = frozenset() if every <= self.taken else self.taken | every
        self.draw()

    def action_pin(self) -> None:
        """Without an accepted one, the marked one is meant."""
        if self.at < 0:
            return
        marked = self.found[self.at]
        ids = self.taken or ({marked.message} if not marked.pinned else frozenset())
        if ids:
            self.dismiss(tuple(dict.fromkeys(pin.message for pin in self.found if pin.message in ids)))


def line(pin: SuggestedPin, taken: bool, numbers: dict[str, int]) -> Text:
    """A suggestion in the list: a superseded one is struck through and says by what."""
    sign = "●" if pin.pinned else "✔" if taken else "○"
    text = Text(f"{sign} {figure(pin.index + 1):>5} {f'+{figure(pin.tokens)}':>7}  ", no_wrap=True, overflow="ellipsis")
    gone = pin.superseded_by is not None
    why = f"superseded by {numbers.get(pin.superseded_by or '', '?')}" if gone else state(pin)
    text.append(f"{pin.reason}{f'; {why}' if why else ''}: ", "dim" if not taken else "")
    return text.append(one_line(pin.text, 160), "strike dim" if gone else "bold" if taken else "")


def state(pin: SuggestedPin) -> str:
    """Why it is not accepted with all the others, "" where it is."""
    if pin.pinned:
        return "pinned already"
    if pin.superseded_by is not None:
        return "superseded"
    return "" if pin.accepted_unasked else "dear"
