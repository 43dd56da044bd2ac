"""Actions of the bench, and the operations of the screen that they may call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, Literal, ParamSpec, Protocol, TypeVar

from msgspec import Struct
from textual.app import App
from textual.screen import Screen

from workbench.base.errors import BadInput
from workbench.bench import Bench
from workbench.compaction.settings import Setting
from workbench.session import Span
from workbench.tokens import Counter
from workbench.tui.bench.store import BenchView, Store

T = TypeVar("T")
P = ParamSpec("P")


class Cursor(Struct, frozen=True):
    """Place of the cursor: on a message, or on the header of a round and its first message. `span` are the messages
    that it covers."""

    index: int
    on_header: bool
    span: Span


class Host(Protocol):
    """Operations of the screen that an action may call; everything that is drawn is in the store."""

    store: Store
    counter: Counter
    memory: Path | None
    """Folder of saved work; None saves nothing."""

    @property
    def app(self) -> App[Any]: ...
    @property
    def is_active(self) -> bool:
        """True if no other screen is in front of the bench."""

    @property
    def cursor(self) -> Cursor: ...
    @property
    def focused_field(self) -> Setting | None:
        """Setting that has the focus."""

    @property
    def on_screen(self) -> Span:
        """Messages whose rounds are on the screen."""

    @property
    def text_in_view(self) -> str:
        """Text that the middle shows now, on one line; "" if it does not have the focus."""

    def go(self, index: int, *, header: bool = False) -> bool:
        """Put the cursor on a message, or on its round's header; True if the message is listed."""

    def show_toast(self, sentence: str, *, is_warning: bool = False) -> None:
        """Show a toast; `is_warning` if it says why something is not done."""

    def ask(self, screen: Screen[T | None], then: Callable[[T], object] = ...) -> Awaitable[object]:
        """Push a screen; `then` gets its result unless that is None. Once awaited, the screen has the keys."""

    def spawn(
        self, group: str, work: Callable[P, Coroutine[None, None, None]], *args: P.args, **kwargs: P.kwargs
    ) -> None:
        """Run work concurrently; it replaces other work of its group."""

    def busy(self, group: str) -> bool: ...
    def cancel(self, group: str) -> None: ...
    def call_later(self, callback: Callable[..., Any], *args: Any) -> bool:
        """Call back on the screen's event loop; may be called from a thread."""

    def show_pane(self, name: str) -> None:
        """Go to a pane."""

    def widen(self) -> None:
        """Give the middle the complete screen, or its own place again."""

    def leave(self) -> None:
        """Cancel running work, or go back to the list."""

    def ask_line(self, job: Literal["search", "jump"], text: str = "") -> None:
        """Open the line below the panes for typing."""

    def close_line(self) -> None:
        """Close the line and return to the list."""


class Action(Struct, frozen=True):
    """Action of the bench. `key` is "" if only palette and settings offer it; `why_not` returns a sentence while it is
    off."""

    id: str
    key: str
    name: str
    help: str
    run: Callable[[Host], Awaitable[object] | None]
    why_not: Callable[[BenchView], str] = lambda view: ""


def take_step(host: Host, make: Callable[[Bench], Bench], key: str = "", note: str = "") -> None:
    """Replace the bench by the result of `make`, as a step for undo; BadInput is shown and changes nothing."""
    try:
        bench = make(host.store.bench)
    except BadInput as refused:
        host.show_toast(str(refused), is_warning=True)
        return
    if bench is not host.store.bench:
        host.cancel("run")
        host.store.step(bench, key, note)
