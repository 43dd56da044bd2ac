"""All that can be done on the bench, in groups, each with its key: the next key does it (what other programs call
which-key)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

COLUMN = 24
"""The least cells of a column: the longest key and name, and what parts it from the next."""
KEY = 5
"""Cells of the key in it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """`id` is the action's; `keys` are all that do it."""

    id: str
    keys: tuple[str, ...]
    name: str
    can: bool


Line = Entry | str
"""An action, or a heading."""


def poured(groups: Mapping[str, Sequence[Entry]], columns: int) -> list[list[Line]]:
    """The groups, under their headings, one below the other in as many columns of about the same height. A heading
    never ends a column, and an empty line stands between two groups of one."""
    lines: list[Line] = []
    for name, entries in groups.items():
        lines += [*([""] if lines else []), name, *entries]
    height = -(-len(lines) // columns)
    found: list[list[Line]] = []
    while lines:
        cut = min(height, len(lines))
        while cut > 1 and isinstance(lines[cut - 1], str) and cut < len(lines):
            cut -= 1
        column, lines = lines[:cut], lines[cut:]
        if len(found) == columns - 1:
            column, lines = [*column, *lines], []
        while lines and not lines[0]:
            lines = lines[1:]
        found.append(column)
    return found


class AllKeysScreen(ModalScreen[str | None]):
    """Gives the id of the action that was chosen."""

    HELP = "Every action here with its key. The next key runs one, esc goes back. Grey ones are not available now."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,space", "dismiss", "Back", id="keys.back", tooltip="Back to the bench."),
    ]

    def __init__(self, groups: Mapping[str, Sequence[Entry]]) -> None:
        super().__init__()
        self.groups = groups
        self._by_key = {key: entry for entries in groups.values() for entry in entries for key in entry.keys}

    def compose(self) -> ComposeResult:
        with VerticalScroll() as box:
            box.border_title = "All keys"
            box.border_subtitle = "press a key to run its action · esc back"
            yield Horizontal()

    def on_resize(self, event: events.Resize) -> None:
        columns = max((event.size.width - 4) // COLUMN, 1)
        place = self.query_one(Horizontal)
        place.remove_children()
        for column in poured(self.groups, columns):
            one = Static(Content("\n").join(map(self._drawn, column)))
            one.styles.width = "1fr"
            place.mount(one)

    def on_key(self, event: events.Key) -> None:
        entry = self._by_key.get(event.key) or self._by_key.get(event.character or "")
        if entry is None or event.key in ("escape", "space"):
            return
        event.stop()
        event.prevent_default()
        self.dismiss(entry.id)

    def _drawn(self, line: Line) -> Content:
        if isinstance(line, str):
            return Content.styled(line, "bold $text-primary")
        shown = self.app.get_key_display(Binding(line.keys[0], "")) if line.keys else ""
        key = Content.styled(f"{shown:>{KEY}}", "bold $text-accent" if line.can else "$foreground 40%")
        return Content.assemble(key, "  ", Content.styled(line.name, "" if line.can else "$foreground 40%"))
