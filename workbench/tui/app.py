"""The Textual application: opens sessions, and does what all screens share (themes, toasts, saved settings, keys).

At import it loads only `base`, `session` and small modules of `tui`, so that the loading screen appears at once. Other
modules are imported in functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from traceback import format_exc
from typing import TYPE_CHECKING, ClassVar, Literal

from rich.terminal_theme import TerminalTheme
from rich.text import Text
from textual import events, on, work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.command import Provider
from textual.dom import DOMNode
from textual.notifications import Notify
from textual.screen import Screen
from textual.theme import Theme

from workbench.base.crashes import mask_logs
from workbench.base.secrets import masked
from workbench.session import EpochChoice
from workbench.tui.palette import Palette, PaletteCommand
from workbench.tui.screens.loading import LoadingScreen, Opening
from workbench.tui.settings import Home, Settings, read_home, unknown_keys, with_recent, write_home
from workbench.tui.terminal import leave_without_terminal
from workbench.tui.themes import SIXTEEN, THEMES, named_colours, usual_theme

if TYPE_CHECKING:
    from workbench.session import Session
    from workbench.tui.bench.following import AllRead, ReadAgain
    from workbench.tui.screens.sessions import SessionsScreen

BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-narrow"), (110, "-wide")]
"""CSS class of a screen from each width in columns; `-wide` puts its parts side by side."""


class WorkbenchApp(App[None]):
    """Application that first shows `first`: a path or session on the bench, or the list of sessions.

    `part`: id of the session in a file of several. `window`: context window in tokens, set by the user. `follow`: show
    what the agent appends to the file. `sources`: files that the list shows first, and folders that it searches.
    `memory`: folder of saved work, recent files and the theme; None saves nothing. `fresh`: ignore the saved work of
    this session. `watched`: sentences to watch.
    """

    TITLE = "Compaction workbench"
    ENABLE_COMMAND_PALETTE = True
    CSS_PATH = "app.tcss"
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {Palette}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", show=False, id="app.quit", tooltip="Leave the workbench."),
        Binding(
            "ctrl+z",
            "suspend_process",
            "Suspend",
            show=False,
            id="app.suspend",
            tooltip="Suspend to the shell; fg returns.",
        ),
    ]

    def __init__(
        self,
        first: Path | Session | Literal["sessions"],
        *,
        epoch: EpochChoice = None,
        preset: str | None = None,
        window: int | None = None,
        part: str = "",
        follow: bool = False,
        sources: Sequence[Path] = (),
        settings: Settings | None = None,
        memory: Path | None = None,
        fresh: bool = False,
        watched: tuple[str, ...] = (),
    ) -> None:
        super().__init__()
        self.settings = settings or Settings()
        self.first = first
        self._opening = partial(
            Opening,
            epoch=epoch,
            preset=preset,
            window=window,
            usual_window=self.settings.window,
            memory=memory,
            fresh=fresh,
            part=part,
            follow=follow,
            watched=watched,
        )
        self.sources = tuple(sources)
        self.memory = memory
        self.home = read_home(memory) if memory else Home()
        self._is_first_start = memory is not None and not self.home.recents
        self._clashes: set[str] = set()
        self._pressed: events.Key | None = None
        self._is_repeated = False
        self._key_notices = set[str]()
        """Texts notified since the first press of the last key."""
        self._ansi_theme: tuple[Theme, TerminalTheme] | None = None
        self._is_styled = True

    def on_mount(self) -> None:
        leave_without_terminal(self)
        mask_logs()
        self.theme_changed_signal.subscribe(self, self._theme_chosen)
        self.screen_change_signal.subscribe(self, self._set_size_classes, immediate=True)
        if self.settings.keys:
            self.set_keymap(self.settings.keymap)
        self.begin()

    def _set_size_classes(self, screen: Screen[object]) -> None:
        """Set the classes of a screen's breakpoints before its widgets are mounted. Textual sets them at the first
        resize, and then styles and lays out every widget a second time."""
        across = self.HORIZONTAL_BREAKPOINTS if screen.HORIZONTAL_BREAKPOINTS is None else screen.HORIZONTAL_BREAKPOINTS
        down = self.VERTICAL_BREAKPOINTS if screen.VERTICAL_BREAKPOINTS is None else screen.VERTICAL_BREAKPOINTS
        for cells, breakpoints in ((self.size.width, across), (self.size.height, down)):
            reached = max((one for one in breakpoints or () if one[0] <= cells), default=None)
            screen.update_classes({one[1]: one == reached for one in breakpoints or ()}, animate=False)

    @property
    def ansi_theme(self) -> TerminalTheme:
        # Cached, because Textual reads it for each segment of a line.
        theme = self.current_theme
        if self._ansi_theme is None or self._ansi_theme[0] is not theme:
            self._ansi_theme = theme, named_colours(theme)
        return self._ansi_theme[1]

    def begin(self) -> None:
        """Show the first screen."""
        if self.first == "sessions":
            self.action_sessions()
        else:
            self.push_screen(LoadingScreen(self._opening(self.first), _import_bench))

    def _fatal_error(self) -> None:
        """Print a masked traceback. Textual's own shows local variables, which hold texts of a session."""
        self.bell()
        self.panic(Text(masked(format_exc())))

    def _choose_theme(self) -> None:
        """Set the theme: of the settings, else the last one chosen, else the default for the terminal's colours. Warn
        if the settings name an unknown theme."""
        for theme in THEMES:
            self.register_theme(theme)
        chosen = self.settings.theme or self.home.theme
        usual = usual_theme(None if self.is_headless else self.console.color_system)
        self.theme = chosen if chosen in self.available_themes else usual
        if self.settings.theme and self.settings.theme not in self.available_themes:
            names = ", ".join(sorted(self.available_themes))
            self.warn(f"{self.settings.path}: there is no theme {self.settings.theme!r}; there are {names}.")

    def refresh_css(self, animate: bool = True) -> None:
        """Skip the refresh after the first choice of a theme, because it parses every style again."""
        if self._is_styled:
            super().refresh_css(animate)
        self._is_styled = True

    # --- opening ----------------------------------------------------------------------------------------------------

    def open(self, path: Path, part: str = "", epoch: EpochChoice = None) -> None:
        """Open another file, or the session `part` of it. The current screen stays until the new bench is ready."""
        opening = Opening(path, epoch=epoch, usual_window=self.settings.window, memory=self.memory, part=part)
        self.push_screen(LoadingScreen(opening, _import_bench))

    def on_sessions_screen_open_requested(self, request: SessionsScreen.OpenRequested) -> None:
        self.open(request.path, request.part, request.epoch)

    def on_read_again(self, request: ReadAgain) -> None:
        """Open the bench's file again, with the pins, edits and settings of the bench."""
        opening = Opening(
            request.path,
            window=request.window,
            usual_window=self.settings.window,
            memory=self.memory,
            carry=request.work,
            part=request.part,
        )
        self.push_screen(LoadingScreen(opening, _import_bench))

    @on(LoadingScreen.Ready)
    def show_bench(self, ready: LoadingScreen.Ready) -> None:
        """Replace all screens with the loaded session's bench, unless the user has closed its loading screen."""
        from workbench.tui.bench.screen import BenchScreen

        waiting = (screen for screen in self.screen_stack if isinstance(screen, LoadingScreen))
        if all(screen.opening is not ready.opening for screen in waiting):
            return

        screen = BenchScreen(
            ready.bench,
            ready.counter,
            ready.groups,
            mark=ready.mark,
            note=ready.note,
            memory=self.memory,
            follow=ready.opening.follow,
        )
        with self.batch_update():
            while len(self.screen_stack) > 1:
                self.pop_screen()
            self.push_screen(screen)
        if not ready.bench.session.begins_at:
            self._remember_opened(ready.bench.session)
        self.call_after_refresh(self._first_sight)

    def on_all_read(self, read: AllRead) -> None:
        self._remember_opened(read.session)

    def _remember_opened(self, session: Session) -> None:
        if session.path:
            path, title = session.path, session.title
            self.remember(lambda home: with_recent(home, path, title))

    def _first_sight(self) -> None:
        """Warn about unknown key ids in the settings. At the first start, notify about the first keys."""
        from workbench.tui.keys import known_key_ids, now_at

        if self.settings.keys and (wrong := unknown_keys(self.settings, known_key_ids(), now_at)):
            self.warn(wrong)
        if self._is_first_start:
            self._is_first_start = False
            self.notify("space shows every key; ctrl+p finds a command by its name; ctrl+o lists your sessions.")

    # --- screens ----------------------------------------------------------------------------------------------------

    def action_sessions(self) -> None:
        """Show the list of sessions."""
        from workbench.tui.screens.sessions import SessionsScreen

        if not isinstance(self.screen, SessionsScreen):
            self.push_screen(SessionsScreen(self.sources, self.home.recents))

    def action_explain(self) -> None:
        """Show the help of the screen in front."""
        from workbench.tui.screens.help import HelpScreen

        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen.about(self.screen, self.settings.keymap))

    # --- the list that has the focus --------------------------------------------------------------------------------

    async def action_search_lines(self) -> None:
        from workbench.tui.screens import search_lines

        await search_lines.search(self)

    def action_next_line(self, direction: int) -> None:
        from workbench.tui.screens import search_lines

        search_lines.next_hit(self, direction)

    def action_copy_lines(self) -> None:
        from workbench.tui.screens import search_lines

        search_lines.copy(self)

    async def action_along(self, action: str) -> None:
        from workbench.tui.screens import search_lines

        await search_lines.along(self, action)

    # --- saved between starts ----------------------------------------------------------------------------------------

    def remember(self, change: Callable[[Home], Home]) -> None:
        """Apply `change` to the saved home, and write it in a thread. Writes nothing without `memory`."""
        home = change(self.home)
        if home != self.home:
            self.home = home
            if self.memory:
                self.write_home(self.memory, change)

    @work(thread=True, group="home", exit_on_error=False, description="write_home")
    def write_home(self, folder: Path, change: Callable[[Home], Home]) -> None:
        from workbench.base.errors import BadInput

        try:
            write_home(folder, change)
        except BadInput as refused:
            self.call_from_thread(self.warn, str(refused))

    def _theme_chosen(self, theme: Theme) -> None:
        ours = (THEMES[0].name, SIXTEEN)
        if theme.name != (self.settings.theme or self.home.theme) and (self.home.theme or theme.name not in ours):
            self.remember(lambda home: replace(home, theme=theme.name))

    # --- everywhere -------------------------------------------------------------------------------------------------

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Compose):
            # The terminal is known now, and Textual has not parsed a style yet.
            before = self.theme
            self._choose_theme()
            self._is_styled = self.theme == before
            self.stylesheet.set_variables(self.get_css_variables())
        if isinstance(event, events.Key) and event is not self._pressed:
            # Textual sends a key that no widget handles here twice, as the same event.
            self._is_repeated = self._pressed is not None and event.key == self._pressed.key
            self._pressed = event
            if not self._is_repeated:
                self._key_notices = set()
        await super().on_event(event)

    def on_notify(self, event: Notify) -> None:
        """Remove toasts with the same text and, while a key repeats, those of the same key. Uses two private names:
        Textual's public call removes all toasts."""
        message = event.notification.message
        replaced = {message, *self._key_notices} if self._is_repeated else {message}
        for shown in [one for one in self._notifications if one.message in replaced]:
            self._unnotify(shown, refresh=False)
        self._key_notices.add(message)

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text, with "?" for lone surrogates: a session may contain them, and a terminal rejects them."""
        super().copy_to_clipboard(text.encode("utf-8", "replace").decode())

    def warn(self, sentence: str) -> None:
        self.notify(sentence, severity="warning", markup=False, timeout=10)

    def handle_bindings_clash(self, clashed_bindings: set[Binding], node: DOMNode) -> None:
        """Warn once for each binding that lost its key to a binding in the user's settings."""
        for binding in clashed_bindings:
            if binding.id and binding.id not in self._clashes and binding.id not in self.settings.keymap:
                self._clashes.add(binding.id)
                self.warn(f"{self.settings.path}: {binding.key!r} is {binding.id}'s key; give that another one, too.")

    def commands(self, screen: Screen[object]) -> Iterator[PaletteCommand]:
        """Yield the palette's commands: bindings with a tooltip of the screen in front and of the application, then the
        screen's commands without a key, then Textual's. A disabled command presses its key, which shows the reason."""
        names = {"palette"}
        for active in screen.active_bindings.values():
            binding, can = active.binding, active.enabled
            own = active.node in (screen, self) and binding.tooltip
            if own and binding.description not in names:
                names.add(binding.description)
                by_key = partial(self.simulate_key, binding.key)
                run = partial(self.run_action, binding.action, active.node) if can else by_key
                also = getattr(screen, "SYNONYMS", {}).get(binding.id, "")
                yield PaletteCommand(
                    binding.description, binding.tooltip, run, self.get_key_display(binding), also, can
                )
        yield from getattr(screen, "keyless", tuple)()
        for title, help, callback, _ in self.get_system_commands(screen):
            if title not in (*names, "Keys"):  # "Keys" is Textual's panel; the help lists the keys
                also = "colors colours color dark light contrast night" if title == "Theme" else ""
                yield PaletteCommand(title, help, callback, also=also)


def _import_bench() -> None:
    """Import the bench. The loading screen calls it in its thread."""
    from workbench.tui.bench import screen  # noqa: F401
