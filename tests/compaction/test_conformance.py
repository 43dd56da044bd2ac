"""Every strategy passes the conformance checks; further tests cover limits and templates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from workbench.compaction.outcome import Fate
from workbench.compaction.policy import Policy
from workbench.compaction.preset import default_preset
from workbench.compaction.prompt_policies import PromptPolicy
from workbench.compaction.strategies import all_strategies
from workbench.compaction.strategy import Strategy
from workbench.conformance.building import chat, context_of, loop
from workbench.conformance.strategies import CHECKS, run, seen_in

EVERY = {one.id: one for one in all_strategies()}

SMALL: dict[str, dict[str, Any]] = {
    "exchange-summary": {"history_tail_size_chars_to_exclude": 0},
    "progressive": {"sliding_window_size": 3},
    "layered": {"min_tail_rounds": 1},
    "message-window": {"window_messages": 6, "min_tail_messages": 0, "safe_end": "whole_pairs"},
    "user-messages": {"user_message_tokens": 20},
    "clear-tool-results": {"keep_tool_uses": 1},
    "ledger": {"budget_chars": 1_300, "narrative_percent": 40.0},
    "trim": {"target_percent": 30.0},
}
"""Numbers at which a short conversation is long."""


def policy(id: str, **changes: Any) -> Policy:
    return default_preset(id).policy.with_(**{**SMALL.get(id, {}), **changes})


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("id", EVERY)
def test_conforms(id: str, check: Callable[[Strategy[Any], Policy], None]) -> None:
    check(EVERY[id], policy(id))


FRAMING = [
    id
    for id, one in EVERY.items()
    if issubclass(one.policy_type, PromptPolicy) and "summary_template" in one.policy_type.model_fields
]


@pytest.mark.parametrize("choice", ["drop", "keep", "nest", "extend"])
@pytest.mark.parametrize("id", FRAMING)
def test_an_earlier_summary_of_its_own_is_carried_without_its_frame(id: str, choice: str) -> None:
    chosen = policy(id, earlier_summary=choice, summary_template="<<{summary}>>", reply="")
    first, _ = run(EVERY[id], context_of(chat(5)), chosen, "FIRST")
    second, (request,) = run(EVERY[id], context_of([*first.messages, *chat(5, "b")]), chosen, "SECOND")
    assert request.previous == ("FIRST" if choice in ("nest", "extend") else "")
    expected = {"keep": ["<<FIRST>>", "<<SECOND>>"], "extend": ["<<FIRST\n\nSECOND>>"]}
    assert [m.text for m in second.messages if m.kind == "summary"] == expected.get(choice, ["<<SECOND>>"])


HIDING: dict[str, dict[str, Any]] = {
    "exchange-summary": {"request_char_limit": 6_000},
    "progressive": {"request_char_limit": 2_000, "manual_runs": "full"},
    "layered": {"request_char_limit": 4_000, "compress_results": "off"},
    "message-window": {"request_char_limit": 600, "window_messages": 30},
    "context-reset": {"request_char_limit": 1_000},
    "user-messages": {"request_char_limit": 1_000},
    "ledger": {"request_char_limit": 2_000},
}
"""Limits at which a summarizer is not shown all."""


@pytest.mark.parametrize("hides", [False, True])
@pytest.mark.parametrize("id", HIDING)
def test_what_a_limit_hides_from_the_summarizer_is_not_called_summarized(id: str, hides: bool) -> None:
    context = context_of([*loop("1", 12, "y" * 700), *chat(8, "2"), *loop("3", 2)])
    outcome, requests = run(EVERY[id], context, policy(id, **HIDING[id] if hides else {}))
    shown, hidden = seen_in(requests), 0
    assert shown
    for index, message in enumerate(context.messages):
        fate = outcome.fate_at(index)
        if fate.fate is Fate.SUMMARIZED:
            seen, of = shown[message.id]
            assert fate.saw == ("all" if seen == of else "part")
        elif fate.fate in (Fate.ABRIDGED, Fate.DROPPED):
            hidden += 1
            assert (message.id in shown, fate.saw) == (False, "nothing")
    assert bool(hidden) == hides
