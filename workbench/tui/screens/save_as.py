"""Where to write something: one path, one refusal if something stands there already."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static
from textual.worker import Worker

from workbench.base.errors import BadInput
from workbench.tui.keys import HELP_KEY
from workbench.tui.plain import one_line
from workbench.tui.widgets.keys_line import KeysLine


class WritingScreen(ModalScreen[Path | None]):
    """Asks for a file name and has `write` write there, in a thread; gives the path, or None when left. `about` says
    what is written."""

    HELP = """\
What the first line names goes to a new file, whole and as it is: enter writes it, escape writes nothing. A name \
without a folder lies where the workbench was started; a file that is there already is never written over."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", id="writing.leave", tooltip="Write nothing."),
        HELP_KEY,
    ]

    def __init__(self, about: str, path: Path, write: Callable[[Path], None]) -> None:
        super().__init__()
        self.about, self.path, self.write = about, path, write
        self._writing: Worker[None] | None = None

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = "Write"
            yield Static(self.about, markup=False)
            yield Input(str(self.path), compact=True, id="path")
            yield Static("enter writes it, esc leaves it", id="sentence", markup=False)
        yield KeysLine()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        if not self.is_writing:
            self._writing = self._write(event.value.strip())

    @property
    def is_writing(self) -> bool:
        return self._writing is not None and not self._writing.is_finished

    @work(group="write", description="write")
    async def _write(self, name: str) -> None:
        try:
            path = await asyncio.to_thread(self._written, name)
        except BadInput as refused:
            sentence = self.query_one("#sentence", Static)
            sentence.update(one_line(str(refused)))
            sentence.add_class("-refused")
        else:
            self.dismiss(path)

    def _written(self, name: str) -> Path:
        path = Path(name).expanduser()
        self.write(path)
        return path

    def action_leave(self) -> None:
        if not self.is_writing:
            self.dismiss(None)
