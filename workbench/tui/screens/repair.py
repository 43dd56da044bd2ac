"""The repair of a damaged session: each fix with its line and reason, and from there the copy on disk."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from workbench.repairs.engine import Repair
from workbench.repairs.listing import lines_of
from workbench.repairs.saving import save
from workbench.tui.help_key import help_key
from workbench.tui.screen import ModalScreen
from workbench.tui.screens.save_as import WritingScreen
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.text_view import Part, TextView

SHOWN = 2_000
"""Fixes that are listed."""


class RepairScreen(ModalScreen[Path | None]):
    """Dismissed with the place of the copy, None where none was written."""

    HELP = """\
Each fix that a repair makes in the session's file, with its line and reason, and the faults that it cannot fix. Enter \
asks where the repaired copy goes and writes it; the file itself is never changed."""
    CSS = """
    RepairScreen { align: center middle; }
    RepairScreen > Vertical { width: 100; max-width: 98%; height: 80%; padding: 0 1; }
    RepairScreen > Vertical { border: round $border; background: $surface; }
    RepairScreen TextView { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,w", "write", "Write", priority=True, id="repair.write", tooltip="Write the repaired copy."),
        Binding("escape,q", "dismiss(None)", "Close", id="repair.close", tooltip="Back to the bench, nothing written."),
        help_key("repair"),
    ]
    AUTO_FOCUS = "TextView"

    def __init__(self, repair: Repair) -> None:
        super().__init__()
        self.repair = repair

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = "Repair"
            yield TextView()
            yield KeysLine()

    def on_mount(self) -> None:
        heading, *lines = lines_of(self.repair, SHOWN)
        self.query_one(TextView).show([Part(heading, "title"), *(Part(line) for line in lines)])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        can_write = bool(self.repair.fixes) and self.repair.is_sound
        return can_write or None if action == "write" else super().check_action(action, parameters)

    def action_write(self) -> None:
        repair = self.repair
        where = repair.path.parent / repair.name

        def write(path: Path) -> None:
            save(repair, path)

        def written(path: Path | None) -> None:
            if path is not None:
                self.dismiss(path)

        self.app.push_screen(WritingScreen("The repaired copy of the session.", where, write), written)
