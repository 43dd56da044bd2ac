"""Shortening long-term memories without a model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.compaction.memories import changes, condense, essence

RELEASE = ["Release: cut on Thursdays.", "Release: tagged by the robot", "Docs: built by hand"]


def held(lines: list[str], room: int) -> list[tuple[str, tuple[int, ...]]]:
    return [(memory.text, memory.lines) for memory in condense(lines, room)]


def test_what_is_said_again_stands_once_where_and_as_it_was_said_last() -> None:
    lines = ["- The user likes tabs.", "- Uses pnpm 9", "", "- user likes TABS"]
    assert held(lines, 9) == [("- Uses pnpm 9", (1,)), ("- user likes TABS", (0, 3))]


@pytest.mark.parametrize("other", ["uses pnpm 8", "never uses pnpm 9", "uses pnpm 9 in web/", "pnpm uses 9"])
def test_what_says_another_thing_stays(other: str) -> None:
    assert held(["uses pnpm 9", other], 2) == [("uses pnpm 9", (0,)), (other, (1,))]


def test_similar_ones_share_a_line_only_when_they_must() -> None:
    assert [text for text, _ in held(RELEASE, 3)] == RELEASE
    assert held(RELEASE, 2) == [
        ("Release: cut on Thursdays; tagged by the robot", (0, 1)),
        ("Docs: built by hand", (2,)),
    ]


def test_the_same_said_of_several_comes_before_several_things_said_of_one() -> None:
    lines = ["- A: is open", "- A: moved in 2025", "- B: is open.", "- C: is open"]
    assert held(lines, 3) == [("- A: moved in 2025", (1,)), ("- A, B: is open.", (0, 2)), ("- C: is open", (3,))]
    assert held(lines, 2) == [("- A: moved in 2025", (1,)), ("- A, B, C: is open", (0, 2, 3))]


@pytest.mark.parametrize(("letters", "lines"), [(147, 1), (148, 2)])
def test_a_line_of_three_hundred_characters_is_the_longest_that_is_made(letters: int, lines: int) -> None:
    """`A: ` + 147 letters + `; ` + 148 letters are 300; above, the older of the two goes, for only one line is left."""
    made = condense([f"A: {'x' * letters}", f"A: {'y' * 148}"], 1)
    assert [len(memory.text) for memory in made] == [300 if lines == 1 else 151]


def test_what_is_wanted_stays_longest_then_what_is_exact_and_of_those_the_newest() -> None:
    lines = ["Do not push.", "Nice weather", "Port 8080", "Good team", "Code lies in src/app", "Friendly customers"]
    assert [text for text, _ in held(lines, 5)] == [line for line in lines if line != "Nice weather"]
    assert [text for text, _ in held(lines, 3)] == ["Do not push.", "Port 8080", "Code lies in src/app"]
    assert [text for text, _ in held(lines, 1)] == ["Do not push."]
    assert held(lines, 0) == []


@given(st.lists(st.text(max_size=60).filter(lambda text: "\n" not in text), max_size=30), st.integers(0, 40))
def test_there_are_never_more_lines_than_room_and_none_is_told_twice(lines: list[str], room: int) -> None:
    made = condense(lines, room)
    assert len(made) <= room
    told = [number for memory in made for number in memory.lines]
    assert len(told) == len(set(told))
    assert len({essence(memory.text) for memory in made}) == len(made)
    distinct = {essence(line) for line in lines if line.strip()}
    if room >= len(distinct):
        assert {essence(memory.text) for memory in made} == distinct


def test_changes_are_a_diff_of_lines() -> None:
    assert changes("0\na\n- b\n\nc\n", "0\na\nc\nd") == ["⋮", "  a", "- - b", "  c", "+ d"]
    assert changes("a\n", "a") == []
