"""Paste the parameter object of a product: what stands in the box is read as it changes, and what is wrong is said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from workbench.base.errors import BadInput
from workbench.compaction.flags import read_by
from workbench.compaction.policy import Policy
from workbench.compaction.strategy import Read, Strategy
from workbench.tui.fields import differing, value_words
from workbench.tui.keys import HELP_KEY
from workbench.tui.plain import one_line
from workbench.tui.widgets.keys_line import KeysLine


class PasteParamsScreen(ModalScreen[tuple[Strategy[Any], Policy] | None]):
    """Dismissed with the policy that was pasted and its strategy, or None."""

    HELP = """\
Paste the parameters of compaction as an agent's configuration holds them: the JSON object, the string that a flag \
carries, or the flags as a whole. What was understood stands below, field by field where it differs from the \
defaults; what cannot be read is said there, too, and what is not known is named and passed over. Taking it chooses \
the strategy that they are for, with these numbers."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "take", "Take it", priority=True, id="paste.take", tooltip="Take these parameters."),
        Binding("escape", "dismiss", "Cancel", priority=True, id="paste.cancel", tooltip="Close and change nothing."),
        HELP_KEY,
    ]

    taken: tuple[Strategy[Any], Policy] | None = None

    def __init__(self, strategies: Sequence[Strategy[Any]]) -> None:
        """For strategies that have parameters to paste."""
        super().__init__()
        self.strategies = strategies

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            pasted = [one.pasted for one in self.strategies if one.pasted]
            box.border_title = f"Paste {' or '.join(one.name for one in pasted)}"
            yield Static(Text("\n".join(one.about for one in pasted)), classes="about")
            yield TextArea(soft_wrap=True, compact=True)
            yield Static(id="understood")
            yield KeysLine()

    def on_mount(self) -> None:
        self._read("")

    @on(TextArea.Changed)
    def _changed(self, event: TextArea.Changed) -> None:
        self._read(event.text_area.text)

    def _read(self, text: str) -> None:
        said = self.query_one("#understood", Static)
        self.taken, refused = None, ""
        if not text.strip():
            words = "Paste them here."
        else:
            try:
                strategy, read = read_by(self.strategies, text)
                self.taken = strategy, read.policy
                words = understood(strategy, read)
            except BadInput as bad:
                words, refused = f"✘ {bad}", "yes"
        said.update(Text(one_line(words, 1_000)))
        said.set_class(bool(refused), "-refused")
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return None if action == "take" and self.taken is None else True

    def action_take(self) -> None:
        self.dismiss(self.taken)


def understood(strategy: Strategy[Any], read: Read[Any]) -> str:
    """What was read: for which strategy, the fields that are not the policy's defaults, whether that compacts at all,
    and what was passed over."""
    fields = differing(read.policy, type(read.policy)())
    said = ", ".join(f"{field.label} {value_words(field, field.of(read.policy))}" for field in fields)
    idle = strategy.idle(read.policy)
    never = f"It would never summarize: {idle}" if idle else ""
    parts = (f"✔ {strategy.id}: {said or 'every field has its default'}", never, read.note[:1].upper() + read.note[1:])
    return ". ".join(filter(None, parts))
