"""Facts kept by the compaction on the bench, in four tabs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import ContentSwitcher, Static, Tab, Tabs

from workbench.tui.keys import HELP_KEY, shared
from workbench.tui.plain import titled
from workbench.tui.retention.facts import FactsPane, has_recorded_compaction
from workbench.tui.retention.generations import GenerationsPane
from workbench.tui.retention.pane import RetentionPane, RetentionState
from workbench.tui.retention.questions import QuestionsPane
from workbench.tui.retention.rework import ReworkPane
from workbench.tui.undo import UndoHistory
from workbench.tui.widgets.cut_tabs import CutTabs
from workbench.tui.widgets.keys_line import KeysLine

BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-narrow"), (110, "-wide"), (170, "-huge")]
"""Columns from which a list and its text, and a list and its table, are next to each other."""

PANES: dict[str, type[RetentionPane]] = {
    "facts": FactsPane,
    "questions": QuestionsPane,
    "generations": GenerationsPane,
    "rework": ReworkPane,
}


@dataclass(frozen=True)
class RetentionResult:
    """Result of the screen: the bench's history if steps were taken here, and the id of the message to go to."""

    history: UndoHistory | None
    message: str | None = None


def _tab_keys() -> Iterator[BindingType]:
    for number, (name, pane) in enumerate(PANES.items(), 1):
        yield shared(f"tab.{number}", f"tab('{name}')", pane.TITLE, f"Show {pane.TITLE}.", show=False)


class RetentionScreen(ModalScreen[RetentionResult | None]):
    HELP = """\
What the compaction keeps, in four tabs (1 to 4): facts of the replaced messages; questions that are still answered; \
what several compactions in a row leave; and rework: work repeated after a recorded compaction. A preview \
is judged by an offline run with extractive summaries: sentences of the session itself, chosen without a model. The \
tail is the newest messages, which are kept unchanged."""
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    BINDINGS: ClassVar[list[BindingType]] = [
        shared("pin", "pin", "Pin", "Pin the message under the cursor, or unpin it."),
        shared("watch", "watch", "Watch", "Watch the sentence at hand, or stop watching it."),
        shared("undo", "undo", "Undo", "Take back the last pin that was set here."),
        Binding(
            "t", "recorded", "Recorded", id="kept.recorded", tooltip="The agent's recorded compaction, or the bench's."
        ),
        *_tab_keys(),
        shared("close", "leave", "Close", "Cancel the questions to a model, or go back."),
        HELP_KEY,
    ]

    def __init__(self, state: RetentionState, tab: str = "facts") -> None:
        super().__init__()
        self.state = state
        self.tab = tab

    @property
    def pane(self) -> RetentionPane:
        return self.query_one(f"#{self.tab}", RetentionPane)

    def compose(self) -> ComposeResult:
        with Vertical():
            with Horizontal(id="top"):
                yield Static(titled("Kept", ""), id="title")
                yield CutTabs(
                    *(Tab(f"{at} {pane.TITLE}", id=f"tab-{name}") for at, (name, pane) in enumerate(PANES.items(), 1)),
                    active=f"tab-{self.tab}",
                )
            yield ContentSwitcher(initial=None)
            yield KeysLine()

    async def on_mount(self) -> None:
        await self.action_tab(self.tab)

    @on(Tabs.TabActivated)
    async def _clicked(self, event: Tabs.TabActivated) -> None:
        name = event.tabs.active.removeprefix("tab-")
        if name != self.tab:  # after a key the tab is set already
            await self.action_tab(name)

    async def action_tab(self, name: str) -> None:
        """Show a tab, made when it is shown for the first time."""
        switcher = self.query_one(ContentSwitcher)
        if switcher.current == name:
            return
        self.tab = name
        self.query_one(Tabs).active = f"tab-{name}"
        if not switcher.query(f"#{name}"):
            await switcher.add_content(PANES[name](self.state, id=name))
        switcher.current = name
        pane = self.pane
        pane.query(".lines").first().focus()
        pane.show()
        self.refresh_bindings()

    # --- doing ------------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide actions that the tab does not have, and grey those that are off now."""
        if action in ("pin", "watch") and self.tab not in ("facts", "questions"):
            return False
        if action == "recorded" and (self.tab != "facts" or not has_recorded_compaction(self.state.bench)):
            return False if self.tab != "facts" else None
        return None if action == "undo" and not self.state.is_changed else True

    def action_pin(self) -> None:
        if self.pane.pin():
            self._again()

    def action_undo(self) -> None:
        if self.state.is_changed:
            self.state.undo()
            self._again()

    def action_recorded(self) -> None:
        self.state.is_recorded, self.state.status = not self.state.is_recorded, ""
        self._again()

    def _again(self) -> None:
        self.pane.show()
        self.refresh_bindings()

    def action_watch(self) -> None:
        self.pane.watch_sentence()

    @on(RetentionPane.GoToMessage)
    def _go_to_message(self, event: RetentionPane.GoToMessage) -> None:
        self.leave(event.message)

    def action_leave(self) -> None:
        if not self.pane.cancel():
            self.leave(None)

    def leave(self, message: str | None) -> None:
        self.dismiss(RetentionResult(self.state.history if self.state.is_changed else None, message))
