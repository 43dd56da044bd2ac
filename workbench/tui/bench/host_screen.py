"""The operations that actions ask of the bench (`Host`), as a screen performs them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal, ParamSpec, TypeVar

from textual.screen import Screen
from textual.worker import Worker

from workbench.bench import Bench
from workbench.compaction.settings import Setting
from workbench.session import Span
from workbench.tokens import Counter
from workbench.tui.bench import counting, finding, panes
from workbench.tui.bench.host import Cursor
from workbench.tui.bench.store import BenchView, Store
from workbench.tui.middle.pager import Pager
from workbench.tui.middle.tabs import TABS
from workbench.tui.widgets.find_bar import FindBar
from workbench.tui.widgets.policy_form import PolicyForm
from workbench.tui.widgets.rounds_list import RoundsList

T = TypeVar("T")
P = ParamSpec("P")


class HostScreen(Screen[None]):
    """Screen that is the `Host` of actions. It has the widgets of the bench, which a subclass composes."""

    def __init__(self, store: Store, counter: Counter, memory: Path | None) -> None:
        super().__init__()
        self.store, self.counter, self.memory = store, counter, memory

    @property
    def view(self) -> BenchView:
        return self.store.view

    @property
    def bench(self) -> Bench:
        return self.store.bench

    @property
    def cursor(self) -> Cursor:
        rounds = self.query_one(RoundsList)
        return Cursor(rounds.index, rounds.on_header, rounds.span)

    @property
    def on_screen(self) -> Span:
        return self.query_one(RoundsList).visible_messages()

    @property
    def text_in_view(self) -> str:
        pager = self.query_one(Pager)
        return pager.text_in_view if pager.has_focus else ""

    @property
    def focused_field(self) -> Setting | None:
        return self.query_one(PolicyForm).focused_field

    def go(self, index: int, *, header: bool = False) -> bool:
        rounds = self.query_one(RoundsList)
        rounds.go(index, header=header)
        return rounds.rows is None or rounds.rows.lists(index)

    def show_toast(self, sentence: str, *, is_warning: bool = False) -> None:
        self.notify(sentence, severity="warning" if is_warning else "information", markup=False)

    def ask(self, screen: Screen[T | None], then: Callable[[T], object] = lambda _: None) -> Awaitable[object]:
        def use_answer(answer: T | None) -> None:
            if answer is not None:
                then(answer)

        return self.app.push_screen(screen, use_answer)

    def spawn(
        self, group: str, work: Callable[P, Coroutine[None, None, None]], *args: P.args, **kwargs: P.kwargs
    ) -> None:
        begin = partial(work, *args, **kwargs)
        # Without a description Textual uses the `repr` of the work and its arguments, complete sessions included.
        _: Worker[None] = self.run_worker(
            begin, name=group, group=group, description=group, exclusive=True, exit_on_error=False
        )

    def busy(self, group: str) -> bool:
        return any(one.node is self and one.group == group and not one.is_finished for one in self.workers)

    def cancel(self, group: str) -> None:
        self.workers.cancel_group(self, group)

    def ask_line(self, job: Literal["search", "jump"], text: str = "") -> None:
        self.query_one(FindBar).ask(job, text)

    def close_line(self) -> None:
        self.query_one(FindBar).close()
        self._focus_place()

    def widen(self) -> None:
        if self.maximized is None and panes.place_of(self.view) != "middle":
            self.show_pane(self.view.tab)
        panes.widen(self)

    def leave(self) -> None:
        view = self.view
        if view.running:
            self.cancel("run")
        elif not panes.is_in_list(self):
            self.show_pane("rounds")
        elif view.finding.is_on:
            finding.clear(self)
        elif view.counting:
            counting.stop_counting(self)

    def show_pane(self, name: str) -> None:
        """Show a pane and focus it; on a narrow screen it replaces the pane shown before."""
        self.store.put(replace(self.view, tab=name if name in TABS else self.view.tab, pane=name))
        panes.show_place(self, self.view)
        self.call_after_refresh(self._focus_place)

    def _focus_place(self) -> None:
        panes.focus_place(self, self.view)
