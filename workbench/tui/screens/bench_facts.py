"""The bench's ways to what its outcome loses, and to what is worth pinning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.binding import Binding, BindingType
from textual.screen import Screen

from workbench.bench import Bench
from workbench.tui.history import History
from workbench.tui.plain import figure

if TYPE_CHECKING:
    from workbench.tui.screens.retention import Ended

KEYS = (
    ("X", "retention", "Lost", "Which facts of the head are still held, what is lost, and pins for it."),
    ("S", "suggested_pins", "Suggested pins", "What the user said for good, to be pinned one by one or all at once."),
)
"""Key, action, name and help."""

BINDINGS: list[BindingType] = [
    Binding(key, action, name, show=False, tooltip=tooltip, id=f"bench.{action.replace('_', '-')}")
    for key, action, name, tooltip in KEYS
]


class Minding(Screen[None]):
    """Mixed into the bench; `bench`, `history`, `step`, `_travel` and `_jump` are the bench's."""

    history: History

    if TYPE_CHECKING:

        @property
        def bench(self) -> Bench: ...
        def step(self, make: Callable[[], Bench], key: str = "", said: str = "") -> None: ...
        def show_tab(self, name: str) -> None: ...
        async def _travel(self, history: History) -> None: ...
        def _jump(self, text: str) -> bool: ...

    def why_not(self, action: str, parameters: tuple[object, ...] = ()) -> str:
        """Why there is nothing to look for, "" where there is."""
        if action in ("retention", "suggested_pins") and not self.bench.messages:
            return "This epoch holds no messages: there is nothing to lose."
        return str(super().why_not(action, parameters))  # type: ignore[misc]  # the next mixin's

    def action_retention(self) -> None:
        from workbench.tui.screens.retention import RetentionScreen

        self.app.push_screen(RetentionScreen(self.history), self._left)

    async def _left(self, ended: Ended | None) -> None:
        if ended is None:
            return
        if ended.history is not None:
            # Counting went on meanwhile: the steps taken there get the figures that are known here.
            await self._travel(ended.history.relaid(self.bench.epoch, self.bench.layout))
        if ended.index is not None and self._jump(str(ended.index + 1)):
            self.show_tab("message")

    def action_suggested_pins(self) -> None:
        from workbench.tui.screens.suggested_pins import SuggestedPinsScreen

        self.app.push_screen(SuggestedPinsScreen(self.bench), self._accepted_pins)

    def _accepted_pins(self, ids: tuple[str, ...] | None) -> None:
        if ids:
            many = f"pinned {figure(len(ids))} message{'s' * (len(ids) != 1)}"
            pins = self.bench.pins | frozenset(ids)
            self.step(lambda: replace(self.bench, pins=pins, result=None), said=many)
