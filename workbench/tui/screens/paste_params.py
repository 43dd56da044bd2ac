"""Paste the parameter object of a product: what stands in the box is read as it changes, and what is wrong is said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from workbench.base.errors import BadInput
from workbench.compaction.policy import Policy
from workbench.compaction.strategy import Pasted
from workbench.tui.fields import differing, value_words
from workbench.tui.help_key import help_key
from workbench.tui.plain import one_line
from workbench.tui.widgets.keys_line import KeysLine


class PasteParamsScreen(ModalScreen[Policy | None]):
    """Dismissed with the policy that was pasted, or None."""

    HELP = """\
Paste the parameters of compaction as an agent's configuration holds them: the JSON object, the string that a flag \
carries, or the flags as a whole. What was understood stands below, field by field where it differs from the \
defaults; what cannot be read is said there, too. Taking it chooses the strategy that they are for, with these \
numbers."""
    CSS = """
    PasteParamsScreen { align: center middle; }
    PasteParamsScreen > Vertical { width: 100; max-width: 98%; height: 90%; padding: 0 1; }
    PasteParamsScreen > Vertical { border: round $border; background: $surface; }
    PasteParamsScreen .about { color: $text-muted; }
    PasteParamsScreen TextArea { height: 1fr; }
    PasteParamsScreen #understood { height: auto; max-height: 8; margin: 1 0 0 0; }
    PasteParamsScreen #understood.-refused { color: $text-error; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "take", "Take it", priority=True, id="paste.take", tooltip="Take these parameters."),
        Binding("escape", "dismiss", "Cancel", priority=True, id="paste.cancel", tooltip="Close and change nothing."),
        help_key("paste"),
    ]

    policy: Policy | None = None

    def __init__(self, pasted: Pasted[Any], idle: Callable[[Any], str]) -> None:
        super().__init__()
        self.pasted, self.idle = pasted, idle

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = f"Paste {self.pasted.name}"
            yield Static(Text(self.pasted.about), classes="about")
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
        self.policy, refused = None, ""
        if not text.strip():
            words = "Paste them here."
        else:
            try:
                self.policy = self.pasted.read(text)
                words = understood(self.policy, self.idle(self.policy))
            except BadInput as bad:
                words, refused = f"✘ {bad}", "yes"
        said.update(Text(one_line(words, 1_000)))
        said.set_class(bool(refused), "-refused")
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return None if action == "take" and self.policy is None else True

    def action_take(self) -> None:
        self.dismiss(self.policy)


def understood(policy: Policy, idle: str) -> str:
    """What was read: the fields that are not the policy's defaults, and whether that compacts at all."""
    fields = differing(policy, type(policy)())
    said = ", ".join(f"{field.label} {value_words(field, field.of(policy))}" for field in fields)
    return f"✔ {said or 'every field has its default'}{f'. It would never summarize: {idle}' if idle else ''}"
