"""The first thing on the terminal: a session being read, by bytes, until the bench is ready or the load is given up."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import Screen
from textual.widgets import ProgressBar, Static
from textual.worker import Worker, get_current_worker

if TYPE_CHECKING:
    from workbench.bench import Bench
    from workbench.session import Session
    from workbench.tokens import Counter
    from workbench.tui.rows import Groups


class Abandoned(Exception):
    """Raised by the progress callback to end a load that nobody waits for any more."""


class LoadingScreen(Screen[None]):
    """Loads in a thread and gives way to the bench. `epoch`, `preset`, `window` are for `open_bench`."""

    CSS = """
    LoadingScreen { align: center middle; }
    LoadingScreen > Vertical { width: 64; max-width: 90%; height: auto; }
    LoadingScreen ProgressBar { width: 100%; }
    LoadingScreen ProgressBar Bar { width: 1fr; }
    LoadingScreen .dim { color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "abandon", "Cancel", id="loading.cancel", tooltip="Give up loading and leave."),
    ]

    @dataclass
    class Progress(Message):
        done: int
        total: int

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, LoadingScreen.Progress)

    @dataclass
    class Ready(Message):
        bench: Bench
        counter: Counter
        groups: Groups

    @dataclass
    class Refused(Message):
        sentence: str

    def __init__(self, source: Path | Session, *, epoch: int | None, preset: str | None, window: int | None) -> None:
        super().__init__()
        self.source = source
        self.epoch = epoch
        self.preset = preset
        self.window = window

    def compose(self) -> ComposeResult:
        name = self.source.name if isinstance(self.source, Path) else "session"
        with Vertical():
            yield Static(Text(f"Opening {name}", no_wrap=True, overflow="ellipsis"))
            yield ProgressBar(total=None, show_eta=False)
            yield Static(Text("esc gives up"), classes="dim")

    def on_mount(self) -> None:
        # The bar is on the terminal before the rooms are imported, which takes longer than a small file.
        self.call_after_refresh(self.load)

    @work(thread=True, exclusive=True, group="load", exit_on_error=False)
    def load(self) -> None:
        worker = get_current_worker()

        def progress(done: int, total: int) -> None:
            if worker.is_cancelled:
                raise Abandoned
            self.post_message(self.Progress(done, total))

        from workbench.errors import BadInput

        try:
            ready = open_on_bench(self.source, self.epoch, self.preset, self.window, progress)
        except Abandoned:
            return
        except BadInput as refused:
            self.post_message(self.Refused(str(refused)))
            return
        if not worker.is_cancelled:
            self.post_message(ready)

    @on(Progress)
    def _progress(self, event: Progress) -> None:
        self.query_one(ProgressBar).update(total=event.total, progress=event.done)

    @on(Ready)
    def _ready(self, event: Ready) -> None:
        from workbench.tui.screens.bench import BenchScreen

        self.app.switch_screen(BenchScreen(event.bench, event.counter, event.groups))

    @on(Refused)
    def _refused(self, event: Refused) -> None:
        from workbench.tui.screens.refusal import RefusalScreen

        self.app.push_screen(RefusalScreen(event.sentence), lambda _: self.app.exit(return_code=2))

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        from workbench.tui.failures import failure_of

        if failure := failure_of(event):
            self.post_message(self.Refused(failure))

    def action_abandon(self) -> None:
        self.workers.cancel_group(self, "load")
        self.app.exit()


def open_on_bench(
    source: Path | Session, epoch: int | None, preset: str | None, window: int | None, progress: Any
) -> LoadingScreen.Ready:
    """Load, and make everything the first drawing needs, here and not where the screen is drawn. Raises BadInput."""
    import workbench.tui.screens.bench  # here, in the thread, for the screen that follows  # noqa: F401
    from workbench.bench import open_bench
    from workbench.formats.files import load
    from workbench.tokens import CountCache, Counter, default_path
    from workbench.tui.rows import Groups

    session = load(source, progress) if isinstance(source, Path) else source
    counter = Counter(CountCache(default_path()))
    chosen = {} if preset is None else {"preset": preset}
    bench = open_bench(session, counter, epoch=epoch, window=window, **chosen)
    bench.context.outcome_size(bench.plan.outcome)
    return LoadingScreen.Ready(bench, counter, Groups(bench.layout))
