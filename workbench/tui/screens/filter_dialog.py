"""A small dialog that narrows the list of rounds to some of its messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Select, Static

from workbench.compaction.outcome import Fate
from workbench.tui.filters import ROLES, Filter
from workbench.tui.keys import HELP_KEY
from workbench.tui.plain import figure, one_line
from workbench.tui.rows import WORDS
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.on_off import OnOff


class FilterScreen(ModalScreen[Filter | None]):
    """Gives the filter that was chosen, an empty one to show everything, None to leave things as they are."""

    HELP = """\
The list then shows only the messages that meet everything chosen here; the rounds that hold none are hidden. `of \
tool` means its calls and their results, `fate` what becomes of a message in the compaction. Sizes are in tokens, \
2000 or 2k. On the bench f shows everything again, F changes the filter; the plan itself does not change."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "Close", id="filter.close", tooltip="Close; the list stays as it is."),
        Binding("ctrl+s,ctrl+enter", "show", "Show", id="filter.show", tooltip="Show what meets the filter."),
        HELP_KEY,
    ]
    AUTO_FOCUS = "#role"

    def __init__(self, chosen: Filter, tools: Sequence[tuple[str, int]]) -> None:
        """`tools`: names and numbers of calls, as `filters.tools_of` gives them."""
        super().__init__()
        self.chosen = chosen
        self.tools = tools

    def compose(self) -> ComposeResult:
        known = {name for name, _ in self.tools}
        tools = [(Text(f"{one_line(name, 60)} ({figure(calls)})"), name) for name, calls in self.tools]
        fates = [(Text(f"{fate.glyph} {WORDS[fate]}"), fate) for fate in Fate]
        chosen = self.chosen
        with Vertical():
            yield Static("Show only messages that are …", classes="heading")
            with Horizontal(classes="row"):
                yield Static("role", classes="name")
                roles = [(role, role) for role in ROLES]
                yield Select(roles, value=chosen.role or Select.NULL, prompt="any", compact=True, id="role")
            with Horizontal(classes="row"):
                yield Static("of tool", classes="name")
                tool = chosen.tool if chosen.tool in known else Select.NULL
                yield Select(tools, value=tool, prompt="any", compact=True, id="tool")
            with Horizontal(classes="row"):
                yield Static("fate", classes="name")
                yield Select(fates, value=chosen.fate or Select.NULL, prompt="any", compact=True, id="fate")
            with Horizontal(classes="row"):
                yield Static("errors", classes="name")
                yield OnOff(chosen.errors, id="errors")
            with Horizontal(classes="row"):
                yield Static("pinned", classes="name")
                yield OnOff(chosen.pinned, id="pinned")
            with Horizontal(classes="row"):
                yield Static("larger than", classes="name")
                larger = str(chosen.larger_than or "")
                yield Input(larger, placeholder="tokens", compact=True, id="larger")
            yield Static(id="refused", markup=False)
            with Horizontal(id="buttons"):
                yield Button("Show", variant="primary", id="show")
                yield Button("Clear", id="clear")
        yield KeysLine()

    def action_show(self) -> None:
        typed = self.query_one("#larger", Input).value.replace(" ", "").lower()
        number, thousands = (typed[:-1], 1_000) if typed.endswith("k") else (typed, 1)
        if number and not (number.isascii() and number.isdecimal() and len(number) < 12):
            self.query_one("#refused", Static).update(
                "larger than: a whole number of tokens is wanted, like 2000 or 2k"
            )
            self.query_one("#larger").focus()
            return
        fate = self.query_one("#fate", Select).value
        self.dismiss(
            Filter(
                role=self._text("#role"),
                tool=self._text("#tool"),
                fate=fate if isinstance(fate, Fate) else None,
                errors=self.query_one("#errors", OnOff).value,
                pinned=self.query_one("#pinned", OnOff).value,
                larger_than=int(number or 0) * thousands,
            )
        )

    def _text(self, name: str) -> str:
        value = self.query_one(name, Select).value
        return value if isinstance(value, str) else ""

    @on(Input.Submitted, "#larger")
    @on(Button.Pressed, "#show")
    def _show(self) -> None:
        self.action_show()

    @on(Button.Pressed, "#clear")
    def _clear(self) -> None:
        self.dismiss(Filter())
