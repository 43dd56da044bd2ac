"""Which sentences are watched: the rules and those of a message to choose from, and one's own to type."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static
from textual.widgets.option_list import Option

from workbench.analysis.watched import sentence_to_watch
from workbench.base.errors import BadInput
from workbench.tui.help_key import help_key
from workbench.tui.plain import fit, one_line
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.list_keys import TYPING
from workbench.tui.widgets.options import Options

ABOUT = "A watched sentence stands over the list, with how it fares when the context is compacted once and twice."
ENDS = tuple(".!?。！？")
"""With one of these a sentence ends."""
LOOKING = "Looking for rules, requests and sentences to watch …"
NONE = "Nothing was found. What you type can be watched."
BEGINNING = 24
"""By so many characters a sentence is found in what is on the screen."""


@dataclass(frozen=True, slots=True)
class Offered:
    """A sentence to watch, and in a few words where it stands or why, "" where the message under the cursor says it."""

    sentence: str
    about: str = ""


class WatchScreen(ModalScreen[None]):
    """`offer` finds what there is to watch, in a thread. `turn` watches a sentence or lets it go, and gives what is
    watched then; it raises BadInput. `in_view` is what is on the screen of the message: the first sentence that stands
    there is marked."""

    HELP = """\
What is watched already stands first, with ◉; then the rules in the message under the cursor, what else you ask in \
it, and the rules that stand elsewhere; where there is no rule, what you asked for; last what the agent says or a \
tool gave. Enter watches the marked one, or lets it go. Typing looks for one; what you type can be watched, too. A \
watched sentence stays in the header and is judged whenever you change something: ✔ verbatim, ≈ paraphrased \
(rightly, in other words), ✘ contradicted (another sign, value or order), ○ gone, ? where a summary cannot be read. \
A preview is judged by a run with extractive summaries. No model is asked. Where one would be lost, the line below \
it names what keeps it: i pins its message, b takes another number in the policy; u takes either back."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "turn", "Watch or let go", priority=True, id="watch.turn", tooltip="Watch it, or let it go."),
        *TYPING,
        Binding("escape", "leave", "Close", id="watch.close", tooltip="Clear what is typed, or go back to the bench."),
        help_key("watch"),
    ]
    AUTO_FOCUS = "Input"

    def __init__(
        self,
        watched: tuple[str, ...],
        offer: Callable[[], Sequence[Offered]],
        turn: Callable[[str], tuple[str, ...]],
        in_view: str = "",
    ) -> None:
        super().__init__()
        self.watched, self.offer, self.turn, self.in_view = watched, offer, turn, in_view
        self.offered: dict[str, str] = {}
        """What each sentence is about, in the order in which they are listed."""
        self.listed: list[str] = []

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = "Watch a sentence"
            yield Static(Text(ABOUT), classes="about")
            yield Input(placeholder="type to look for one, or a sentence of your own", compact=True)
            yield Options(empty=LOOKING)
            yield Static(id="refused")
        yield KeysLine()

    def on_mount(self) -> None:
        self.query_one(Options).can_focus = False
        self.draw()
        self.look()

    @work(exclusive=True, group="watch", exit_on_error=False, description="look")
    async def look(self) -> None:
        """Fill the list; what was marked or typed meanwhile stays."""
        found = await asyncio.to_thread(self.offer)
        self.query_one(Options).empty = NONE
        at = self.query_one(Options).highlighted
        marked = self.listed[at] if at is not None and self.query_one(Input).value else ""
        self.offered = {one.sentence: one.about for one in found}
        seen = (one for one in self.offered if one[:BEGINNING] in self.in_view)
        others = (one for one in self.offered if one not in self.watched)
        self.draw(marked or next(seen, next(others, "")))

    def draw(self, marked: str = "") -> None:
        """What is watched, then what is offered, as far as it has what is typed; the typed sentence first. Marked is
        what is found: who types some words looks for one, and who types a sentence to its end means that."""
        typed = " ".join(self.query_one(Input).value.split())
        others = (one for one in self.offered if one not in self.watched)
        found = [one for one in (*self.watched, *others) if typed.lower() in one.lower()]
        self.listed = [typed, *found] if typed and typed not in found else found
        options = self.query_one(Options)
        options.set_options(Option(self._line(one)) for one in self.listed)
        if self.listed:
            looked_for = int(len(self.listed) > len(found) > 0 and not typed.endswith(ENDS))
            options.highlighted = self.listed.index(marked) if marked in self.listed else looked_for
        self.query_one("#refused", Static).update("")

    def _line(self, sentence: str) -> Text:
        sign = "◉" if sentence in self.watched else "○" if sentence in self.offered else "+"
        about = self.offered.get(sentence, "")
        room = self.query_one(Options).scrollable_content_region.width - cell_len(about) - 4
        words = (
            f"{sign} {fit(one_line(sentence), room)}  "
            if about and room > BEGINNING
            else f"{sign} {one_line(sentence)}"
        )
        return Text(words, no_wrap=True, overflow="ellipsis").append(about, "dim")

    @on(Input.Changed)
    def _typed(self) -> None:
        self.draw()

    @on(Options.OptionSelected)
    def _clicked(self) -> None:
        self._turn()

    def action_turn(self) -> None:
        typed = self.query_one(Input)
        typed.call_later(typed.action_submit)  # behind what was typed before this key

    @on(Input.Submitted)
    def _turn(self) -> None:
        at = self.query_one(Options).highlighted
        if at is None:
            return
        try:
            sentence = sentence_to_watch(self.listed[at])
            self.watched = self.turn(sentence)
        except BadInput as refused:
            self.query_one("#refused", Static).update(Text(f"✘ {refused}"))
            return
        self.query_one(Input).value = ""
        self.draw(sentence)

    def action_leave(self) -> None:
        typed = self.query_one(Input)
        if typed.value:
            typed.value = ""
        else:
            self.dismiss()


def turned(watch: Callable[[str], tuple[str, ...]], text: str) -> str:
    """Watch a sentence or let it go from another screen; what became of it, in a few words."""
    try:
        sentence = sentence_to_watch(text)
        last = "".join(watch(sentence)[-1:])  # of a part that is denied the whole sentence is watched
        return (
            f"watched: “{one_line(last, 60)}”" if sentence in last else f"no longer watched: “{one_line(sentence, 60)}”"
        )
    except BadInput as refused:
        return f"✘ {refused}"
