"""A file with several sessions: which one to open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Input

from workbench.formats.format import Part
from workbench.tui.entries import matching, part_entries
from workbench.tui.help_key import help_key
from workbench.tui.plain import figure, one_line
from workbench.tui.widgets.entries_list import EntriesList
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.list_keys import TYPING


class ChoosePartScreen(Screen[str | None]):
    """Gives the id of the part that was chosen, None when none was."""

    HELP = """\
This file holds several sessions: the samples of an evaluation, the chats of a history, the sessions in a tool's \
database, or the branches of one that is damaged. Choose the one to put on the bench; typing searches their names. \
The others stay where they are, and the file is never changed. \
On the command line `cwb audit --quick FILE` lists them and `--part ID` opens one."""
    AUTO_FOCUS = "#search"
    BINDINGS: ClassVar[list[BindingType]] = [
        *TYPING,
        Binding("enter", "choose", "Open", id="part.choose", tooltip="Open the session under the cursor."),
        Binding("escape", "leave", "Back", id="part.leave", tooltip="Clear the search, or leave without opening."),
        help_key("part"),
    ]

    def __init__(self, path: Path, parts: Sequence[Part]) -> None:
        super().__init__()
        self.path = path
        self.every = part_entries(path, parts)

    def compose(self) -> ComposeResult:
        yield Input(placeholder="type to search", id="search")
        yield EntriesList(id="entries")
        yield KeysLine()

    def on_mount(self) -> None:
        self._list()

    @on(Input.Changed, "#search")
    def _list(self) -> None:
        shown, parts = matching(self.every, self.query_one(Input).value), self.query_one(EntriesList)
        parts.show(shown)
        number = figure(len(shown)) if len(shown) == len(self.every) else f"{figure(len(shown))} of {len(self.every)}"
        parts.border_title = f"{number} sessions in {one_line(self.path.name, 100)}".replace("[", r"\[")

    @on(Input.Submitted, "#search")
    def action_choose(self) -> None:
        entry = self.query_one(EntriesList).entry
        if entry:
            self.dismiss(entry.part)
        else:
            self.notify("Nothing fits the search; type less of it.", severity="warning")

    @on(EntriesList.Chosen)
    def _chosen(self, event: EntriesList.Chosen) -> None:
        self.dismiss(event.entry.part)

    def action_leave(self) -> None:
        search = self.query_one(Input)
        if search.value:
            search.value = ""
        else:
            self.dismiss(None)
