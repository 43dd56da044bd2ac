"""How long the event loop is held up at a stretch: nothing else, not even a key, is answered in that time."""

from __future__ import annotations

import asyncio
import time
from asyncio import events
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

AT_WORK_S = 10
"""How long it is looked at what takes longer."""


class Stalls:
    """The longest stretch since the last `take`, in milliseconds of the loop's own thread: what others did meanwhile is
    not its work."""

    def __init__(self) -> None:
        self._longest = 0.0

    def add(self, seconds: float) -> None:
        self._longest = max(self._longest, 1000 * seconds)

    def take(self) -> float:
        longest, self._longest = self._longest, 0.0
        return longest


@contextmanager
def watched() -> Iterator[Stalls]:
    """Every callback of the event loop timed, for as long as this lasts."""
    stalls = Stalls()
    loop_handle: Any = events.Handle
    run: Callable[[Any], None] = loop_handle._run

    def timed(handle: Any) -> None:
        began = time.thread_time()
        run(handle)
        stalls.add(time.thread_time() - began)

    loop_handle._run = timed
    try:
        yield stalls
    finally:
        loop_handle._run = run


async def longest(file: Path, memory: Path) -> dict[str, float]:
    """Open `file`, move, search, pin, change a number, change the strategy, turn the window to another size, compare
    policies and replay them: the longest stretch of each."""
    from workbench.compaction.preset import load_preset
    from workbench.tui.app import WorkbenchApp
    from workbench.tui.bench.actions import do
    from workbench.tui.bench.policy import choose
    from workbench.tui.bench.screen import BenchScreen
    from workbench.tui.widgets.policy_sheet import PolicySheet

    presets = [load_preset(name) for name in ("progressive", "augment-example")]  # read in a thread by the screen
    app = WorkbenchApp(file, memory=memory)
    found: dict[str, float] = {}
    with watched() as stalls:
        async with app.run_test(size=(140, 40)) as pilot:

            def busy() -> bool:
                screen = app.screen
                unready = not isinstance(screen, BenchScreen) or screen.view.counting or screen.view.checks is None
                return bool(unready or any(not worker.is_finished for worker in app.workers))

            async def settled() -> None:
                await pilot.pause()
                while busy():
                    await pilot.pause(0.05)
                await pilot.pause()

            async def press(*keys: str) -> None:
                for key in keys:
                    app.simulate_key(key)
                    await asyncio.sleep(1 / 30)
                await settled()

            await settled()
            found["opening"] = stalls.take()
            screen = app.screen
            assert isinstance(screen, BenchScreen)
            await press("home", *["down"] * 40, *["pagedown"] * 10, *["K"] * 10)
            found["moving"] = stalls.take()
            await press("slash", *"error", "enter", *"nnn", "escape")
            found["searching"] = stalls.take()
            await press("down", "p", "down", "p", "u")
            found["pinning, with the work written down"] = stalls.take()
            sheet = screen.query_one(PolicySheet)
            sheet.focus()
            sheet.go(next(one.field.key for one in sheet.entries if one.field.kind == "whole"))
            await press()
            sheet.typed.value = "48000"
            await press()
            found["changing a number"] = stalls.take()
            for preset in presets:
                choose(screen, preset)
                await press()
            found["switching the strategy"] = stalls.take()
            for size in ((100, 30), (200, 60), (140, 40)):
                await pilot.resize_terminal(*size)
                await press()
            found["another size"] = stalls.take()
            for name, action in (("comparing", "compare"), ("replaying", "replay")):
                do(screen, action)
                await asyncio.sleep(AT_WORK_S)
                app.simulate_key("down")
                await asyncio.sleep(1)
                app.simulate_key("escape")
                await settled()
                found[name] = stalls.take()
            await asyncio.sleep(AT_WORK_S)
            found["at rest"] = stalls.take()
    return found
