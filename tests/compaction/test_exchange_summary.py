"""`exchange-summary`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench.base.errors import BadInput
from workbench.compaction.context import Context
from workbench.compaction.exchange.cut import preprocess
from workbench.compaction.exchange.params import policy_from_params
from workbench.compaction.gauge import Gauge
from workbench.compaction.outcome import Fate, Outcome
from workbench.compaction.strategies.exchange_summary import (
    STRATEGY,
    ExchangeSummaryPolicy,
    disabled,
    triggers,
)
from workbench.compaction.strategy import SummaryRequest
from workbench.conformance.building import agent, context_of, loop, summary, user
from workbench.conformance.strategies import Answered
from workbench.conformance.strategies import run as by_hand
from workbench.session import Message, Text


def policy(**changes: Any) -> ExchangeSummaryPolicy:
    return ExchangeSummaryPolicy.model_validate({"min_version": "3", "prompt": "Summarize.", **changes})


def run(
    context: Context, chosen: ExchangeSummaryPolicy, answer: Answered = "S"
) -> tuple[Outcome, list[SummaryRequest]]:
    return by_hand(STRATEGY, context, chosen, answer)


def test_the_defaults_are_disabled_and_say_why() -> None:
    assert disabled(ExchangeSummaryPolicy()) == "disabled: no minimum version is set (min_version)"
    assert disabled(ExchangeSummaryPolicy(min_version="3")) == "disabled: the prompt is empty (prompt)"
    assert "code-review" in disabled(policy(bot_type="2"))
    assert "code-review" in disabled(policy(bot_type="code_review_bot"))
    assert disabled(policy()) == ""
    assert triggers(Gauge(meters={"history": 10**9}), policy())[0].note == "disabled: threshold 0"
    outcome, requests = run(context_of(loop("1", 3)), ExchangeSummaryPolicy())
    assert (outcome.status, requests) == ("unchanged", [])
    assert "minimum version" in outcome.reason


CACHE = {
    "simulate_cache_expiry": True,
    "trigger_on_history_size_chars_when_cache_expiring": 100,
    "cache_ttl_ms": 300_000,
    "buffer_time_before_cache_expiration_ms": 30_000,
}


@pytest.mark.parametrize(
    ("age", "fires", "note"),
    [
        (0, False, "due in 270 s"),
        (10_000, False, "due in 260 s"),
        (269_999, False, "due in 0.001 s"),
        (270_000, True, "the cache expires in 30 s"),
        (270_001, True, "the cache expires in 29.999 s"),
        (299_999, True, "the cache expires in 0.001 s"),
        (300_000, True, "due 30 s ago, the cache has expired since"),
        (600_000, True, "due 330 s ago, the cache has expired since"),
        (None, False, "due 270 s after the newest answer, if nothing is sent till then"),
    ],
)
def test_the_cache_trigger_fires_when_the_cache_is_about_to_expire(age: int | None, fires: bool, note: str) -> None:
    found = triggers(Gauge(meters={"history": 100}, cache_age_ms=age), policy(**CACHE))[1]
    assert (found.fires, found.note, found.timed) == (fires, note, True)
    assert not triggers(Gauge(meters={"history": 99}, cache_age_ms=age), policy(**CACHE))[1].fires


@pytest.mark.parametrize(
    "never",
    [
        {"buffer_time_before_cache_expiration_ms": 300_000},
        {"trigger_on_history_size_chars_when_cache_expiring": 0},
        {"min_version": ""},
    ],
)
def test_no_timer_is_set_without_time_threshold_or_version(never: dict[str, Any]) -> None:
    found = triggers(Gauge(meters={"history": 100}, cache_age_ms=300_000), policy(**CACHE | never))[1]
    assert not found.fires
    assert found.note.startswith(("never", "disabled"))


def test_nothing_looks_at_the_cache_unless_it_is_asked_for() -> None:
    assert len(triggers(Gauge(meters={"history": 100}, cache_age_ms=270_000), policy())) == 1


@pytest.mark.parametrize(
    ("size", "expiring", "status"),
    [
        (1, 0, "compacted"),
        (0, 1, "compacted"),
        (10**9, 1, "compacted"),
        (1, 10**9, "compacted"),
        (10**9, 10**9, "unchanged"),
    ],
)
def test_the_split_asks_the_threshold_of_the_trigger_that_fired(size: int, expiring: int, status: str) -> None:
    """`size` and `expiring` are the two thresholds; the cache is about to expire, nobody runs it by hand."""
    chosen = policy(
        **CACHE | {"trigger_on_history_size_chars_when_cache_expiring": expiring},
        trigger_on_history_size_chars=size,
        cache_age_ms=270_000,
    )
    messages = [message for n in range(4) for message in loop(str(n), 1, "x" * 2_000)]
    assert run(context_of(messages, manual=False), chosen)[0].status == status


def test_vector_6_versions() -> None:
    mixed = [None, 2, None, 3, None, 2, None]
    assert preprocess(mixed, current=3, enabled=True) == (3, 4, 6)
    assert preprocess([3, None, None], current=3, enabled=True) == (0, 1, 2)
    assert preprocess(mixed, current=3, enabled=False) == (0, 2, 4, 6)


def test_vector_7_a_template_without_summary_is_refused() -> None:
    outcome, _ = run(
        context_of([*loop("1", 2), *loop("2", 1)]), policy(summary_node_request_message_template="no place")
    )
    assert "<supervisor>" in outcome.messages[0].text
    assert any("refused" in line for line in outcome.trace)


def test_vector_9_a_placeholder_in_the_summary_is_not_filled() -> None:
    outcome, _ = run(context_of([*loop("1", 2), *loop("2", 1)]), policy(), "see {abridged_history}")
    assert "see {abridged_history}" in outcome.messages[0].text


def test_vector_10_a_pin_before_an_earlier_summary_survives() -> None:
    messages = [user("u0", "never log tokens"), agent("a0", "ok"), summary("s", "old"), *loop("1", 2), *loop("2", 1)]
    outcome, _ = run(context_of(messages, pins=frozenset({"u0"})), policy())
    assert outcome.messages[2] is messages[0]
    assert outcome.fate_at(0).fate is Fate.PINNED
    assert outcome.fate_at(2).fate is Fate.DROPPED


def test_vector_11_a_head_of_an_old_summary_alone_is_nothing_to_compact() -> None:
    context = context_of([summary("s", "old"), *loop("1", 0)])
    outcome, requests = run(context, policy())
    assert (outcome.status, requests) == ("unchanged", [])
    assert "only an earlier summary" in outcome.reason


def test_the_node_carries_the_open_calls_of_the_last_head_exchange() -> None:
    messages = loop("1", 4)
    outcome, requests = run(context_of(messages, split_at="1r2"), policy(), "<summary>\nI did it.\n</summary>")
    node, answer, *tail = outcome.messages
    assert (node.role, node.kind, answer.role, answer.kind) == ("user", "summary", "assistant", "summary")
    assert "<summary>\nI did it.\n</summary>" in node.text
    assert answer.text == "Ok. I will continue the conversation from this point."
    assert [c.id for c in answer.calls] == ["1c2"]
    assert tuple(tail) == tuple(messages[6:])
    assert all(a is b for a, b in zip(tail, messages[6:], strict=True))
    assert requests[0].sources == tuple(m.id for m in messages[:6])
    assert requests[0].text.startswith("Summarize.\n\n<conversation>\n<user>\nrequest 1\n</user>")
    assert 'result="not in this part"' in requests[0].text


@pytest.mark.parametrize(
    ("pins", "pinned", "left", "calls"),
    [
        (
            "1u 1r0",
            3,
            ["", "", "1u", "1a0", "1r0", "summary-1a2:calls", "1r2", "1a3", "1r3", "1z"],
            ["1c0", "1c2", "1c3"],
        ),
        ("1a2", 2, ["", "", "1a2", "1r2", "1a3", "1r3", "1z"], ["1c2", "1c3"]),
    ],
)
def test_open_calls_stand_after_pins_and_are_not_carried_twice(
    pins: str, pinned: int, left: list[str], calls: list[str]
) -> None:
    outcome, _ = run(context_of(loop("1", 4), split_at="1r2", pins=frozenset(pins.split())), policy())
    assert ["" if m.kind == "summary" else m.id for m in outcome.messages] == left
    assert [c.id for m in outcome.messages for c in m.calls] == calls
    assert outcome.fate_counts[Fate.PINNED] == pinned


def test_a_head_of_pins_alone_is_nothing_to_compact() -> None:
    messages = [*loop("1", 0), *loop("2", 1)]
    outcome, _ = run(context_of(messages, split_at="2u", pins=frozenset({"1u", "1z"})), policy())
    assert outcome.reason == "nothing to compact: every message of the head stays"


def test_pasted_parameters() -> None:
    params = {
        "trigger_on_history_size_chars": 50_000,
        "prompt": "P",
        "abridged_history_params": {"total_chars_limit": 9},
    }
    for text in (
        json.dumps(params),
        json.dumps(json.dumps(params)),
        json.dumps({"history_summary_params": json.dumps(params)}),
        json.dumps(
            {"feature_flags": {"history_summary_params": json.dumps(params), "history_summary_min_version": "3"}}
        ),
    ):
        pasted = policy_from_params(text)
        assert pasted.trigger_on_history_size_chars == 50_000
        assert pasted.abridged_history_params.total_chars_limit == 9
        assert pasted.abridged_history_params.user_message_chars_limit == 1_000
        assert pasted.min_version == "3"
    with pytest.raises(BadInput, match="line 1"):
        policy_from_params("{nope")
    with pytest.raises(BadInput, match="no field 'colour'"):
        policy_from_params('{"colour": 1}')
    with pytest.raises(BadInput, match="trigger_on_history_size_chars"):
        policy_from_params('{"trigger_on_history_size_chars": -1}')


def test_the_age_of_the_cache_comes_from_the_time_stamps_or_from_the_person() -> None:
    messages = [
        Message("u", "user", (Text("do"),), time=100.0),
        Message("a", "assistant", (Text("done"),), time=110.0),
        Message("u2", "user", (Text("more"),), time=150.0),
    ]
    for seen, changes, age in (
        (messages, {}, 40_000),
        (messages[:2], {}, None),
        (messages, {"cache_age_ms": 5}, 5),
    ):
        fired = STRATEGY.triggered(context_of(seen), policy(**CACHE, **changes))[1]
        told = triggers(Gauge(meters={"history": 1}, cache_age_ms=age), policy(**CACHE))[1]
        assert fired.note == told.note
    later = context_of(messages[:2]).with_(at=115.5)
    assert STRATEGY.gauge(later, policy()).cache_age_ms == 5_500
