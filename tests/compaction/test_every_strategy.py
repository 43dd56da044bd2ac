"""spec/strategies.md, "What holds for every strategy", point by point, for every strategy there is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.building import agent, context_of, summary, user
from tests.compaction.holding import FAILED, assert_holds, assert_lives_on, chat, contexts, loop, policies, run
from workbench.compaction.context import Context
from workbench.compaction.outcome import Fate, Made
from workbench.compaction.policy import Policy
from workbench.compaction.preset import default_preset
from workbench.compaction.strategies import all_strategies
from workbench.compaction.strategy import FailureKind, Strategy, SummaryFailed
from workbench.session import Message, Text
from workbench.summarizers.driver import drive
from workbench.summarizers.estimate import estimate

EVERY = pytest.mark.parametrize("strategy", all_strategies(), ids=[one.id for one in all_strategies()])
ASKING = [one for one in all_strategies() if one.id not in ("clear-tool-results", "trim", "memories-rewrite")]
ASKS = pytest.mark.parametrize("strategy", ASKING, ids=[one.id for one in ASKING])
CHOICES = ("drop", "keep", "nest", "extend")

SMALL: dict[str, dict[str, Any]] = {
    "exchange-summary": {"history_tail_size_chars_to_exclude": 0},
    "progressive": {"manual_runs": "ladder", "sliding_window_size": 3},
    "layered": {"min_rounds": 1},
    "message-window": {"window_messages": 6, "min_tail_messages": 0, "safe_end": "whole_pairs"},
    "user-messages": {"user_message_tokens": 20},
    "clear-tool-results": {"keep_tool_uses": 1},
    "ledger": {"budget_chars": 1_300, "narrative_percent": 40.0},
    "trim": {"target_percent": 30.0},
}
"""Numbers at which a short conversation is long."""


def policy(strategy: Strategy, **changes: Any) -> Policy:
    return default_preset(strategy.id).policy.with_(**{**SMALL.get(strategy.id, {}), **changes})


def talk() -> Context:
    """An earlier summary, rounds with tool loops, a system message in the middle, a current input."""
    messages = [
        Message("sys", "system", (Text("be brief"),)),
        summary("old", "<summary>\nthe words of an earlier summary\n</summary>"),
        *loop("1", 3),
        Message("own", "system", (Text("a rule of the session's own"),)),
        *chat(3, "2"),
        *loop("3", 3),
        user("now", "and now?"),
    ]
    return context_of(messages, memories="\n".join(f"memory {n}" for n in range(60)))


@EVERY
@settings(max_examples=60)
@given(data=st.data())
def test_what_always_holds(strategy: Strategy, data: st.DataObject) -> None:
    """1 to 4 and 6: pairs, pins, system messages, tail; every input has one fate; nothing is written over."""
    answer = data.draw(st.sampled_from(["A summary.", FAILED, SummaryFailed("timeout", "120 s")]))
    assert_holds(strategy, data.draw(contexts()), data.draw(policies(strategy)), answer)


@EVERY
@settings(max_examples=15)
@given(data=st.data())
def test_what_always_holds_through_generations(strategy: Strategy, data: st.DataObject) -> None:
    assert_lives_on(strategy, data.draw(contexts(manual=True, split_at=None)), data.draw(policies(strategy)))


@ASKS
@pytest.mark.parametrize("choice", CHOICES)
def test_2_an_earlier_summary_is_dropped_kept_nested_or_carried_on(strategy: Strategy, choice: str) -> None:
    context = talk()
    old = context.shape.index_of["old"]
    outcome, requests = run(strategy, context, policy(strategy, earlier_summary=choice))
    assert outcome.status == "compacted"
    carried = any("the words of an earlier summary" in request.previous for request in requests)
    assert carried == (choice in ("nest", "extend"))
    assert ("old" in [message.id for message in outcome.messages]) == (choice == "keep")
    there = any("the words of an earlier summary" in message.text for message in outcome.messages)
    assert there == (choice in ("keep", "extend"))
    fates = {"drop": Fate.DROPPED, "keep": Fate.KEPT}
    assert outcome.fate_at(old).fate is fates.get(choice, Fate.SUMMARIZED)


FRAMING = [one for one in ASKING if "summary_template" in one.policy_type.model_fields]


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("strategy", FRAMING, ids=[one.id for one in FRAMING])
def test_2_an_earlier_summary_of_its_own_is_carried_without_its_frame(strategy: Strategy, choice: str) -> None:
    chosen = policy(strategy, earlier_summary=choice, summary_template="<<{summary}>>", reply="")
    first, _ = run(strategy, context_of(chat(5)), chosen, "FIRST")
    second, (request,) = run(strategy, context_of([*first.messages, *chat(5, "b")]), chosen, "SECOND")
    assert request.previous == ("FIRST" if choice in ("nest", "extend") else "")
    expected = {"keep": ["<<FIRST>>", "<<SECOND>>"], "extend": ["<<FIRST\n\nSECOND>>"]}
    assert [m.text for m in second.messages if m.kind == "summary"] == expected.get(choice, ["<<SECOND>>"])


HIDING: dict[str, dict[str, Any]] = {
    "exchange-summary": {"request_hard_limit_chars": 6_000},
    "progressive": {"request_hard_limit_chars": 2_000, "manual_runs": "full"},
    "layered": {"request_hard_limit_chars": 4_000, "compress_results": "off"},
    "message-window": {"transcript_limit": 600, "window_messages": 30},
    "context-reset": {"guard_chars": 1_000},
    "user-messages": {"request_limit_chars": 1_000},
    "ledger": {"request_limit": 2_000},
}
"""Limits at which a summarizer is not shown all."""


@ASKS
@pytest.mark.parametrize("hides", [False, True])
def test_3_summarized_means_that_some_of_it_reached_a_request(strategy: Strategy, hides: bool) -> None:
    context = context_of([*loop("1", 12, "y" * 700), *chat(8, "2"), *loop("3", 2)])
    outcome, requests = run(strategy, context, policy(strategy, **HIDING[strategy.id] if hides else {}))
    shown = {
        message.id: request.seen(position)
        for request in requests
        for position, message in enumerate(request.messages)
        if request.seen is not None
    }
    assert shown
    assert all(seen or not of for seen, of in shown.values()), "a request is about what it shows"
    hidden = 0
    for index, message in enumerate(context.messages):
        fate = outcome.fate_at(index)
        if fate.fate is Fate.SUMMARIZED:
            seen, of = shown[message.id]
            assert fate.saw == ("all" if seen == of else "part")
        elif fate.fate in (Fate.ABRIDGED, Fate.DROPPED):
            hidden += 1
            assert message.id not in shown
            assert fate.saw == "nothing"
    assert bool(hidden) == hides


@ASKS
def test_3_a_summary_stands_for_what_went_and_what_it_carries_on(strategy: Strategy) -> None:
    context = talk()
    outcome, _ = run(strategy, context, policy(strategy, earlier_summary="nest"))
    made = [piece for piece in outcome.pieces if isinstance(piece, Made) and piece.message.kind == "summary"]
    behind = {i for piece in made for span in piece.stands_for for i in range(span.start, span.stop)}
    summarized = {i for i in range(len(context)) if outcome.fate_at(i).fate is Fate.SUMMARIZED}
    assert summarized <= behind


@ASKS
@pytest.mark.parametrize("kind", ["timeout", "overflow", "empty", "truncated", "refused", "inflated", "error"])
def test_5_a_failed_summary_never_loses_the_session(strategy: Strategy, kind: FailureKind) -> None:
    context = talk()
    outcome = assert_holds(strategy, context, policy(strategy), SummaryFailed(kind, "why"))
    assert outcome.status in ("unchanged", "fallback")
    assert kind in outcome.reason or "timed out" in outcome.reason
    if outcome.status == "unchanged":
        assert outcome.messages == tuple(context.messages)


@ASKS
def test_5_an_answer_of_tags_alone_is_no_summary(strategy: Strategy) -> None:
    outcome = assert_holds(strategy, talk(), policy(strategy), "<summary>\n</summary>")
    assert outcome.status in ("unchanged", "fallback")
    assert "empty" in outcome.reason


@ASKS
def test_5_cancelled_is_not_failed(strategy: Strategy) -> None:
    context = talk()
    before = tuple(context.messages)
    generator = strategy.compact(context, policy(strategy))
    while not isinstance(asked := generator.send(None), tuple):
        pass
    generator.close()
    assert asked
    assert tuple(context.messages) == before


@ASKS
def test_5_a_summary_over_its_limit_is_cut_and_the_trace_says_so(strategy: Strategy) -> None:
    outcome, _ = run(strategy, talk(), policy(strategy, summary_char_limit=40), "A sentence of some length. " * 9)
    assert any("cut to 40" in line for line in outcome.trace)


@EVERY
def test_6_an_outcome_that_is_not_smaller_says_so(strategy: Strategy) -> None:
    context = context_of([*chat(3, "1"), *loop("2", 3, "z"), *chat(2, "3")], memories="\n".join("abcdefghijklmnop"))
    outcome, _ = run(strategy, context, policy(strategy), "A summary of many words. " * 400)
    after = context.outcome_size(outcome).tokens
    if strategy.id != "memories-rewrite":
        assert (after < context.total.tokens) == (outcome.status == "compacted")
    if outcome.status == "not_smaller":
        assert "not smaller" in outcome.reason


@EVERY
def test_7_planning_needs_no_model_and_shows_the_request_as_it_would_be_sent(strategy: Strategy) -> None:
    context, chosen = talk(), policy(strategy)
    planned = drive(strategy.compact(context, chosen), estimate)
    _, requests = run(strategy, context, chosen)
    assert planned.outcome.status != "unchanged"
    if requests:
        assert (planned.requests[0].text, planned.requests[0].exact) == (requests[0].text, True)


@EVERY
def test_8_a_manual_run_compacts_whatever_the_thresholds_say(strategy: Strategy) -> None:
    context, chosen = talk(), policy(strategy)
    assert run(strategy, context, chosen)[0].status != "unchanged"
    short = context_of([user("u", "hello"), agent("a", "hello")]).with_(manual=False)
    outcome, requests = run(strategy, short, chosen)
    assert (outcome.status, outcome.reason, requests) == ("unchanged", "no trigger fires", [])


@EVERY
def test_8_a_split_by_hand_is_obeyed_where_it_may_be_moved(strategy: Strategy) -> None:
    context = context_of([*chat(12, "1"), *loop("2", 2), *chat(2, "3")])
    chosen = policy(strategy)
    for at in ("1u3", "1u9"):
        outcome, _ = run(strategy, context.with_(split_at=at), chosen)
        if strategy.movable:
            assert outcome.split == context.shape.index_of[at]
        else:
            assert outcome.messages == run(strategy, context, chosen)[0].messages


@EVERY
def test_10_every_number_has_a_range_and_every_field_a_help_and_a_place(strategy: Strategy) -> None:
    for name, field in strategy.policy_type.model_fields.items():
        extra = field.json_schema_extra
        assert isinstance(extra, dict)
        assert field.description, name
        assert extra.get("group"), name
        if field.annotation in (int, float):
            assert any(hasattr(limit, "ge") or hasattr(limit, "gt") for limit in field.metadata), name


@ASKS
def test_11_a_summary_keeps_its_kind_whatever_its_role(strategy: Strategy) -> None:
    outcome, _ = run(strategy, talk(), policy(strategy))
    made = [piece.message for piece in outcome.pieces if isinstance(piece, Made) and "summary-" in piece.message.id]
    assert made
    assert all(message.kind == "summary" for message in made)
