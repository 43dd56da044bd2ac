"""What can be done with the text in the middle: copy it, open it in an editor, write it to a file, show less of it,
fold it, give it the whole screen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on, work
from textual.binding import Binding, BindingType
from textual.screen import Screen

from workbench.analysis.transcript import VERBOSITIES, Verbosity
from workbench.base.errors import BadInput
from workbench.bench import Bench
from workbench.compaction.checks import Check
from workbench.tui.details import TABS
from workbench.tui.editing import edit_outside, editor_command
from workbench.tui.middle.pager import Pager
from workbench.tui.middle.view import Folds, View
from workbench.tui.plain import figure
from workbench.tui.rows import Groups
from workbench.tui.screens.writing import WritingScreen

KEYS = (
    ("y", "copy_text", "Copy", "Copy what is in the middle to the clipboard."),
    ("o", "open_text", "Editor", "Open a copy of what is in the middle in $VISUAL or $EDITOR; changes are not taken."),
    ("w", "write_text", "Write", "Write what is in the middle to a file."),
    ("v", "verbosity", "Verbosity", "Show the message, its round with a line a call, or only the round's answer."),
    ("m", "widen", "Wide", "Give the middle the whole screen, or its own place again."),
)
"""Key, action, name and help."""

BINDINGS: list[BindingType] = [
    Binding(key, action, name, show=False, tooltip=tooltip, id=f"bench.{action.replace('_', '-')}")
    for key, action, name, tooltip in KEYS
]


class Reading(Screen[None]):
    """Mixed into the bench; `bench`, `explain`, `show_tab` are the bench's."""

    verbosity: Verbosity = "default"
    folds: Folds = Folds()

    if TYPE_CHECKING:
        tab: str
        pane: str
        groups: Groups
        checks: tuple[Check, ...] | None

        @property
        def bench(self) -> Bench: ...
        def explain(self, sentence: str) -> None: ...
        def show_tab(self, name: str) -> None: ...
        def show_pane(self, name: str) -> None: ...
        def _index(self) -> int: ...
        def fill_middle(self) -> object: ...

    def why_not(self, action: str, parameters: tuple[object, ...] = ()) -> str:
        """Why nothing can be done with the text now, "" where it can."""
        if action == "open_text":
            try:
                editor_command()
            except BadInput as refused:
                return str(refused)
        return str(super().why_not(action, parameters))  # type: ignore[misc]  # the next mixin's

    # --- what is shown ----------------------------------------------------------------------------------------------

    def seen(self, width: int) -> View:
        """What the middle is made from now, for a pane of `width` cells."""
        return View(self.bench, self.groups, self._index(), self.checks, self.verbosity, self.folds, width)

    @on(Pager.Turned)
    def _turned(self, event: Pager.Turned) -> None:
        self.folds = self.folds.turn(event.fold)
        self.fill_middle()

    @on(Pager.Every)
    def _every(self, event: Pager.Every) -> None:
        self.folds = Folds(every=event.is_open)
        self.fill_middle()

    def action_widen(self) -> None:
        if self.maximized is not None:
            self.minimize()
        else:
            if self.pane in ("rounds", "policy"):
                self.show_pane(self.tab)
            self.maximize(self.query_one(Pager), container=False)

    # --- taking it away ---------------------------------------------------------------------------------------------

    @work(exclusive=True, group="text", exit_on_error=False, description="take")
    async def take(self, use: Callable[[str], None]) -> None:
        """Hand over what is in the middle, nothing folded and nothing side by side, as the session holds it."""
        view = View(self.bench, self.groups, self._index(), self.checks, self.verbosity)
        parts = await asyncio.to_thread(TABS[self.tab], view)
        use("\n".join(part.text for part in parts))

    def action_copy_text(self) -> None:
        self.take(self._copy_whole)

    def action_open_text(self) -> None:
        self.take(self._open_whole)

    def action_write_text(self) -> None:
        self.take(self._write_whole)

    def _copy_whole(self, text: str) -> None:
        # A lone surrogate, which a session may hold, cannot be sent to a terminal.
        self.app.copy_to_clipboard(text.encode("utf-8", "replace").decode())
        self.notify(f"{figure(len(text))} characters copied", markup=False)

    def _open_whole(self, text: str) -> None:
        try:
            left = edit_outside(self.app, text, ".txt")
        except BadInput as refused:
            self.explain(str(refused))
            return
        if left != text:
            self.notify("What you changed was a copy: a session's messages are not edited here.", markup=False)

    def _write_whole(self, text: str) -> None:
        session = self.bench.session
        name = session.path.stem if session.path else "session"
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
