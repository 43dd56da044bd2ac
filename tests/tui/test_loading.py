"""How far a session is read, as the loading screen tells it."""

from __future__ import annotations

import pytest

from workbench.tui.screens.loading import STEPS, in_steps


@pytest.mark.parametrize("told_of", [STEPS - 1, STEPS, STEPS + 1, 98])
def test_no_more_is_told_than_is_drawn_and_the_end_always(told_of: int) -> None:
    told: list[tuple[int, int]] = []
    progress = in_steps(lambda done, total: told.append((done, total)))
    for done in range(told_of + 1):
        progress(done, told_of)
    assert len(told) == min(told_of, STEPS)
    assert told[-1] == (told_of, told_of)
    progress(told_of, told_of)
    assert len(told) == min(told_of, STEPS)


def test_a_file_whose_size_is_not_known_is_told_of_when_it_is_read() -> None:
    told: list[tuple[int, int]] = []
    progress = in_steps(lambda done, total: told.append((done, total)))
    progress(0, 0)
    progress(1, 0)
    assert told == [(1, 0)]
