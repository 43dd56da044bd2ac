"""Letters behind a key that leads to a line for typing are typed there, also when they arrive with it."""

from __future__ import annotations

from typing import Any

from textual.events import Key, Paste
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.app import on_bench, press, settled, story
from workbench.tui.screens.rules import RulesScreen
from workbench.tui.screens.search_lines import SearchLinesScreen
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
    """As keys of the list they would pin messages, begin runs and take a policy."""
    async with on_bench(story()) as (pilot, screen):
        before, found = screen.bench, screen.query_one("#find-input", Input)
        await at_once(pilot, *"/pup retry")
        assert (found.value, screen.bench, pilot.app.screen) == ("pup retry", before, screen)
        await press(pilot, "escape", "escape", "home", painted=False)
        await at_once(pilot, "/", "a", "paste bc", "d")
        assert found.value == "abcd", "what is pasted keeps its place among keys"
        await press(pilot, "escape", "escape", "home", painted=False)
        await at_once(pilot, *":15", "enter")
        assert screen.query_one(RoundsList).index == 14
        await press(pilot, "O", painted=False)
        await at_once(pilot, *"/abc")
        assert isinstance(pilot.app.screen, SearchLinesScreen)
        assert (pilot.app.screen.query_one(Input).value, screen.bench.policy) == ("abc", before.policy)
        await press(pilot, "escape", "escape", painted=False)
        await at_once(pilot, *"W/Log it.", "enter")
        assert isinstance(pilot.app.screen, RulesScreen)
        assert (screen.bench.watched, screen.bench.pins) == (("Log it.",), before.pins)
