"""`scripts/newest.py`: the newest version and name of every tracked package, with a client that is made up."""

from __future__ import annotations

import json
from datetime import date

import pytest

from scripts.newest import Newest, Tracked, of_npm, of_pip, rows, tracked

TODAY = date(2026, 3, 2)
SAID = {
    "loaf": Newest("1.2.0", date(2026, 3, 1)),
    "rye": Newest("2.0.0", date(2025, 12, 2)),
    "crust": Newest("1.0.0", date(2025, 12, 1)),
    "old": Newest("0.9.0", None, "Use @mill/new from now on, not @mill/old."),
    "@mariozechner/pi-coding-agent": Newest("0.73.1"),
    "gone": Newest(error="not found: E404"),
}


@pytest.mark.parametrize(
    ("name", "tried", "row"),
    [
        ("loaf", ("1.2.0",), "loaf  1.2.0  1.2.0"),
        ("loaf", ("1.1.0", "1.0.0"), "loaf  1.1.0, 1.0.0  1.2.0  newer"),
        # 90 days without a release are not remarked, 91 are.
        ("rye", ("2.0.0",), "rye  2.0.0  2.0.0"),
        ("crust", ("1.0.0",), "crust  1.0.0  1.0.0  no release for 91 days: renamed?"),
        (
            "old",
            ("0.9.0",),
            "old  0.9.0  0.9.0  renamed: @mill/new; deprecated: Use @mill/new from now on, not @mill/old.",
        ),
        (
            "@mariozechner/pi-coding-agent",
            ("0.73.1",),
            "@mariozechner/pi-coding-agent  0.73.1  0.73.1  renamed: @earendil-works/pi-coding-agent",
        ),
        ("gone", ("1",), "gone  1  ?  not found: E404"),
    ],
)
def test_a_row_says_what_is_newest_and_whether_the_name_still_holds(
    name: str, tried: tuple[str, ...], row: str
) -> None:
    (found,) = rows([Tracked("npm", name, tried)], lambda package: SAID[package.name], TODAY)
    assert str(found) == row


@pytest.mark.parametrize(
    ("printed", "newest"),
    [
        ({"version": "1.0.0", "time": {"1.0.0": "2026-03-01T10:00:00.000Z"}}, Newest("1.0.0", date(2026, 3, 1))),
        ({"version": "1.0.0", "deprecated": "moved"}, Newest("1.0.0", None, "moved")),
        ({"error": {"code": "E404"}}, Newest(error="not found: E404")),
        ([], Newest(error="not found")),
    ],
)
def test_what_npm_prints_is_read(printed: object, newest: Newest) -> None:
    assert of_npm(json.dumps(printed)) == newest
    assert of_npm("") == Newest(error="npm said nothing that can be read")


def test_what_pip_prints_is_read() -> None:
    assert of_pip("loaf (2.1)\nAvailable versions: 2.1, 2.0\n") == Newest("2.1")
    assert of_pip("ERROR: No matching distribution found for loaf\n") == Newest(error="not found")


def test_every_tool_gateway_and_loop_is_tracked_once() -> None:
    found = {(one.registry, one.name): one.tried for one in tracked()}
    assert found["npm", "@earendil-works/pi-coding-agent"] == ("1.6.0",)
    assert found["npm", "@mariozechner/pi-coding-agent"] == ("0.73.1",)
    assert ("PyPI", "litellm") in found
    assert ("PyPI", "pydantic-ai-slim") in found
    assert len(found) == len(tracked())
