"""A bench without a screen: what an action asks for is done at once, or kept until the test looks at it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from workbench.bench import Bench, open_bench
from workbench.session import Session, Span
from workbench.tokens import Counter
from workbench.tui.bench import finding, planning
from workbench.tui.bench.actions import ACTIONS
from workbench.tui.bench.host import Cursor
from workbench.tui.bench.store import BenchView, Store, first_view
from workbench.tui.rows import Groups


class Desk:
    """Stands where the screen stands. `toasts` are notes, `asked` the screens with what becomes of their answer, `work`
    what was spawned and not yet done, by group."""

    def __init__(self, session: Session, counter: Counter | None = None, **how: Any) -> None:
        self.counter = counter or Counter()
        bench = open_bench(session, self.counter, **how)
        planning.plan_and_measure(bench)
        self.store = Store(first_view(bench, Groups(bench.layout)))
        self.at = (0, False)
        self.is_active, self.focused_field = True, None
        self.memory: Path | None = None
        self.toasts: list[str] = []
        self.asked: list[tuple[Any, Callable[[Any], object]]] = []
        self.typed: list[tuple[str, str]] = []
        self.work: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {}
        self.sent: list[Any] = []
        self.app: Any = SimpleNamespace(
            app_focus=True, copy_to_clipboard=self.sent.append, post_message=self.sent.append
        )
        self.store.subscribe(partial(planning.plan_present, self))
        self.store.subscribe(partial(finding.search_again, self))

    @property
    def view(self) -> BenchView:
        return self.store.view

    @property
    def bench(self) -> Bench:
        return self.store.bench

    def do(self, *actions: str) -> None:
        """Press the keys of actions; one that cannot be done now says why. Nothing waits in between."""
        for action in map(ACTIONS.__getitem__, actions):
            if why := action.why_not(self.view):
                self.toasts.append(why)
            else:
                action.run(self)

    def rest(self) -> None:
        """Do what was spawned, and what that spawns."""
        while self.work:
            asyncio.run(self.work[group := next(iter(self.work))]())
            self.work.pop(group, None)

    @property
    def cursor(self) -> Cursor:
        index, header = self.at
        span = self.view.groups.spans[self.view.groups.group_of(index)] if header else Span(index, index + 1)
        return Cursor(index, header, span)

    @property
    def on_screen(self) -> Span:
        return Span(0, 0)

    @property
    def text_in_view(self) -> str:
        return ""

    def go(self, index: int, *, header: bool = False) -> bool:
        self.at = (index, header)
        made = self.view.finding.arrangement
        return made is None or index in made.members

    def show_toast(self, sentence: str, *, is_warning: bool = False) -> None:
        self.toasts.append(sentence)

    def ask(self, screen: Any, then: Callable[[Any], object] = lambda _: None) -> None:
        self.asked.append((screen, then))

    def spawn(self, group: str, work: Callable[..., Coroutine[Any, Any, None]], *given: Any, **named: Any) -> None:
        self.work[group] = partial(work, *given, **named)

    def busy(self, group: str) -> bool:
        return group in self.work

    def cancel(self, group: str) -> None:
        self.work.pop(group, None)

    def call_later(self, callback: Callable[..., Any], *args: Any) -> bool:
        callback(*args)
        return True

    def show_pane(self, name: str) -> None: ...
    def widen(self) -> None: ...
    def leave(self) -> None: ...
    def close_line(self) -> None: ...
    def ask_line(self, asked: str, text: str = "") -> None:
        self.typed.append((asked, text))
