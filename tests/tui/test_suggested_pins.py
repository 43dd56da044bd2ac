"""Suggested pins on the screen: accepted one by one or all at once, and taken back in one step."""

from __future__ import annotations

from textual.widgets import OptionList, Static

from tests.tui.app import brought, on_bench, press, session_of
from workbench.session import Message, Text
from workbench.tui.screens.suggested_pins import SuggestedPinsScreen
from workbench.tui.widgets.text_view import TextView

SAID = (
    "Please fix the parser. Answer in French.",
    "<Pin>The release is frozen until Monday.</Pin> Now run the tests.",
    "Answer in English from now on.",
    "From now on never touch the generated files. " + "Here is the whole log once more, line by line. " * 300,
)


async def test_pins_are_accepted_and_taken_back_together() -> None:
    messages = []
    for number, said in enumerate(SAID):
        messages += [Message(f"u{number}", "user", (Text(said),)), Message(f"a{number}", "assistant", (Text("Done."),))]
    async with on_bench(session_of(messages)) as (pilot, bench):
        screen = await brought(pilot, SuggestedPinsScreen, "S")
        options, said = screen.query_one(OptionList), screen.query_one("#about", Static)
        assert [pin.message for pin in screen.found] == ["u0", "u1", "u2", "u3"]
        lines = [str(options.get_option_at_index(at).prompt) for at in range(4)]
        assert "superseded by 5" in lines[0]
        assert "marked with <Pin>" in lines[1]
        assert "dear" in lines[3]
        assert "Answer in French." in screen.query_one(TextView).text

        await press(pilot, "a")
        assert screen.taken == {"u1", "u2"}  # neither the superseded nor the dear one
        tokens = sum(pin.tokens for pin in screen.found if pin.message in screen.taken)
        assert f"2 messages accepted: +{tokens} tokens" in str(said.content)
        await press(pilot, "down", "down", "space", "down", "space", "enter")
        assert bench.bench.pins == {"u1", "u3"}
        assert bench.view.said == "pinned 2 messages"
        await press(pilot, "u")
        assert not bench.bench.pins

        await press(pilot, "S", "down", "enter")  # none accepted: the marked one
        assert bench.bench.pins == {"u1"}
        await press(pilot, "S", "down", "space", "enter")  # it is pinned already: nothing to do
        assert pilot.app.screen is not bench
        await press(pilot, "escape")
        assert bench.bench.pins == {"u1"}


async def test_where_nothing_is_found_no_empty_frame_stands_below() -> None:
    chat = session_of([Message("u", "user", (Text("Why?"),)), Message("a", "assistant", (Text("So."),))])
    async with on_bench(chat) as (pilot, _):
        screen = await brought(pilot, SuggestedPinsScreen, "S")
        assert not screen.query_one(TextView).display
        assert screen.query_one(OptionList).size.width > 70
