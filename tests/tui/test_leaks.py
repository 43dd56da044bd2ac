"""No secret of a session stands on any screen; see `tests/test_leaks.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textual.screen import Screen

from tests.secret_session import leaked, session
from tests.tui.app import at_rest, bench_screen, press
from tests.tui.every_screen import drawn, visited
from workbench.base.secrets import MASK


async def test_f02_no_secret_is_drawn_on_any_screen(tmp_path: Path) -> None:
    found: dict[str, set[str]] = {}
    masked = 0
    async with at_rest(session(tmp_path / "in"), size=(140, 50)) as pilot:
        bench = bench_screen(pilot)
        for key in ("left_curly_bracket", "right_curly_bracket"):
            await press(pilot, key, "0", "home")
            for at in range(12):
                await press(pilot, "j")
                text = _text(bench)
                masked += MASK in text
                found[f"{key}, message {at}"] = leaked(text)
            async for name, screen in visited(pilot):
                found[f"{key}, {name}"] = leaked(_text(screen))
    assert {name: secrets for name, secrets in found.items() if secrets} == {}
    assert masked


def _text(screen: Screen[Any]) -> str:
    return "\n".join(strip.text for strip in drawn(screen).strips)
