"""What the screen looks like: at three sizes, in two themes, with hostile text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.app import app_of, press, session_of, settled, story
from workbench.session import Message, Text, ToolResult, ToolUse

SMALL, MEDIUM, LARGE = (80, 24), (120, 40), (200, 60)

Compare = Callable[..., bool]


def keys(*pressed: str) -> Callable[[Pilot[None]], Any]:
    async def run_before(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await press(pilot, *pressed)
        for typed in pilot.app.screen.query(Input):
            typed.cursor_blink = False
        await settled(pilot)

    return run_before


@pytest.mark.parametrize("size", [SMALL, MEDIUM, LARGE], ids=["80x24", "120x40", "200x60"])
def test_bench(snap_compare: Compare, size: tuple[int, int]) -> None:
    assert snap_compare(app_of(story()), terminal_size=size, run_before=keys())


def test_bench_in_light(snap_compare: Compare) -> None:
    async def lit(pilot: Pilot[None]) -> None:
        await settled(pilot)
        pilot.app.theme = "workbench-light"
        await press(pilot, "k", "k", "p", "[")

    assert snap_compare(app_of(story()), terminal_size=MEDIUM, run_before=lit)


def test_trace_after_a_pin_and_a_split_by_hand(snap_compare: Compare) -> None:
    pressed = keys("K", "j", "j", "p", "[", "6")
    assert snap_compare(app_of(story()), terminal_size=MEDIUM, run_before=pressed)


def test_policy_on_a_small_screen(snap_compare: Compare) -> None:
    assert snap_compare(app_of(story()), terminal_size=SMALL, run_before=keys("9", "down", "down"))


def test_help(snap_compare: Compare) -> None:
    assert snap_compare(app_of(story()), terminal_size=MEDIUM, run_before=keys("?"))


def test_hostile_text(snap_compare: Compare) -> None:
    evil = "[/red] [b]x[/b] \x1b[31m \x00\x7f 👩‍👩‍👧‍👦 漢字 e\u0301 \u202eevil\u202c שלום \ud800"
    messages = [
        Message("1", "user", (Text(evil),)),
        Message("2", "assistant", (ToolUse("c", evil, {"[/k]": evil}),)),
        Message("3", "tool", (ToolResult("c", (Text(evil * 40),), is_error=True),)),
        Message("4", "assistant", (Text("ok"),)),
    ]
    session = session_of(messages, model="[/model]")
    assert snap_compare(app_of(session), terminal_size=MEDIUM, run_before=keys("g", "right", "j", "j", "j"))
