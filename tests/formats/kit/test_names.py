"""Ids that a file repeats, and titles of sessions that have none of their own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.base.secrets import MASK
from workbench.formats.kit.names import first_words, shortened, unique_id
from workbench.session import Message, Text

SECRET = "brass-Heron-77"


@pytest.mark.parametrize("before", range(30, 90))
def test_a_title_holds_no_rest_of_a_secret_that_it_is_cut_within(before: int) -> None:
    title = shortened(f"{'x' * before} DB_PASSWORD={SECRET} opens the weir")
    assert len(title) <= 80
    assert not any(SECRET[at : at + 4] in title for at in range(len(SECRET) - 3))
    assert MASK in title or title.endswith("…")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("word " * 15 + "four", "word " * 15 + "four"),
        ("word " * 15 + "fives", "word " * 15 + "fives"),
        ("word " * 15 + "sixsix", "word " * 15 + "sixs…"),
        ("word " * 15 + "six seven", "word " * 15 + "six…"),
        ("a b " * 9 + "a", "a b " * 9 + "a"),
        ("a b " * 9 + "a b", "a b " * 9 + "a b"),
        ("a b " * 9 + "a b c", "a b " * 9 + "a b"),
        (" one\n\ttwo  three\n", "one two three"),
        (" " * 1_998 + "ab", "ab"),
        (" " * 1_998 + "abc", "ab"),
        ("", ""),
    ],
)
def test_a_title_is_at_most_80_characters_20_words_and_of_the_first_2000(text: str, title: str) -> None:
    assert shortened(text) == title


def asked(role: str, *texts: Text, kind: str = "normal") -> Message:
    return Message("", role, texts, kind)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("messages", "after", "title"),
    [
        ([], "", ""),
        ([asked("assistant", Text("Yes?")), asked("user", Text("Bake.")), asked("user", Text("Now."))], "", "Bake."),
        ([asked("user", Text(" \n")), asked("user", Text("Bake."))], "", "Bake."),
        ([asked("user", Text("Old."), kind="summary"), asked("user", Text("Bake."))], "", "Bake."),
        ([asked("user", Text("It is nine.", injected=True), Text("Bake."))], "", "Bake."),
        ([asked("user", Text("a # b # Bake."))], "# ", "Bake."),
        ([asked("user", Text("Bake."))], "# ", "Bake."),
    ],
)
def test_a_session_is_titled_by_the_first_request(messages: list[Message], after: str, title: str) -> None:
    assert first_words(messages, after) == title


@given(st.lists(st.sampled_from(["a", "a'", "a'2", "a'2'2", "b", ""])))
def test_every_answer_is_new(ids: list[str]) -> None:
    taken: dict[str, int] = {}
    found = [unique_id(id, taken) for id in ids]
    assert len(set(found)) == len(ids)
    assert all(new.startswith(old) for new, old in zip(found, ids, strict=True))
    assert found[:1] == ids[:1]


def test_a_repeated_id_gets_a_number_and_an_id_that_looks_like_it_another() -> None:
    taken: dict[str, int] = {}
    given = ["a", "b", "a", "a", "a'2", "a", "b", ""]
    assert [unique_id(id, taken) for id in given] == ["a", "b", "a'2", "a'3", "a'2'2", "a'4", "b'2", ""]


def test_one_id_a_hundred_thousand_times() -> None:
    taken: dict[str, int] = {}
    found = {unique_id("same", taken) for _ in range(100_000)}
    assert len(found) == 100_000
