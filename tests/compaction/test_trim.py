"""`trim`: dropped and spared messages; no pair is split."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from workbench.compaction.context import Layout
from workbench.compaction.dropping import Oldest
from workbench.compaction.preset import load_preset
from workbench.compaction.strategies.trim import STRATEGY, TrimPolicy
from workbench.conformance.building import agent, call, chat, context_of, loop, result, user
from workbench.conformance.strategies import run
from workbench.session import Message, Text

ROUNDS = [*loop("1", 2), *loop("2", 2), *loop("3", 2)]
PARALLEL = [user("u", "go"), agent("a", "", call("x"), call("y")), result("r", ("x", "1")), result("s", ("y", "2"))]
ENDS_IN_A_PAIR = [Message("s", "system", (Text("rule"),)), *chat(1), agent("c", "", call("x")), result("r", ("x", "1"))]


@pytest.mark.parametrize(
    ("messages", "target", "fields", "left"),
    [
        (ROUNDS, 8, {}, "1u 3u 3a0 3r0 3a1 3r1 3z"),
        (ROUNDS, 8, {"keep_first_request": False}, "3u 3a0 3r0 3a1 3r1 3z"),
        (loop("1", 5), 5, {"drop": "messages"}, "1u 1a4 1r4 1z"),
        (loop("1", 5), 6, {"drop": "messages"}, "1u 1a3 1r3 1a4 1r4 1z"),
        (loop("1", 5), 4, {"drop": "messages", "keep_first_request": False}, "dropped-1r3 1a4 1r4 1z"),
        ([*PARALLEL, agent("z", "done")], 3, {"drop": "messages"}, "u z"),
        (ENDS_IN_A_PAIR, 1, {"drop": "messages", "keep_first_request": False}, "s dropped-a0 c r"),
        ([user("u", "one"), user("v", "two"), *chat(6)], 4, {"drop": "messages"}, "u v u0 a5"),
    ],
)
def test_whole_rounds_or_messages_go_and_no_pair_is_cut(
    messages: list[Message], target: int, fields: dict[str, Any], left: str
) -> None:
    outcome, _ = run(STRATEGY, context_of(messages), TrimPolicy(target="messages", target_messages=target, **fields))
    assert [message.id for message in outcome.messages] == left.split()


@pytest.mark.parametrize(("kind", "number"), [("percent_of_context", 40), ("tokens", 400), ("percent_of_window", 20)])
def test_targets_in_tokens(kind: str, number: float) -> None:
    messages = [message for n in range(10) for message in loop(str(n), 2)]
    context = context_of(messages, window=2_000)
    field = "target_tokens" if kind == "tokens" else "target_percent"
    outcome, _ = run(STRATEGY, context, TrimPolicy(target=kind, **{field: number}))
    first = context.layout.sizes.tokens[0]  # spared
    share = first + (context.total.tokens - first) * 0.4
    limit = {"percent_of_context": share, "tokens": 400, "percent_of_window": 400}[kind]
    after = context.outcome_size(outcome).tokens
    assert outcome.status == "compacted"
    assert limit - after < 140
    assert after <= limit


@pytest.mark.parametrize("overhead", [0, 1_000])
@pytest.mark.parametrize(
    ("fields", "pins", "left"),
    [
        # Twelve messages of 3 tokens, and the first request stays: 33 tokens can go, of which 16 may be left.
        ({}, (), 1 + 5),
        ({"target_percent": 54.5}, (), 1 + 5),  # 17.985
        ({"target_percent": 54.6}, (), 1 + 6),  # 18.018
        ({"keep_first_request": False}, (), 6),  # 18 of 36
        ({}, ("a0", "u1"), 1 + 2 + 4),  # 13 of 27
    ],
)
def test_half_is_half_of_what_can_be_dropped(
    overhead: int, fields: dict[str, Any], pins: tuple[str], left: int
) -> None:
    plain = context_of(chat(6), pins=frozenset(pins))
    sizes = replace(plain.layout.sizes, overhead=overhead)
    context = plain.with_(layout=Layout(plain.shape, sizes))
    outcome, _ = run(STRATEGY, context, TrimPolicy(drop="messages", **fields))
    assert sum(not message.id.startswith("dropped") for message in outcome.messages) == left


@pytest.mark.parametrize("overhead", [0, 1_000])
@pytest.mark.parametrize(
    ("messages", "percent", "gone"),
    [(5, 50, 2), (6, 50, 2), (7, 50, 2), (8, 50, 2), (9, 50, 4), (10, 50, 4), (4, 50, 0), (9, 75, 2), (9, 76, 0)],
)
def test_roo_drops_an_even_number_of_all_but_the_first(messages: int, percent: int, gone: int, overhead: int) -> None:
    """As `truncateConversation` does it: of n messages, n - 1 times the fraction, and one less where that is odd."""
    plain = context_of(chat(5)[:messages])
    context = plain.with_(layout=Layout(plain.shape, replace(plain.layout.sizes, overhead=overhead)))
    policy = load_preset("roo-truncation").policy.model_copy(update={"target_percent": percent})
    outcome, _ = run(STRATEGY, context, policy)
    ids = [message.id for message in context.messages]
    assert [message.id for message in outcome.messages] == [ids[0], *ids[1 + gone :]]


def test_a_share_of_an_unknown_window_is_no_target() -> None:
    outcome, _ = run(STRATEGY, context_of(loop("1", 3)), TrimPolicy(target="percent_of_window"))
    assert outcome.reason == "the target is a share of the model's window, which is unknown"


def test_a_marker_stands_where_messages_were_dropped() -> None:
    messages = [*loop("1", 2), *loop("2", 2)]
    chosen = TrimPolicy(target="messages", target_messages=8, marker=True, marker_text="[gone]")
    outcome, _ = run(STRATEGY, context_of(messages), chosen)
    assert [m.text for m in outcome.messages[:3]] == ["request 1", "[gone]", "request 2"]
    assert outcome.messages[1].kind == "meta"
    assert outcome.provenance[1][0].start == 1


def test_a_target_that_is_met_changes_nothing() -> None:
    met = run(STRATEGY, context_of(chat(10)), TrimPolicy(target="messages", target_messages=20))[0]
    assert (met.status, met.reason[:34]) == ("unchanged", "nothing to drop: the target is met")


@pytest.mark.parametrize(("ideal", "cut"), [(0, 1), (1, 1), (2, 2), (3, 3), (4, 3), (5, 3)])
@pytest.mark.parametrize("more", [0, 1])
def test_a_whole_cut_follows_or_else_is_the_last_before(ideal: int, cut: int, more: int) -> None:
    """Behind the pair stands nothing that was said, or a rule alone: neither is a context."""
    rule = Message("t", "system", (Text("rule"),))
    assert Oldest(context_of([*ENDS_IN_A_PAIR, *[rule] * more]), ()).whole_cut(ideal) == cut


@pytest.mark.parametrize(
    ("fields", "left", "tokens", "said"),
    [
        # Each of the 40 is 3 tokens, the marker a message of 11: for it 40 / 4 + 8 are set aside.
        ({"target": "messages", "target_messages": 39}, 39, 38 * 3 + 11, "target: 39 messages; left: 38"),
        ({"target": "messages", "target_messages": 4}, 4, 3 * 3 + 11, "target: 4 messages; left: 3"),
        ({"target": "tokens", "target_tokens": 108}, 31, 30 * 3 + 11, "target: 108 tokens; left: 90"),
        ({"target": "tokens", "target_tokens": 107}, 30, 29 * 3 + 11, "target: 107 tokens; left: 87"),
        ({"target": "tokens", "target_tokens": 21}, 2, 3 + 11, "target: 21 tokens; left: 3"),
        (
            {"target": "tokens", "target_tokens": 2},
            2,
            3 + 11,
            "target: 2 tokens; left: 3, the least possible",
        ),
    ],
)
def test_the_marker_has_its_room_in_the_target(fields: dict[str, Any], left: int, tokens: int, said: str) -> None:
    context = context_of(chat(20))
    chosen = TrimPolicy(**fields, drop="messages", keep_first_request=False, marker=True, marker_text="m" * 40)
    outcome, _ = run(STRATEGY, context, chosen)
    assert (len(outcome.messages), context.outcome_size(outcome).tokens) == (left, tokens)
    assert outcome.trace[1] == said


def test_a_target_is_met_to_the_message() -> None:
    outcome, _ = run(STRATEGY, context_of(chat(6)), TrimPolicy(target="messages", target_messages=5, drop="messages"))
    assert outcome.trace[1:3] == ("target: 5 messages; left: 5", "7 of 12 messages dropped")


def test_the_marker_never_parts_a_call_from_a_result_that_came_late() -> None:
    late = [agent("c", "", call("c1")), agent("a", "meanwhile " * 40), result("r", ("c1", "ok"))]
    context = context_of([user("u", "go"), *late, *chat(3)], pins=frozenset({"c"}))
    outcome, _ = run(STRATEGY, context, TrimPolicy(target="messages", target_messages=6, marker=True))
    assert [message.id for message in outcome.messages] == ["u", "dropped-a1", "c", "r", "u2", "a2"]
