"""What can be done with the text in the middle: copy it, open it in an editor, write it to a file, show less of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual.binding import Binding, BindingType
from textual.screen import Screen

from workbench.analysis.transcript import VERBOSITIES, Verbosity
from workbench.bench import Bench
from workbench.errors import BadInput
from workbench.tui.editing import edit_outside, editor_command
from workbench.tui.plain import figure
from workbench.tui.screens.writing import WritingScreen
from workbench.tui.widgets.text_view import TextView

KEYS = (
    ("y", "copy_text", "Copy", "Copy what is in the middle to the clipboard."),
    ("o", "open_text", "Editor", "Open what is in the middle in $VISUAL or $EDITOR, as a copy."),
    ("w", "write_text", "Write", "Write what is in the middle to a file."),
    ("v", "verbosity", "Verbosity", "Show the message, its round with a line a call, or only the round's answer."),
)
"""Key, action, name and help."""

BINDINGS: list[BindingType] = [
    Binding(key, action, name, show=False, tooltip=tooltip, id=f"bench.{action.replace('_', '-')}")
    for key, action, name, tooltip in KEYS
]


class Reading(Screen[None]):
    """Mixed into the bench; `bench`, `explain`, `show_tab` are the bench's."""

    verbosity: Verbosity = "default"

    if TYPE_CHECKING:
        tab: str

        @property
        def bench(self) -> Bench: ...
        def explain(self, sentence: str) -> None: ...
        def show_tab(self, name: str) -> None: ...
        def fill_middle(self) -> object: ...

    def why_not(self, action: str) -> str:
        """Why nothing can be done with the text now, "" where it can."""
        if action == "open_text":
            try:
                editor_command()
            except BadInput as refused:
                return str(refused)
        return str(super().why_not(action))  # type: ignore[misc]  # the next mixin's

    def action_copy_text(self) -> None:
        text = self.query_one(TextView).source
        # A lone surrogate, which a session may hold, cannot be sent to a terminal.
        self.app.copy_to_clipboard(text.encode("utf-8", "replace").decode())
        self.notify(f"{figure(len(text))} characters copied", markup=False)

    def action_open_text(self) -> None:
        try:
            edit_outside(self.app, self.query_one(TextView).source, ".txt")
        except BadInput as refused:
            self.explain(str(refused))

    def action_write_text(self) -> None:
        session = self.bench.session
        name = session.path.stem if session.path else "session"
        text = self.query_one(TextView).source
        self.app.push_screen(WritingScreen(text, Path(f"{name}-{self.tab}.txt")), self._written)

    def _written(self, path: Path | None) -> None:
        if path is not None:
            self.notify(f"written to {path}", markup=False)

    def action_verbosity(self) -> None:
        at = VERBOSITIES.index(self.verbosity)
        self.verbosity = VERBOSITIES[(at + 1) % len(VERBOSITIES)]
        if self.tab == "message":
            self.fill_middle()
        else:
            self.show_tab("message")
