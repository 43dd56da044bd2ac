"""Keys that arrive at once are taken one after the other, each where the one before it has led.

Textual sends each to what has the focus when it arrives. What was typed ahead over a slow line, or is sent by a
program, would go to one place: behind the key of a search its letters would be keys of the list, and pin messages.
"""

from __future__ import annotations

import asyncio
from collections import deque
from time import perf_counter

from textual.app import App
from textual.events import Key, Paste

Typed = Key | Paste

MOVES = frozenset(("up", "down", "left", "right", "pageup", "pagedown"))
"""Keys that are held down: the next of the same kind goes where the one before went, and no further."""

TURNS = 2
"""Turns of the loop in which nobody has a message to take, after which a key has led where it leads."""

PATIENCE_S = 0.5
"""How long the next key waits for that at most."""


class TypedAhead:
    """What was typed at `app` and has to wait."""

    def __init__(self, app: App[None]) -> None:
        self._app = app
        self._waiting: deque[Typed] = deque()
        self._next: Typed | None = None
        self._taken = asyncio.Event()
        self._last = ""
        """The move that was taken last, "" where that was no move."""
        self._following: asyncio.Task[None] | None = None

    def holds(self, typed: Typed) -> bool:
        """Whether it has to wait, after which it comes again; else its turn is now."""
        move = typed.key if isinstance(typed, Key) and typed.key in MOVES else ""
        others_wait = self._next is not None or bool(self._waiting)
        if typed is self._next:
            self._next = None
            self._taken.set()
        elif self._following is None:
            self._following = asyncio.create_task(self._follow(), name="typed ahead")
        elif others_wait or not move or move != self._last:
            self._waiting.append(typed)
            return True
        self._last = move
        return False

    async def _follow(self) -> None:
        """Give what waits its turn, one after the other."""
        while await self._led() and self._waiting:
            self._next = self._waiting.popleft()
            self._taken.clear()
            self._app.post_message(self._next)
            await self._taken.wait()  # the app may be at something longer
        self._following = None

    async def _led(self) -> bool:
        """When the last key has led where it leads, whether there is still an app to take another."""
        idle, until = 0, perf_counter() + PATIENCE_S
        while idle < TURNS and perf_counter() < until:
            await asyncio.sleep(0)
            idle = 0 if self._is_on_its_way() else idle + 1
        return self._app.is_running

    def _is_on_its_way(self) -> bool:
        """Whether somebody on a key's way has something to take; a screen that is about to come has."""
        app = self._app
        screen = next(reversed(app.screen_stack), None)
        if screen is None:
            return False
        focused = screen.focused
        on_the_way = (app, screen, *(focused.ancestors_with_self if focused else ()))
        return any(one.message_queue_size or one._next_callbacks for one in on_the_way)
