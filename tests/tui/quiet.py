"""When the application has nothing left to do: told by its event loop, not by a clock.

Textual's own pilot takes a process that used little of its core lately for one that is done. On a busy machine it may
only not have had its turn; on an idle one every key waits several times for nothing.
"""

from __future__ import annotations

import asyncio
from typing import Any

from textual._context import active_app
from textual.app import App
from textual.screen import Screen


async def quiet(*_: object) -> bool:
    """Wait until no task can go on, every screen is laid out and painted, and what waited for that was called.

    What threads and timers do later is not waited for: `settled` waits for workers.
    """
    app, loop = active_app.get(), asyncio.get_running_loop()
    while True:
        await asyncio.sleep(0)
        if not _ready(loop):
            if app._exit or not _beat(app):
                return True
            if app._batch_count:
                await breath()


_PAINT = Screen._compositor_refresh


def paint_later(screen: Screen[Any]) -> None:
    """In the place of Textual's own painting after every change, a fifth of what a screen's test costs, and which no
    terminal sees: what is dirty stays so until `paint`. Screens behind the front one are but marked, as ever."""
    if screen is screen.app.screen:
        screen._dirty_widgets.clear()
        screen.app._update_mouse_over(screen)
    else:
        _PAINT(screen)


def paint(app: App[Any]) -> bool:
    """Paint what has changed since; whether anything had."""
    if app._exit or not app.screen_stack or not app.screen._compositor._dirty_regions:
        return False
    _PAINT(app.screen)
    return True


async def breath() -> None:
    """Let threads, servers and timers go on."""
    await asyncio.sleep(0.001)


def _ready(loop: Any) -> bool:
    """Whether a task can go on, other than the one that asks."""
    return bool(loop._ready)


def _beat(app: App[Any]) -> bool:
    """Give at once what Textual gives at the next sixtieth of a second; False where nobody waits for it."""
    if app._resize_timer:
        app._check_resize()
        return True
    due = [screen for screen in app.screen_stack if screen.is_running and screen._update_timer._active.is_set()]
    for screen in due:
        screen._on_timer_update()
    return bool(due or app._batch_count)
