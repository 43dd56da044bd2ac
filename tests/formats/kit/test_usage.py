from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.formats.kit.usage import (
    RecordedWindow,
    anthropic_counts,
    anthropic_usage,
    openai_usage,
    replayed_before,
    usage_of_prompt,
)
from workbench.formats.kit.values import dollars_of
from workbench.session import LoadWarning, Message, Usage


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


@pytest.mark.parametrize(
    ("given", "usage"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 4}, Usage(10, 4)),
        ({"input_tokens": 10, "output_tokens": 4}, Usage(10, 4)),
        ({"prompt_tokens": 10, "input_tokens": 3, "completion_tokens": 4, "output_tokens": 2}, Usage(10, 4)),
        ({"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 6}}, Usage(4, 0, 6)),
        ({"input_tokens": 10, "input_tokens_details": {"cached_tokens": 6}}, Usage(4, 0, 6)),
        (
            {"prompt_tokens": 10, "prompt_tokens_details": {}, "input_tokens_details": {"cached_tokens": 6}},
            Usage(4, 0, 6),
        ),
        ({"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": "6"}}, Usage(10)),
        ({"completion_tokens": 4}, None),
        ({"prompt_tokens": True, "input_tokens": 2.0}, None),
        (None, None),
    ],
)
def test_both_apis_of_openai_count_the_cache_in_the_prompt(given: object, usage: Usage | None) -> None:
    assert openai_usage(given) == usage
    assert openai_usage(given, "0.5") == (usage and replace(usage, cost=0.5))


@pytest.mark.parametrize(
    ("counts", "found"),
    [
        ((1, 2, 3, 4), (1, 2, 3, 4)),
        ((1, 0, 0, 0), (1, 0, 0, 0)),
        ((0, 0, 1, 0), (0, 0, 1, 0)),
        ((0, 0, 0, 1), (0, 0, 0, 1)),
        ((0, 9, 0, 0), None),
        ((-1, -2, 1, True), (0, 0, 1, 0)),
    ],
)
def test_counts_of_the_messages_api_are_in_one_order(counts: tuple[int, ...], found: tuple[int, ...] | None) -> None:
    keys = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    assert anthropic_counts(dict(zip(keys, counts, strict=True))) == found


def test_usage_before_a_fork_was_replayed() -> None:
    usage = Usage(5)
    times = (None, 9.0, 10.0, 11.0)
    messages = [Message(f"m{time}", "assistant", (), time=time, usage=usage) for time in times]
    messages.append(Message("n", "user", (), time=1.0))
    replayed = replace(usage, replayed=True)
    found = replayed_before(messages, 10.0)
    assert [message.usage for message in found] == [usage, replayed, usage, usage, None]
    assert [message.id for message in found] == [message.id for message in messages]
    assert replayed_before(messages, None) == tuple(messages)


def test_a_recorded_window_is_the_newest_possible_one() -> None:
    window, warnings = RecordedWindow(), list[LoadWarning]()
    tokens = []
    for line, value in enumerate([None, 1, 200_000, None, 0, -5, "x" * 50, True], 1):
        window.read(value, line, warnings)
        tokens.append(window.tokens)
    assert tokens == [None, 1, *[200_000] * 6]
    assert warnings == [LoadWarning("an impossible context window of 0 tokens is recorded; ignored", 5)]
    warnings.clear()
    RecordedWindow().read("x" * 50, None, warnings)
    shown = "'" + "x" * 39
    assert warnings == [LoadWarning(f"an impossible context window of {shown} tokens is recorded; ignored", None)]
