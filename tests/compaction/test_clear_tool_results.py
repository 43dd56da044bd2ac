"""Clear-tool-results: the semantics of Anthropic's `clear_tool_uses_20250919`."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from workbench.base.figures import grouped
from workbench.compaction.outcome import Fate, unchanged
from workbench.compaction.preset import default_preset
from workbench.compaction.strategies.clear_tool_results import STRATEGY, ClearToolResultsPolicy
from workbench.compaction.strategy import Remedy
from workbench.conformance.building import agent, call, context_of, loop, result, user
from workbench.conformance.drawn import contexts, policies
from workbench.conformance.strategies import run

MARK = "[Old tool result content cleared]"


def results(context: Any, chosen: ClearToolResultsPolicy) -> list[str]:
    outcome, _ = run(STRATEGY, context, chosen)
    return [one.text for message in outcome.messages for one in message.results]


def test_the_defaults_are_the_apis() -> None:
    default = ClearToolResultsPolicy()
    assert (default.trigger, default.trigger_value, default.keep_tool_uses) == ("input_tokens", 100_000, 3)
    assert (default.clear_at_least_tokens, default.exclude_tools, default.clear_tool_inputs) == (0, "", False)


def test_all_but_the_newest_results_are_cleared_in_place() -> None:
    messages = loop("1", 5)
    outcome, requests = run(STRATEGY, context_of(messages), ClearToolResultsPolicy())
    assert requests == []
    assert [one.text for m in outcome.messages for one in m.results] == [MARK, MARK, *["x" * 200] * 3]
    assert [m.id for m in outcome.messages] == [m.id for m in messages]
    shortened = [i for i in range(len(messages)) if outcome.fate_at(i).fate is Fate.COMPRESSED]
    assert (shortened, outcome.fate_counts[Fate.KEPT]) == ([2, 4], len(messages) - 2)
    assert [len(spans) for spans in outcome.provenance] == [1] * len(messages)
    assert messages[2].results[0].text == "x" * 200, "the input never changes"


@pytest.mark.parametrize(("kind", "value", "fires"), [
    ("tool_uses", 5, True), ("tool_uses", 6, False), ("input_tokens", 100, True), ("input_tokens", 100_000, False),
])  # fmt: skip
def test_the_two_triggers(kind: str, value: int, fires: bool) -> None:
    context = context_of(loop("1", 5), manual=False)
    outcome, _ = run(STRATEGY, context, ClearToolResultsPolicy(trigger=kind, trigger_value=value))
    assert (outcome.status == "compacted") is fires


def test_excluded_tools_count_as_uses_but_are_not_cleared() -> None:
    messages = [*loop("1", 2, name="web_search"), *loop("2", 3)]
    context = context_of(messages)
    assert results(context, ClearToolResultsPolicy(exclude_tools="web_search, other")) == ["x" * 200] * 5
    chosen = ClearToolResultsPolicy(exclude_tools="web_search", keep_tool_uses=1)
    assert results(context, chosen)[:4] == ["x" * 200] * 2 + [MARK] * 2


def test_nothing_changes_unless_enough_is_cleared() -> None:
    context = context_of(loop("1", 5))
    outcome, _ = run(STRATEGY, context, ClearToolResultsPolicy(clear_at_least_tokens=200))
    few = "only 84 tokens can be cleared; the minimum is 200"
    assert (outcome.status, outcome.reason) == ("unchanged", few)
    outcome, _ = run(STRATEGY, context, ClearToolResultsPolicy(clear_at_least_tokens=84))
    assert outcome.status == "compacted"


@pytest.mark.parametrize(
    ("bound", "at", "said"),
    [(1, 1, "1"), (3, 1, "1"), (900, 450, "450"), (200_001, 100_000, grouped(100_000)), (10**6, 10**5, grouped(10**5))],
)
def test_what_would_have_helped_starts_at_half_the_limit_and_no_later_than_the_api(
    bound: int, at: int, said: str
) -> None:
    assert STRATEGY.remedy is not None
    text = f"Clearing old tool results from {said} tokens on, all but the newest 3,"
    assert STRATEGY.remedy(bound) == Remedy("clear", text, ClearToolResultsPolicy(trigger_value=at))


def test_a_changed_policy_clears_by_its_own_words() -> None:
    """Cleared messages are cached per session, for each setting that affects them."""
    context = context_of([*loop("1", 2, name="Write"), *loop("2", 2)])
    for fields, left, inputs in (
        ({}, [MARK] * 4, "1c0 1c1 2c0 2c1"),
        ({"placeholder": "gone"}, ["gone"] * 4, "1c0 1c1 2c0 2c1"),
        ({"exclude_tools": "Write"}, ["x" * 200] * 2 + [MARK] * 2, "1c0 1c1 2c0 2c1"),
        ({"clear_tool_inputs": True}, [MARK] * 4, ""),
        ({"clear_tool_inputs": True, "clear_inputs_of": "Write"}, [MARK] * 4, "2c0 2c1"),
    ):
        outcome, _ = run(STRATEGY, context, ClearToolResultsPolicy(keep_tool_uses=0, **fields))
        assert [one.text for message in outcome.messages for one in message.results] == left
        assert [one.id for message in outcome.messages for one in message.calls if one.input] == inputs.split()


def test_pins_and_errors_and_parallel_results() -> None:
    messages = [
        user("u", "go"),
        agent("a", "", call("x"), call("y")),
        result("r", ("x", "1" * 200), ("y", "2" * 200), error=True),
        *loop("1", 3),
    ]
    outcome, _ = run(STRATEGY, context_of(messages, pins=frozenset({"1r0"})), ClearToolResultsPolicy(keep_tool_uses=0))
    first = outcome.messages[2]
    assert [one.text for one in first.results] == [MARK, MARK]
    assert all(one.is_error for one in first.results)
    assert outcome.messages[5] is messages[5]
    kept, _ = run(STRATEGY, context_of([*messages[:3], agent("b", "read")]), ClearToolResultsPolicy(keep_tool_uses=1))
    assert [one.text for one in kept.messages[2].results] == [MARK, "2" * 200]


def test_a_second_run_finds_nothing_left() -> None:
    context = context_of(loop("1", 5))
    first, _ = run(STRATEGY, context, ClearToolResultsPolicy())
    second, _ = run(STRATEGY, context.from_outcome(first), ClearToolResultsPolicy())
    line = "tool calls: 5 with results, the newest 3 kept; 2 can be cleared, in 0 messages"
    why = "nothing to clear: every tool result is kept or already cleared"
    assert second == unchanged(first.messages, why, (second.trace[0], line))


@given(contexts(), policies(default_preset(STRATEGY.id).policy))
def test_every_message_stays_in_its_place_and_the_newest_uses_as_they_are(
    context: Any, chosen: ClearToolResultsPolicy
) -> None:
    outcome, _ = run(STRATEGY, context, chosen)
    assert [m.id for m in outcome.messages] == [m.id for m in context.messages]
    newest = [one for message in outcome.messages for one in message.results][-chosen.keep_tool_uses :]
    if chosen.keep_tool_uses:
        assert newest == [one for message in context.messages for one in message.results][-chosen.keep_tool_uses :]
