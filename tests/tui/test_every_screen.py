"""What holds of every screen: its lists speak one language, nothing is cut unsaid, figures have one style."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from textual.screen import Screen

from tests.paths import SAMPLES
from tests.products import mostly_full
from tests.tui.app import First, at_rest, bench_screen, story
from tests.tui.every_screen import (
    ELSEWHERE,
    LISTS,
    WAYS,
    crowded,
    cut,
    drawn,
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
    unfocused,
    unframed,
    unhelpful,
    unnamed,
    visited,
)
from workbench.tui.settings import Settings

CODEX = SAMPLES / "codex-two-compactions.jsonl"


async def test_lists_speak_one_language_nothing_is_cut_unsaid_and_figures_have_one_style() -> None:
    wrong, met, lists = [], set(ELSEWHERE), []
    async with at_rest(story(), size=(80, 24)) as pilot:
        before = bench_screen(pilot).bench
        async for name, screen in visited(pilot):
            met.add(type(screen).__name__)
            wrong += [f"{name}: {one}" for one in looked_at(screen)]
            lists += [name] if listing(screen) else []
            wrong += await lacking(pilot, name)
            wrong += [f"{name}: {one}" for one in await misled(pilot)]
            wrong += [f"{name}: {one}" for one in await kept_open(pilot)]
            assert bench_screen(pilot).bench is before, name
    assert "\n".join(wrong) == ""
    assert met == screens()
    assert lists == list(LISTS)


def looked_at(screen: Screen[Any]) -> Iterator[str]:
    """All that is wrong with a screen in front, as it is drawn."""
    seen = drawn(screen)
    for look in (cut, figures, unframed, unnamed, uneven, pale, gaudy):
        yield from look(seen)
    for look_at in (unhelpful, crowded, faint, unfocused):
        yield from look_at(screen)
    yield from (f"what is “{one}”?" for one in riddles(seen))


ONE_OF_A_KIND = ("bench", "why", "compare", "facts", "rules")
ALIKE = ("why, a table", "questions", "prompts", "summarizer", "strategy")
"""Of the lists with something to choose, one of each kind, and those of a kind with one of these."""


@pytest.mark.parametrize("names", mostly_full([ONE_OF_A_KIND, ALIKE], [ONE_OF_A_KIND]), ids=["one of a kind", "alike"])
async def test_a_double_click_does_what_enter_does_and_a_held_key_says_one_thing(names: Sequence[str]) -> None:
    wrong = []
    async with at_rest(story(), size=(80, 24)) as pilot:
        async for name, _ in visited(pilot, names):
            said = await repeated(pilot, "y", "n")
            wrong += [f"{name}: {one}" for one in (*said, *await unchosen(pilot))]
    assert wrong == []


WIDE = ("policy", "why", "compare", "generations", "run with", "strategy", "filter", "play")
"""Screens that put what they show side by side, or stretch it."""


@pytest.mark.parametrize(
    ("first", "size", "theme", "names"),
    [
        pytest.param(CODEX, (140, 42), "workbench", list(WAYS)[::2], id="140x42", marks=pytest.mark.full),
        pytest.param(story(), (200, 60), "workbench-light", WIDE, id="200x60"),
        pytest.param(story(), (200, 60), "workbench-light", list(WAYS)[1::2], id="all", marks=pytest.mark.full),
    ],
)
async def test_in_a_wide_terminal_too(first: First, size: tuple[int, int], theme: str, names: Sequence[str]) -> None:
    async with at_rest(first, size=size, settings=Settings(theme=theme)) as pilot:
        wrong = [f"{name}: {one}" async for name, screen in visited(pilot, names) for one in looked_at(screen)]
    assert "\n".join(wrong) == ""
