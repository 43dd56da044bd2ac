"""What holds of every screen: its lists speak one language, nothing is cut unsaid, figures have one style."""

from __future__ import annotations

import pytest

from tests.paths import SAMPLES
from tests.tui.app import First, at_rest, story
from tests.tui.every_screen import ELSEWHERE, crowded, cut, faint, figures, kept_open, lacking, misled, screens, visited

CODEX = SAMPLES / "codex-two-compactions.jsonl"


async def test_lists_speak_one_language_nothing_is_cut_unsaid_and_figures_have_one_style() -> None:
    wrong, seen = [], set(ELSEWHERE)
    async with at_rest(story(), size=(80, 24)) as pilot:
        async for name, screen in visited(pilot):
            seen.add(type(screen).__name__)
            wrong += [f"{name}: {one}" for one in (*cut(screen), *figures(screen))]
            wrong += await lacking(pilot, name)
            wrong += [f"{name}: {one}" for one in await misled(pilot)]
            wrong += [f"{name}: {one}" for one in await kept_open(pilot)]
    assert "\n".join(wrong) == ""
    assert seen == screens()


@pytest.mark.parametrize(("first", "size"), [(CODEX, (140, 42)), (story(), (200, 60))], ids=["140x42", "200x60"])
async def test_in_a_wide_terminal_too(first: First, size: tuple[int, int]) -> None:
    wrong = []
    async with at_rest(first, size=size) as pilot:
        async for name, screen in visited(pilot):
            wrong += [f"{name}: {one}" for one in (*cut(screen), *figures(screen), *faint(screen), *crowded(screen))]
    assert "\n".join(wrong) == ""
