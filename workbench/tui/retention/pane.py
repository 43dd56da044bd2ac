"""A tab of the screen "Kept", and the state that all tabs share: the bench with the pins set here, and which compaction
is assessed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from textual.containers import Vertical
from textual.message import Message
from textual.worker import Worker

from workbench.bench import Bench, steps
from workbench.tokens import Counter
from workbench.tui.background import failure_of
from workbench.tui.plain import figure
from workbench.tui.rules import toggle_watched
from workbench.tui.undo import UndoHistory


@dataclass
class RetentionState:
    """State that the tabs share. `watch` watches a sentence or stops watching it and returns the watched ones; it
    raises BadInput. `status` is the last action in words. `is_recorded`: the agent's recorded compaction is assessed,
    not the bench's own."""

    history: UndoHistory
    watch: Callable[[str], tuple[str, ...]]
    counter: Counter
    status: str = ""
    is_recorded: bool = False

    def __post_init__(self) -> None:
        self.opened = self.history.present

    @property
    def bench(self) -> Bench:
        return self.history.present

    @property
    def is_changed(self) -> bool:
        return self.bench is not self.opened

    def pin(self, message: str, index: int, tokens: int = 0) -> None:
        """Pin a message, or unpin it: one step of the bench."""
        cost = f", +{figure(tokens)} tokens" if tokens else ""
        done = "unpinned" if message in self.bench.pins else f"pinned{cost}"
        self.history = self.history.then(steps.toggle_pin(self.bench, message))
        self.status = f"message {figure(index + 1)} {done}"

    def undo(self) -> None:
        self.history, self.status = self.history.undone(), "undone"


class RetentionPane(Vertical):
    """Tab of the screen. `start` computes its content for the present bench, `say` shows words above it."""

    TITLE = ""
    HELP = ""

    @dataclass
    class GoToMessage(Message):
        """Go to this message on the bench, by its id."""

        message: str

    def __init__(self, state: RetentionState, *, id: str) -> None:
        super().__init__(id=id)
        self.state = state
        self.shown_for: tuple[Bench, bool] | None = None
        """Bench and compaction that are shown; None before the tab is opened."""

    @property
    def bench(self) -> Bench:
        return self.state.bench

    def show(self) -> None:
        """Compute the content, unless it is up to date."""
        present = self.state.bench, self.state.is_recorded
        if self.shown_for is None or self.shown_for[0] is not present[0] or self.shown_for[1] != present[1]:
            self.shown_for = present
            self.start()

    def start(self) -> None:
        raise NotImplementedError

    def say(self, words: str) -> None:
        raise NotImplementedError

    def pin(self) -> bool:
        """Pin the message under the cursor; False if there is none."""
        return False

    @property
    def sentence(self) -> str:
        """Sentence under the cursor, to be watched; "" for none."""
        return ""

    def draw(self) -> None:
        """Draw the content again, with the last action."""

    def cancel(self) -> bool:
        """Cancel the calls to a model; False if there are none."""
        return False

    def watch_sentence(self) -> None:
        if self.sentence:
            self.state.status = toggle_watched(self.state.watch, self.sentence)
            self.draw()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self.say(f"✘ {failure}")
