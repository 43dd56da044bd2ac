"""Ids that a file repeats."""

from hypothesis import given
from hypothesis import strategies as st

from workbench.formats.kit.ids import unique_id


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
