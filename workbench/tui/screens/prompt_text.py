"""A copy of a prompt, header and all, edited and checked while it is typed, and saved in the user's own folder."""

from __future__ import annotations

import re
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.compaction.prompts import checked, file_of, write_own
from workbench.tui.help_key import help_key
from workbench.tui.plain import one_line
from workbench.tui.widgets.keys_line import KeysLine

_LINE = re.compile(r", line (\d+):")


class PromptTextScreen(ModalScreen[str | None]):
    """Dismissed with the path of what was saved, None when nothing was."""

    HELP = """\
Edit a copy of a prompt. A placeholder, a name in braces, is filled in when it is sent. One that nothing fills, and \
what a template must not do, is named with its line."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "Save", priority=True, id="prompt.save", tooltip="Save it in your own folder."),
        Binding("f8", "go", "To the fault", priority=True, id="prompt.go", tooltip="To the line that is wrong."),
        Binding("escape", "leave", "Cancel", priority=True, id="prompt.cancel", tooltip="Leave it as it was."),
        help_key("prompt"),
    ]

    def __init__(self, file: str) -> None:
        super().__init__()
        self.file = file
        self.before = file_of(file).read_text("utf-8", "replace")
        self.fault = 0
        self._sure = False

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Text(f" {paths.prompts() / self.file}", no_wrap=True, overflow="ellipsis"), id="name")
            yield TextArea(self.before, soft_wrap=True, show_line_numbers=True)
            yield Static(id="doubts")
            yield KeysLine()

    def on_mount(self) -> None:
        self.check()

    @on(TextArea.Changed)
    def _typed(self) -> None:
        self._sure = False
        self.check()

    def check(self) -> bool:
        """Whether it could be saved as it is; what is wrong is said."""
        said, self.fault = "✔ every placeholder is filled", 0
        try:
            checked(paths.prompts() / self.file, self.query_one(TextArea).text)
        except BadInput as refused:
            said = f"✘ {refused}"
            line = _LINE.search(said)
            self.fault = int(line[1]) if line else 0
        place = self.query_one("#doubts", Static)
        place.update(Text(one_line(said, 600)))
        place.set_class(said.startswith("✘"), "-refused")
        return said.startswith("✔")

    def action_go(self) -> None:
        if self.fault:
            self.query_one(TextArea).move_cursor((self.fault - 1, 0))

    def action_save(self) -> None:
        if not self.check():
            self.action_go()
            return
        try:
            self.dismiss(str(write_own(self.file, self.query_one(TextArea).text)))
        except BadInput as refused:
            self.notify(str(refused), severity="warning", markup=False)

    def action_leave(self) -> None:
        if self.query_one(TextArea).text == self.before or self._sure:
            self.dismiss(None)
            return
        self._sure = True
        self.notify("The text was changed: ctrl+s saves it, esc once more leaves it as it was.", markup=False)
