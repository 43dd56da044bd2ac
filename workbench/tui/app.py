"""The application: opens one session and shows it. Everything else is in `screens/` and `widgets/`.

Only textual is imported here: the loading screen is on the terminal before a room of the workbench is imported.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from workbench.tui.screens.loading import LoadingScreen
from workbench.tui.themes import THEMES

if TYPE_CHECKING:
    from workbench.session import Session

BAD_INPUT = 2
"""Exit code when nothing could be opened."""


class WorkbenchApp(App[None]):
    """Opens `source`, a path or a session that is loaded already, on the bench."""

    TITLE = "Compaction workbench"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", show=False, id="app.quit", tooltip="Leave the workbench."),
    ]

    def __init__(
        self,
        source: Path | Session,
        *,
        epoch: int | None = None,
        preset: str | None = None,
        window: int | None = None,
    ) -> None:
        super().__init__()
        self.source = source
        self.epoch = epoch
        self.preset = preset
        self.window = window

    def on_mount(self) -> None:
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = THEMES[0].name
        self.push_screen(LoadingScreen(self.source, epoch=self.epoch, preset=self.preset, window=self.window))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every command of the screen in front, with its key, before Textual's own."""
        seen = set()
        for active in screen.active_bindings.values():
            binding = active.binding
            if not binding.tooltip or binding.action in seen or not active.enabled:
                continue
            seen.add(binding.action)
            key = self.get_key_display(binding)
            run = partial(self.run_action, binding.action, active.node)
            yield SystemCommand(f"{binding.description} ({key})", binding.tooltip, run)
        yield from super().get_system_commands(screen)


def run_app(
    source: Path | Session, *, epoch: int | None = None, preset: str | None = None, window: int | None = None
) -> int:
    """Show the workbench until it is left; returns the exit code: 0, or 2 when nothing could be opened."""
    app = WorkbenchApp(source, epoch=epoch, preset=preset, window=window)
    app.run()
    return app.return_code or 0
