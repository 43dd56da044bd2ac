"""Figures as they are written, at their borders."""

from __future__ import annotations

import pytest

from workbench.base.figures import dollars


@pytest.mark.parametrize(
    ("amount", "told"),
    [
        (0.0, "$0.00"),
        (0.00004, "<$0.0001"),
        (0.00005, "$0.0001"),
        (0.9999, "$0.9999"),
        (1.0, "$1.00"),
        (1_234.5, "$1 234.50"),
    ],
)
def test_an_amount_is_never_told_as_nothing_but_where_it_is(amount: float, told: str) -> None:
    assert dollars(amount) == told
