"""Editor of a prompt's file with its header: checked while the user types, saved as a copy in the user's own folder."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static, TextArea

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.compaction.prompts import checked, content_of, write_own
from workbench.tui.keys import shared
from workbench.tui.plain import one_line

_LINE = re.compile(r", line (\d+):")


class PromptEditor(Vertical):
    BINDINGS: ClassVar[list[BindingType]] = [
        shared("save", "save", "Save", "Save it in your own folder.", priority=True),
        Binding("f8", "go", "To the fault", priority=True, id="prompt.go", tooltip="To the line that is wrong."),
        shared("cancel", "leave", "Cancel", "Discard the edits.", priority=True),
    ]

    @dataclass
    class Closed(Message):
        """Path of the saved file, "" if none was saved."""

        path: str

    def __init__(self, file: str) -> None:
        """Raises BadInput for a file that is gone or cannot be read."""
        super().__init__()
        self.file = file
        self.before = content_of(file)
        self.fault = 0
        self._sure = False

    def compose(self) -> ComposeResult:
        yield TextArea(self.before, soft_wrap=True, show_line_numbers=True)
        yield Static(id="doubts")

    def on_mount(self) -> None:
        area = self.query_one(TextArea)
        area.border_title = one_line(str(paths.prompts() / self.file)).replace("[", r"\[")
        area.focus()
        self.check()

    @on(TextArea.Changed)
    def _typed(self) -> None:
        self._sure = False
        self.check()

    def check(self) -> bool:
        """Show what is wrong with the text; True if it can be saved."""
        report, self.fault = "✔ every placeholder is filled", 0
        try:
            checked(paths.prompts() / self.file, self.query_one(TextArea).text)
        except BadInput as refused:
            report = f"✘ {refused}"
            line = _LINE.search(report)
            self.fault = int(line[1]) if line else 0
        place = self.query_one("#doubts", Static)
        place.update(Text(one_line(report, 600)))
        place.set_class(report.startswith("✘"), "-refused")
        return report.startswith("✔")

    def action_go(self) -> None:
        if self.fault:
            self.query_one(TextArea).move_cursor((self.fault - 1, 0))

    def action_save(self) -> None:
        if not self.check():
            self.action_go()
            return
        try:
            self.post_message(self.Closed(str(write_own(self.file, self.query_one(TextArea).text))))
        except BadInput as refused:
            self.notify(str(refused), severity="warning", markup=False)

    def action_leave(self) -> None:
        if self.query_one(TextArea).text == self.before or self._sure:
            self.post_message(self.Closed(""))
            return
        self._sure = True
        self.notify("The text was changed: ctrl+s saves it, esc again discards the change.", markup=False)
