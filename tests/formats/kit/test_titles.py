"""Titles of sessions that have none of their own."""

from __future__ import annotations

import pytest

from workbench.base.secrets import MASK
from workbench.formats.kit.titles import shortened

SECRET = "brass-Heron-77"


@pytest.mark.parametrize("before", range(30, 90))
def test_a_title_holds_no_rest_of_a_secret_that_it_is_cut_within(before: int) -> None:
    title = shortened(f"{'x' * before} DB_PASSWORD={SECRET} opens the weir")
    assert len(title) <= 80
    assert not any(SECRET[at : at + 4] in title for at in range(len(SECRET) - 3))
    assert MASK in title or title.endswith("…")
