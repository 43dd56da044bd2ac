"""Keys that arrive at once, over a slow line or from a program, each go where the one before it has led."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from textual.app import ComposeResult
from textual.events import Compose, Key, Paste
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input

from tests.tui.app import on_bench, press, settled, story
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.help import HelpScreen
from workbench.tui.screens.watch import WatchScreen
from workbench.tui.typed_ahead import TURNS
from workbench.tui.widgets.rounds_list import RoundsList


async def at_once(pilot: Pilot[Any], *keys: str) -> None:
    """What a terminal sends in one go; a text is typed letter by letter."""
    for key in keys:
        if len(key) > 1 and key.startswith("paste "):
            pilot.app.post_message(Paste(key.removeprefix("paste ")))
        else:
            pilot.app.post_message(
                Key(_character_to_key(key) if len(key) == 1 else key, key if len(key) == 1 else None)
            )
    await settled(pilot)


async def test_letters_behind_the_key_of_a_field_are_typed_into_it() -> None:
    """As keys of the list they would pin messages and begin runs."""
    async with on_bench(story()) as (pilot, screen):
        before = screen.bench
        await at_once(pilot, *"/pup retry")
        assert screen.query_one("#find-input", Input).value == "pup retry"
        assert (screen.bench, pilot.app.screen) == (before, screen)


async def test_a_search_that_is_typed_with_its_end_and_its_next_hit() -> None:
    async with on_bench(story()) as (pilot, screen):
        await press(pilot, "home")
        await at_once(pilot, *":15", "enter", "up")
        assert screen.query_one(RoundsList).index == 13


async def test_enter_that_is_the_screens_own_takes_what_is_typed_by_then() -> None:
    async with on_bench(story()) as (pilot, screen):
        await press(pilot, "W")
        assert isinstance(pilot.app.screen, WatchScreen)
        await at_once(pilot, *"Log it.", "enter", "escape", "escape")
        assert (screen.bench.watched, pilot.app.screen) == (("Log it.",), screen)


async def test_what_is_pasted_keeps_its_place_among_keys() -> None:
    async with on_bench(story()) as (pilot, screen):
        await at_once(pilot, "/", "a", "paste bc", "d")
        assert screen.query_one("#find-input", Input).value == "abcd"


@pytest.mark.parametrize("key", ["question_mark", "f1"])
async def test_keys_go_to_a_screen_that_the_one_before_them_brings(key: str) -> None:
    async with on_bench(story()) as (pilot, screen):
        before = screen.bench
        await at_once(pilot, key, "escape", "p", key)
        assert isinstance(pilot.app.screen, HelpScreen)
        assert screen.bench.pins != before.pins


async def test_a_key_that_comes_alone_does_not_wait() -> None:
    async with on_bench(story()) as (pilot, _):
        ahead = pilot.app._typed_ahead  # type: ignore[attr-defined]
        for keys, held in (
            (("J", "J", "J"), [False, True, True]),
            (("up", "up", "up"), [False, False, False]),  # one that is held down
            (("up", "down", "down", "up"), [False, True, True, True]),
            (("up", "up", "p", "up", "up"), [False, False, True, True, True]),
            (("pageup", "pageup", "paste"), [False, False, True]),
        ):
            assert [ahead.holds(Paste("") if key == "paste" else Key(key, None)) for key in keys] == held
            await settled(pilot)


class Slow(Screen[None]):
    """Composed over more turns of the loop than are waited."""

    async def _on_compose(self, event: Compose) -> None:
        for _ in range(TURNS + 2):
            await asyncio.sleep(0)
        await super()._on_compose(event)

    def compose(self) -> ComposeResult:
        yield Input()


async def test_a_screen_that_is_slow_to_come_gets_what_was_typed_behind_its_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with on_bench(story()) as (pilot, _):
        monkeypatch.setattr(WorkbenchApp, "action_explain", lambda app: app.push_screen(Slow()) and None)
        await at_once(pilot, "f1", *"abc")
        assert isinstance(pilot.app.screen, Slow)
        assert pilot.app.screen.query_one(Input).value == "abc"


async def test_what_never_comes_to_an_end_holds_the_next_key_up_for_a_while_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("workbench.tui.typed_ahead.PATIENCE_S", 0)
    monkeypatch.setattr("workbench.tui.typed_ahead.TypedAhead._is_on_its_way", lambda _: True)
    async with on_bench(story()) as (pilot, screen):
        at = screen.query_one(RoundsList).index
        await at_once(pilot, "up", "up", "up")
        assert screen.query_one(RoundsList).index == at - 3


async def test_the_order_stays_where_the_app_has_no_time_for_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.tui.typed_ahead.PATIENCE_S", 0.05)
    async with on_bench(story()) as (pilot, screen):
        free = asyncio.Event()

        async def busy(_: WorkbenchApp, event: Key) -> None:
            if event.key == "f12":
                await free.wait()

        monkeypatch.setattr(WorkbenchApp, "on_key", busy, raising=False)
        await at_once(pilot, "slash", "f12", *"abc")
        free.set()
        await settled(pilot)
        assert screen.query_one("#find-input", Input).value == "abc"
