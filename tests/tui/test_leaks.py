"""No secret of a session stands on any screen; see `tests/test_leaks.py`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from textual.screen import Screen
from textual.widget import Widget

from tests.secret_session import leaked, session
from tests.tui.app import at_rest, bench_screen, press
from tests.tui.every_screen import WAYS, drawn
from workbench.base.secrets import MASK

ASKED = ("a number", "window", "params", "preset's name", "exact")
"""Ways to the dialog that asks for a word, which `filter` leads to as well."""
MORE = ("E f7", "E escape v")
"""Previews of a prompt with messages of the session: what it makes of them, and the request as sent."""


async def test_f02_no_secret_is_drawn_on_any_screen(tmp_path: Path) -> None:
    """One epoch has the summary that the agent recorded, and every round. What lies on the way to another screen is
    looked at on that way."""
    found: dict[str, set[str]] = {}
    masked: set[str] = set()
    shown: set[str] = set()
    async with at_rest(session(tmp_path / "in", compacted=0), size=(140, 50)) as pilot:
        bench = bench_screen(pilot)

        def look(name: str) -> str:
            text = _text(pilot.app.screen)
            found[name] = leaked(text)
            masked.update([name] * (MASK in text))
            return text

        await press(pilot, "home")
        for at in range(len(bench.bench.messages) + 6):  # and rows of rounds and marks
            shown.update(re.findall(r"message \d+ of", look(f"row {at}")))
            await press(pilot, "l", "j", painted=False)
        every = {tuple(keys.split()) for keys in (*(WAYS[name] for name in WAYS if name not in ASKED), *MORE)}
        for way in every:
            if any(other != way and other[: len(way)] == way for other in every):
                continue
            for count, key in enumerate(way, 1):
                await press(pilot, key, painted=False)
                if way[:count] in every:
                    look(" ".join(way[:count]))
            while pilot.app.screen is not bench:
                await press(pilot, "escape", painted=False)
            await press(pilot, "escape", painted=False)
    assert {name: secrets for name, secrets in found.items() if secrets} == {}
    assert len(shown) == len(bench.bench.messages)
    assert masked >= {"1", "2", "3", "C space down space d d", "E f7", "E escape v", "R", "W", WAYS["play"]}


def _text(screen: Screen[Any]) -> str:
    """What each widget shows, without line ends and edges: a secret may begin in one line and end in the next."""
    seen = drawn(screen)
    widgets = (widget for widget in screen.walk_children(Widget) if not widget.children)
    return "\n".join("".join(strip.text.strip() for strip in seen.rows_of(widget)) for widget in widgets)
