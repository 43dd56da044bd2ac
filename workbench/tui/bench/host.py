"""What can be done on the bench, and what doing it may ask of the screen."""

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
from workbench.tui.bench.store import Store, View

T = TypeVar("T")
P = ParamSpec("P")


class Cursor(Struct, frozen=True):
    """Where the list stands: on a message, or on the header of a round and its first message. `span` are the messages
    that it stands for."""

    index: int
    on_header: bool
    span: Span


class Host(Protocol):
    """What an action may ask of the screen; everything that is drawn it finds, and puts, in the store."""

    store: Store
    counter: Counter
    memory: Path | None
    """Where work is written down; without a folder it is not."""

    @property
    def app(self) -> App[Any]: ...
    @property
    def is_active(self) -> bool:
        """Whether no other screen stands before the bench."""

    @property
    def cursor(self) -> Cursor: ...
    @property
    def focused_field(self) -> Setting | None:
        """The field of the policy that has the focus."""

    @property
    def on_screen(self) -> Span:
        """The messages whose rounds are on the screen."""

    @property
    def text_in_view(self) -> str:
        """The text that the middle shows now, on one line; "" where it is not what is read."""

    def go(self, index: int, *, header: bool = False) -> bool:
        """Put the cursor on a message, or on its round's header; whether the message is listed."""

    def tell(self, sentence: str, *, bad: bool = False) -> None:
        """Say something for a moment; `bad`: why something is not done."""

    def ask(self, screen: Screen[T | None], then: Callable[[T], object] = ...) -> Awaitable[object]:
        """Show another screen; `then` gets what it gives, unless that is nothing. Awaited, the screen has the keys."""

    def spawn(
        self, group: str, work: Callable[P, Coroutine[None, None, None]], *given: P.args, **named: P.kwargs
    ) -> None:
        """Let work run beside the screen, in the place of all other work of its group."""

    def busy(self, group: str) -> bool: ...
    def cancel(self, group: str) -> None: ...
    def call_later(self, callback: Callable[..., Any], *args: Any) -> bool:
        """Call back where the screen is drawn; may be asked for from a thread."""

    def show_pane(self, name: str) -> None:
        """Go to a pane."""

    def widen(self) -> None:
        """Give the middle the whole screen, or its own place again."""

    def leave(self) -> None:
        """Cancel what is running, or go back to the list."""

    def ask_line(self, asked: Literal["search", "jump"], text: str = "") -> None:
        """Have a line typed below the panes."""

    def close_line(self) -> None:
        """Done with typing: back to the list."""


class Action(Struct, frozen=True):
    """Something that can be done on the bench. `key` is "" for what only palette and settings offer; `why_not`
    is a sentence while it cannot be done."""

    id: str
    key: str
    name: str
    help: str
    run: Callable[[Host], Awaitable[object] | None]
    why_not: Callable[[View], str] = lambda view: ""


def take(host: Host, make: Callable[[Bench], Bench], key: str = "", said: str = "") -> None:
    """Take a step of the bench; a refused one is explained and changes nothing."""
    try:
        bench = make(host.store.bench)
    except BadInput as refused:
        host.tell(str(refused), bad=True)
        return
    if bench is not host.store.bench:
        host.cancel("run")
        host.store.step(bench, key, said)
