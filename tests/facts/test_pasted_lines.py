"""Weights of lines, and the signs of code in them."""

from __future__ import annotations

import pytest

from workbench.facts.pasted_lines import is_code

LONG = "b" * 60


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("", False),
        (" ", False),
        (f"a = {LONG}", True),
        (f"a = {LONG[1:]}", False),
        (f" {LONG}", True),
        (f" {LONG[1:]}", False),
        (LONG, False),
        ("a = b;", True),
        ("a = b", True),
        (f"- a = {LONG}", False),
        ("<task>", False),
        ("SELECT a", True),
    ],
)
def test_code_has_two_marks(line: str, found: bool) -> None:
    assert is_code(line) is found
