"""Repair of a damaged session: each fix with its line and reason, and the path of the repaired copy."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from workbench.repairs.engine import Repair, repair
from workbench.repairs.result import lines_of, save
from workbench.tui.keys import CLOSE_KEY, HELP_KEY, shared
from workbench.tui.screens.ask import LineAnswer, ask_path
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.text_view import TextPart, TextView

SHOWN = 2_000
"""Most fixes that are listed."""


class RepairScreen(ModalScreen[Path | None]):
    """Screen dismissed with the path of the copy, None if none was written."""

    HELP = """\
Every fix that a repair makes in the session's file, with its line and reason, and the faults that it cannot fix. \
Enter asks for the path of the repaired copy and writes it; the file itself is never changed.

Damaged links can split a session into branches. They are listed at the end, each by the line of its newest message; \
the longest one is kept unless you choose another with `o`. The copy has them all; its agent loads the one that is \
kept."""
    BINDINGS: ClassVar[list[BindingType]] = [
        shared("write", "write", "Write", "Write the repaired copy."),
        shared("open", "write", "Write", "Write the repaired copy.", show=False, priority=True),
        Binding("o", "branch", "Other branch", id="repair.branch", tooltip="Keep the next one of the file's branches."),
        CLOSE_KEY,
        HELP_KEY,
    ]
    AUTO_FOCUS = "TextView"

    def __init__(self, repair: Repair) -> None:
        super().__init__()
        self.repair = repair
        self.is_choosing = False
        """True while the repair of another branch is computed: the listed fixes are not the ones that would be
        written."""

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = "Repair"
            yield TextView()
            yield KeysLine()

    def on_mount(self) -> None:
        self.draw()

    def draw(self) -> None:
        heading, *lines = lines_of(self.repair, SHOWN, chosen_by="o keeps the next one")
        self.query_one(TextView).show([TextPart(heading, "title"), *(TextPart(line) for line in lines)])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "write":
                return (bool(self.repair.fixes) and self.repair.is_sound and not self.is_choosing) or None
            case "branch":
                return len(self.repair.branches) > 1
        return super().check_action(action, parameters)

    @work(exclusive=True, group="branch", exit_on_error=False, description="repair")
    async def action_branch(self) -> None:
        branches = self.repair.branches
        at = next((number for number, branch in enumerate(branches) if branch.chosen), -1)
        line = branches[(at + 1) % len(branches)].line
        self.is_choosing = True
        self.refresh_bindings()
        try:
            self.repair = await asyncio.to_thread(repair, self.repair.path, branch=line)
        finally:
            self.is_choosing = False
            self.refresh_bindings()
        self.draw()

    def action_write(self) -> None:
        repair = self.repair
        where = repair.path.parent / repair.name

        def write(path: Path) -> None:
            save(repair, path)

        def written(answer: LineAnswer[Path] | None) -> None:
            if answer is not None:
                self.dismiss(answer.value)

        self.app.push_screen(ask_path("The repaired copy of the session.", where, write), written)
