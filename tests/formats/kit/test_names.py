"""Ids that a file repeats, and titles of sessions that have none of their own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.base.secrets import MASK
from workbench.formats.kit.names import shortened, unique_id

SECRET = "brass-Heron-77"


@pytest.mark.parametrize("before", range(30, 90))
def test_a_title_holds_no_rest_of_a_secret_that_it_is_cut_within(before: int) -> None:
    title = shortened(f"{'x' * before} DB_PASSWORD={SECRET} opens the weir")
    assert len(title) <= 80
    assert not any(SECRET[at : at + 4] in title for at in range(len(SECRET) - 3))
    assert MASK in title or title.endswith("…")


@given(st.lists(st.sampled_from(["a", "a'", "a'2", "a'2'2", "b", ""])))
def test_every_answer_is_new(ids: list[str]) -> None:
    taken: dict[str, int] = {}
    found = [unique_id(id, taken) for id in ids]
    assert len(set(found)) == len(ids)
    assert all(new.startswith(old) for new, old in zip(found, ids, strict=True))
    assert found[:1] == ids[:1]


def test_one_id_a_hundred_thousand_times() -> None:
    taken: dict[str, int] = {}
    found = {unique_id("same", taken) for _ in range(100_000)}
    assert len(found) == 100_000
