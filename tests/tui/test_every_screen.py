"""What holds of every screen: its lists speak one language, nothing is cut unsaid, figures have one style."""

from __future__ import annotations

import pytest

from tests.paths import SAMPLES
from tests.tui.app import First, at_rest, story
from tests.tui.every_screen import (
    ELSEWHERE,
    LISTS,
    NOTHING_TO_CHOOSE,
    WAYS,
    crowded,
    cut,
    faint,
    figures,
    gaudy,
    kept_open,
    lacking,
    listing,
    misled,
    pale,
    repeated,
    riddles,
    screens,
    unchosen,
    uneven,
    unframed,
    unhelpful,
    unnamed,
    visited,
)
from workbench.tui.settings import Settings

CODEX = SAMPLES / "codex-two-compactions.jsonl"


async def test_lists_speak_one_language_nothing_is_cut_unsaid_and_figures_have_one_style() -> None:
    wrong, seen, lists = [], set(ELSEWHERE), []
    async with at_rest(story(), size=(80, 24)) as pilot:
        async for name, screen in visited(pilot):
            seen.add(type(screen).__name__)
            wrong += [f"{name}: {one}" for one in (*cut(screen), *figures(screen), *unframed(screen))]
            wrong += [f"{name}: {one}" for one in (*unhelpful(screen), *unnamed(screen), *uneven(screen))]
            wrong += [f"{name}: {one}" for one in (*crowded(screen), *pale(screen), *gaudy(screen))]
            wrong += [f"{name}: what is “{one}”?" for one in riddles(screen)]
            lists += [name] if listing(screen) else []
            wrong += await lacking(pilot, name)
            wrong += [f"{name}: {one}" for one in await misled(pilot)]
            wrong += [f"{name}: {one}" for one in await kept_open(pilot)]
    assert "\n".join(wrong) == ""
    assert seen == screens()
    assert lists == list(LISTS)


async def test_a_double_click_does_what_enter_does_and_a_held_key_says_one_thing() -> None:
    wrong = []
    async with at_rest(story(), size=(80, 24)) as pilot:
        async for name, _ in visited(pilot, [one for one in LISTS if one not in NOTHING_TO_CHOOSE]):
            said = await repeated(pilot, "y", "n")
            wrong += [f"{name}: {one}" for one in (*said, *await unchosen(pilot))]
    assert wrong == []


@pytest.mark.parametrize(
    ("first", "size", "begin", "theme"),
    [
        pytest.param(CODEX, (140, 42), 0, "workbench", id="140x42", marks=pytest.mark.full),
        pytest.param(story(), (200, 60), 1, "workbench-light", id="200x60"),
    ],
)
async def test_in_a_wide_terminal_too(first: First, size: tuple[int, int], begin: int, theme: str) -> None:
    """Every other screen at each size."""
    wrong = []
    async with at_rest(first, size=size, settings=Settings(theme=theme)) as pilot:
        async for name, screen in visited(pilot, list(WAYS)[begin::2]):
            seen = (*cut(screen), *figures(screen), *faint(screen), *crowded(screen), *pale(screen))
            seen += (*unframed(screen), *gaudy(screen), *unhelpful(screen), *unnamed(screen), *uneven(screen))
            wrong += [f"{name}: {one}" for one in seen]
            wrong += [f"{name}: what is “{one}”?" for one in riddles(screen)]
    assert "\n".join(wrong) == ""
