"""The bench's ways to why the context overflowed and to what other policies would have done; and back to a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.worker import Worker

from workbench.bench import Bench
from workbench.compaction.preset import Preset
from workbench.tokens import Counter
from workbench.tui.plain import figure
from workbench.tui.widgets.rounds_list import RoundsList

KEYS = (
    ("O", "why", "Why", "Why the context overflowed: its growth, who filled it, what would have helped."),
    (
        "A",
        "replay",
        "Replay",
        "Play the session again under many policies: when each compacts, at what cost.",
    ),
)
"""Key, action, name and help."""

BINDINGS: list[BindingType] = [
    Binding(key, action, name, show=action == "why", tooltip=tooltip, id=f"bench.{action}")
    for key, action, name, tooltip in KEYS
]


class Explaining(Screen[None]):
    """Mixed into the bench; `bench`, `counter`, `choose`, `explain` and the rest are the bench's."""

    if TYPE_CHECKING:
        counter: Counter

        @property
        def bench(self) -> Bench: ...
        def choose(self, preset: Preset) -> None: ...
        def explain(self, sentence: str) -> None: ...
        def show_pane(self, name: str) -> None: ...
        def show_tab(self, name: str) -> None: ...
        def action_epoch(self, by: int) -> Worker[None]: ...

    def action_why(self) -> None:
        from workbench.tui.screens.why import WhyScreen

        def chosen(message: str | None) -> None:
            if message is not None:
                self.go_to(message)

        self.app.push_screen(WhyScreen(self.bench, self.counter), chosen)

    def action_replay(self) -> None:
        from workbench.tui.screens.replay import ReplayScreen

        def chosen(wanted: str | Preset | None) -> None:
            if isinstance(wanted, Preset):
                self.choose(wanted)
            elif wanted is not None:
                self.go_to(wanted)

        self.app.push_screen(ReplayScreen(self.bench, self.counter), chosen)

    @work(exclusive=True, group="jump", exit_on_error=False)
    async def go_to(self, message: str) -> None:
        """Put the cursor on a message, in the epoch nearest to this one that holds it."""
        if message not in self.bench.layout.shape.index_of:
            epoch = _epoch_of(self.bench, message)
            if epoch is None:
                self.explain("That message is part of no context: it cannot be shown on the bench.")
                return
            await self.action_epoch(epoch - self.bench.epoch).wait()
        index = self.bench.layout.shape.index_of[message]
        rounds = self.query_one(RoundsList)
        self.show_tab("message")
        self.show_pane("rounds")
        rounds.go(index)
        if rounds.rows and not rounds.rows.lists(index):
            self.explain(f"Message {figure(index + 1)} is hidden by the filter; f shows all.")


def _epoch_of(bench: Bench, message: str) -> int | None:
    """The epoch that holds the message, the nearest one to the bench's."""
    session = bench.session
    places = {place for place, one in enumerate(session.messages) if one.id == message}
    holding = [epoch.number for epoch in session.epochs if not places.isdisjoint(epoch.members)]
    return min(holding, key=lambda number: abs(number - bench.epoch), default=None)
