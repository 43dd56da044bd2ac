"""The bench's ways to exact counts, prompts, A/B and kept runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.binding import Binding, BindingType
from textual.screen import Screen

from workbench import bench as steps
from workbench.bench import Bench
from workbench.compaction.policy import Policy
from workbench.summarizers.named import Name
from workbench.tokens import Scale
from workbench.tui.history import History

KEYS = (
    ("equals_sign", "exact", "Exact counts", "Have the provider count the context before and after, exactly."),
    ("M", "prompts", "Prompts", "Browse the prompts, see them as they are sent for this session, edit a copy."),
    ("B", "ab", "A/B", "Try two prompts or two models on the same head, side by side."),
    ("H", "runs", "Runs", "The kept runs of live compactions: look at them, compare and delete them."),
)
"""Key, action, name and help."""

BINDINGS: list[BindingType] = [
    Binding(key, action, name, show=False, tooltip=tooltip, id=f"bench.{action}") for key, action, name, tooltip in KEYS
]


class Living(Screen[None]):
    """Mixed into the bench; `bench`, `history`, `step` and `draw` are the bench's."""

    history: History

    if TYPE_CHECKING:

        @property
        def bench(self) -> Bench: ...
        def draw(self) -> None: ...
        def show_growth(self) -> object: ...
        def step(self, make: Callable[[], Bench], key: str = "", said: str = "") -> None: ...

    def action_exact(self) -> None:
        from workbench.tui.screens.exact import ExactScreen

        self.app.push_screen(ExactScreen(self.bench), self._calibrated)

    def _calibrated(self, scale: Scale | None) -> None:
        """No step of its own: what the provider counted stays true whatever is undone."""
        if scale is None:
            return
        layout, epoch = steps.recalibrated(self.bench, scale).layout, self.bench.epoch

        def fresh(bench: Bench) -> Bench:
            if bench.epoch == epoch:
                return replace(steps.relaid(bench, layout), scale=scale)
            return steps.recalibrated(bench, scale)

        self.history = self.history.everywhere(fresh)
        self.draw()
        self.show_growth()

    def action_prompts(self) -> None:
        from workbench.tui.screens.prompts import PromptsScreen

        self.app.push_screen(PromptsScreen(self.bench), self._prompted)

    def _prompted(self, policy: Policy | None) -> None:
        if policy is not None:
            self.step(lambda: steps.set_policy(self.bench, policy), said="another prompt")

    def action_ab(self) -> None:
        from workbench.tui.screens.ab import AbScreen

        self.app.push_screen(AbScreen(self.bench), self._prompted)

    def action_runs(self) -> None:
        from workbench.tui.screens.runs import RunsScreen

        self.app.push_screen(RunsScreen(self.bench), self._replayed)

    def _replayed(self, name: Name | None) -> None:
        if name is not None:
            said = f"{name} writes the summary now: R, then enter, plays it again"
            self.step(lambda: steps.summarized_by(self.bench, str(name)), said=said)
