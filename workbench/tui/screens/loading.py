"""Screen with a progress bar while a session is loaded; the first one on the terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.reactive import reactive
from textual.screen import Screen
from textual.widgets import ProgressBar, Static
from textual.worker import Worker, get_current_worker

from workbench.base import paths
from workbench.session import EpochChoice
from workbench.tui.background import WorkCancelled, failure_of, in_steps
from workbench.tui.keys import HELP_KEY, shared
from workbench.tui.plain import percent

if TYPE_CHECKING:
    from workbench.bench import Bench
    from workbench.bench.saved_work import SavedWork
    from workbench.finding.following import Mark
    from workbench.formats.format import Part, Progress
    from workbench.session import Session
    from workbench.tokens import Counter
    from workbench.tui.rows import Groups


@dataclass(frozen=True, slots=True)
class Opening:
    """A session to open. `epoch`, `preset` and `window` are for `open_bench`; `usual_window` is for an unknown model.

    `carry` is work to put on the bench; without it the work saved in the folder `memory`, unless `fresh`. `part` is the
    session's id in a file with several; without it the user is asked. `follow`: the bench follows the file. `watched`
    are sentences to watch.
    """

    source: Path | Session
    epoch: EpochChoice = None
    preset: str | None = None
    window: int | None = None
    usual_window: int | None = None
    memory: Path | None = None
    fresh: bool = False
    carry: SavedWork | None = None
    part: str = ""
    follow: bool = False
    watched: tuple[str, ...] = ()


READ, LAID_OUT, SCALE = 0.6, 0.95, 1_000
"""Share of the work that is done once the session is read, and once it is laid out (measured on 98 MB); drawing the
list is the rest. The bar counts to `SCALE`."""


class PercentLabel(Static):
    """The progress in percent."""

    share: reactive[float | None] = reactive(None)

    def render(self) -> str:
        return "" if self.share is None else percent(self.share)


class LoadingBar(ProgressBar):
    """Progress bar with a `PercentLabel` instead of its own percentage."""

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield PercentLabel().data_bind(share=ProgressBar.percentage)


class LoadingScreen(Screen[None]):
    """Loads a session in a thread, and then posts `Ready` for the application, which shows the bench. When loading is
    cancelled or fails, the screen below returns."""

    HELP = """\
The session is read, then its messages are listed. The bar shows how much of this is done. Nothing is changed or sent; \
you can cancel without losing anything."""
    BINDINGS: ClassVar[list[BindingType]] = [
        shared("close", "abandon", "Cancel", "Cancel loading."),
        HELP_KEY,
    ]

    @dataclass
    class Progress(Message):
        done: int
        total: int

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, LoadingScreen.Progress)

    @dataclass
    class Ready(Message):
        """All that the application needs to show the bench."""

        opening: Opening
        bench: Bench
        counter: Counter
        groups: Groups
        mark: Mark | None = None
        note: str = ""

    @dataclass
    class Several(Message):
        """The file holds several sessions, and `Opening.part` names none of them."""

        path: Path
        parts: tuple[Part, ...]

    @dataclass
    class LoadFailed(Message):
        sentence: str

    def __init__(self, opening: Opening, prepare: Callable[[], None]) -> None:
        """`prepare` imports the bench's screen; it is called in the thread that loads."""
        super().__init__()
        self.opening = opening
        self.prepare = prepare

    def compose(self) -> ComposeResult:
        source = self.opening.source
        name = source.name if isinstance(source, Path) else "session"
        with Vertical():
            yield Static(Text(f"Opening {name}", no_wrap=True, overflow="ellipsis"))
            yield LoadingBar(total=None, show_percentage=False, show_eta=False)
            yield Static(Text("esc cancels"), classes="dim")

    def on_mount(self) -> None:
        # Draws the bar before the packages are imported, which takes longer than reading a small file.
        self.call_after_refresh(self.load)

    @work(thread=True, exclusive=True, group="load", exit_on_error=False)
    def load(self) -> None:
        worker = get_current_worker()
        drawn = in_steps(lambda done, total: self.post_message(self.Progress(done, total)))

        def progress(done: int, total: int) -> None:
            if worker.is_cancelled:
                raise WorkCancelled
            drawn(done, total)

        from workbench.base.errors import BadInput
        from workbench.formats.files import gc_paused, parts_of

        opening = self.opening
        try:
            if isinstance(opening.source, Path) and not opening.part and len(parts := parts_of(opening.source)) > 1:
                self.post_message(self.Several(opening.source, parts))
                return
            with gc_paused():
                ready = open_on_bench(opening, progress, self.prepare)
        except WorkCancelled:
            return
        except BadInput as refused:
            self.post_message(self.LoadFailed(str(refused)))
            return
        if not worker.is_cancelled:
            self.post_message(ready)

    @on(Progress)
    def _progress(self, event: Progress) -> None:
        self.query_one(ProgressBar).update(total=event.total, progress=event.done)

    @on(Several)
    def _several(self, event: Several) -> None:
        from workbench.tui.screens.sessions import SessionsScreen
        from workbench.tui.session_entries import part_entries

        sessions = SessionsScreen(file=event.path, parts=part_entries(event.path, event.parts))
        self.app.push_screen(sessions, self._take_part)

    def _take_part(self, part: str | None) -> None:
        if part is None:
            self._return_below()
        else:
            self.opening = replace(self.opening, part=part)
            self.load()

    @on(LoadFailed)
    def _load_failed(self, event: LoadFailed) -> None:
        from workbench.tui.screens.confirm import ConfirmScreen

        def closed(another: bool | None) -> None:
            if another:
                self.dismiss()
                self.app.call_later(self.app.run_action, "sessions")
            else:
                self._return_below(return_code=2)

        yes = "Open another" if self._is_first else ""
        self.app.push_screen(ConfirmScreen(f"✘ {event.sentence}", yes=yes), closed)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self.post_message(self.LoadFailed(failure))

    def action_abandon(self) -> None:
        self.workers.cancel_group(self, "load")
        self._return_below()

    def _return_below(self, return_code: int = 0) -> None:
        """Return to the screen below, or exit with `return_code` if that is only the blank one of the start."""
        is_first = self._is_first
        self.dismiss()
        if is_first:
            self.app.exit(return_code=return_code)

    @property
    def _is_first(self) -> bool:
        return len(self.app.screen_stack) == 2


def open_on_bench(opening: Opening, progress: Progress, prepare: Callable[[], None]) -> LoadingScreen.Ready:
    """Load a session and return what the bench needs to be drawn. The plan is made later, when the list is drawn.
    Raises BadInput, and whatever `progress` raises."""
    from workbench.finding.following import file_mark

    source = opening.source
    mark = file_mark(source) if isinstance(source, Path) else None
    session = _first_read(opening, lambda done, total: progress(round(READ * SCALE * done / max(total, 1)), SCALE))
    prepare()  # after the bytes of the file are released
    from workbench.analysis.rule_file_states import sentences_to_watch
    from workbench.bench import open_bench, with_limit, with_saved_scale, with_watched_rules
    from workbench.tokens import CountCache, Counter, weights
    from workbench.tokens.window import Window
    from workbench.tui.rows import Groups

    counter = Counter(CountCache(paths.token_counts()))
    weights.recall(session, counter)
    chosen = {} if opening.preset is None else {"preset": opening.preset}
    bench = open_bench(session, counter, epoch=opening.epoch, window=opening.window, **chosen)
    if bench.window is None and opening.usual_window:
        bench = with_limit(bench, Window(opening.usual_window, "settings"))
    watched = sentences_to_watch(opening.watched, session)
    bench, note = _with_earlier_work(opening, with_watched_rules(with_saved_scale(bench), watched), counter)
    progress(round(LAID_OUT * SCALE), SCALE)
    return LoadingScreen.Ready(opening, bench, counter, Groups(bench.layout), mark, note)


def _first_read(opening: Opening, progress: Progress) -> Session:
    """Return the session. Only the end of a large file is read, unless an option or saved work needs the complete
    session."""
    from workbench.bench.saved_work import has_saved_work
    from workbench.formats.files import load, load_newest

    source = opening.source
    if not isinstance(source, Path):
        return source
    choices = (opening.epoch, opening.preset, opening.part, opening.carry, opening.follow)
    session = load(source, progress, opening.part) if any(choices) else load_newest(source, progress)
    worked_on = opening.memory and not opening.fresh and has_saved_work(session, opening.memory / "sessions")
    return load(source, progress) if session.begins_at and worked_on else session


def _with_earlier_work(opening: Opening, bench: Bench, counter: Counter) -> tuple[Bench, str]:
    """Return the bench with the saved work restored, and a note for the user ("" for none). An epoch and preset in
    `opening` take precedence over the saved ones."""
    from workbench.base.errors import BadInput
    from workbench.bench.saved_work import load_work, restore_work

    work = opening.carry
    if work is None and opening.memory and not opening.fresh:
        try:
            work = load_work(bench.session, opening.memory / "sessions")
        except BadInput as lost:
            return bench, str(lost)
    if work is None:
        return bench, ""
    if opening.epoch is not None:
        work = work.model_copy(update={"epoch": None})
    carried = restore_work(work, bench, counter, keep_policy=opening.preset is not None)
    return carried.bench, carried.note
