"""Where to write a text: one path, one refusal if something stands there already."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from workbench.base.errors import BadInput
from workbench.base.files import write_atomically
from workbench.tui.help_key import help_key
from workbench.tui.plain import figure, one_line
from workbench.tui.widgets.keys_line import KeysLine


class WritingScreen(ModalScreen[Path | None]):
    """Asks for a file name and writes `text` there; gives the path, or None when left."""

    HELP = """\
The text of the middle, whole and as the session holds it, goes to a new file: enter writes it, escape writes \
nothing. A name without a folder lies where the workbench was started; a file that is there already is never \
written over."""
    DEFAULT_CSS = """
    WritingScreen { align: center middle; }
    WritingScreen > Vertical {
        width: 76; max-width: 100%; height: auto; padding: 1 2; background: $panel; border: round $primary;
    }
    WritingScreen #sentence { color: $text-error; height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", id="writing.leave", tooltip="Write nothing."),
        help_key("writing"),
    ]

    def __init__(self, text: str, path: Path) -> None:
        super().__init__()
        self.text = text
        self.path = path

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(f"Write {figure(len(self.text))} characters to a new file", markup=False)
            yield Input(str(self.path), id="path")
            yield Static("", id="sentence", markup=False)
        yield KeysLine()

    @on(Input.Submitted)
    def _write(self, event: Input.Submitted) -> None:
        path = Path(event.value.strip()).expanduser()
        try:
            write_atomically(path, self.text.encode("utf-8", "surrogatepass"))
        except BadInput as refused:
            self.query_one("#sentence", Static).update(one_line(str(refused)))
        else:
            self.dismiss(path)

    def action_leave(self) -> None:
        self.dismiss(None)
