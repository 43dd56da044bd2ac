"""`context-reset`, beyond the rules in `tests/documents/test_004_context_reset.py`."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.compaction.strategies.context_reset import STRATEGY, ContextResetPolicy
from workbench.conformance.building import chat, context_of, loop
from workbench.conformance.strategies import run
from workbench.session import Message

LAST = {"keep_last_request": True, "reply": "Understood."}


@pytest.mark.parametrize(
    ("messages", "pins", "fields", "left"),
    [
        (loop("1", 3), "1u 1r1", {}, "1u 1a1 1r1 summary-1z"),
        (loop("1", 3), "1r1", {}, "summary-1z 1a1 1r1"),
        ([*chat(3), *loop("1", 2)], "u0 1z", LAST, "u0 summary-1z summary-1z:reply 1u 1z"),
    ],
)
def test_pins_stand_before_the_summary_unless_the_agent_would_speak_first_and_the_last_request_may_stay(
    messages: list[Message], pins: str, fields: dict[str, Any], left: str
) -> None:
    outcome, _ = run(
        STRATEGY, context_of(messages, pins=frozenset(pins.split())), ContextResetPolicy.model_validate(fields)
    )
    assert [m.id for m in outcome.messages] == left.split()
