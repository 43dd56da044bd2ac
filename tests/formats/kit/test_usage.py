from __future__ import annotations

import pytest

from workbench.formats.kit.usage import anthropic_usage, usage_of_prompt
from workbench.formats.kit.values import dollars_of
from workbench.session import Usage


@pytest.mark.parametrize(
    ("sent", "read", "written", "usage"),
    [
        (0, 0, 0, None),
        (1, 0, 0, Usage(1, 7)),
        (100, 60, 39, Usage(1, 7, 60, 39)),
        (100, 60, 40, Usage(0, 7, 60, 40)),
        (100, 60, 41, Usage(0, 7, 60, 41)),
        (100, 101, 0, Usage(0, 7, 100)),
    ],
)
def test_what_the_cache_held_is_taken_from_the_prompt(sent: int, read: int, written: int, usage: Usage | None) -> None:
    assert usage_of_prompt(sent, 7, read, written) == usage


@pytest.mark.parametrize(
    ("recorded", "paid"),
    [
        (0.25, 0.25),
        ("0.25", 0.25),
        (1, 1.0),
        (0, None),
        ("", None),
        ("x", None),
        ("inf", None),
        ([], None),
        (-1, None),
        (True, None),
        (10**400, None),
        ("1e999", None),
    ],
)
def test_a_cost_is_a_positive_number_of_dollars(recorded: object, paid: float | None) -> None:
    assert dollars_of(recorded) == paid


def cached(short: int, long: int) -> dict[str, int]:
    return {"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": long}


@pytest.mark.parametrize(
    ("given", "usage"),
    [
        ({"input_tokens": 3, "output_tokens": 7, "cache_read_input_tokens": 60}, Usage(3, 7, 60)),
        ({"cache_creation_input_tokens": 1, "input_tokens": "3"}, Usage(0, 0, 0, 1)),
        ({"cache_creation_input_tokens": 5, "cache_creation": cached(2, 3)}, Usage(0, 0, 0, 5, cache_life=3_600)),
        ({"cache_creation_input_tokens": 5, "cache_creation": cached(5, 0)}, Usage(0, 0, 0, 5, cache_life=300)),
        ({"cache_creation_input_tokens": 5, "cache_creation": cached(0, 0)}, Usage(0, 0, 0, 5)),
        ({"input_tokens": 0, "output_tokens": 7}, None),
        (None, None),
    ],
)
def test_the_messages_api_counts_the_cache_apart(given: object, usage: Usage | None) -> None:
    assert anthropic_usage(given) == usage
