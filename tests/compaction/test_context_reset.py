"""`context-reset`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from workbench.compaction.gauge import Gauge
from workbench.compaction.strategies.context_reset import MARKER, STRATEGY, ContextResetPolicy, triggers
from workbench.conformance.building import agent, chat, context_of, loop, result, user
from workbench.conformance.strategies import run
from workbench.session import Message

FRAME = "[System] Context cleared. Summary of previous conversation: \n "


def policy(**changes: Any) -> ContextResetPolicy:
    return ContextResetPolicy.model_validate(changes)


LAST = {"keep_last_request": True, "reply": "Understood."}


def fires(gauge: Gauge, **changes: Any) -> dict[str, bool]:
    return {trigger.name: trigger.fires for trigger in triggers(gauge, policy(**changes))}


@pytest.mark.parametrize(("chars", "expected"), [(719_999, False), (720_000, True)])
def test_the_estimate_fires_at_ninety_percent(chars: int, expected: bool) -> None:
    gauge = Gauge(chars=chars, tokens=1, window=200_000)
    assert fires(gauge)["90 % of the window"] is expected
    assert not fires(gauge, estimate_from="counted")["90 % of the window"]
    assert fires(replace(gauge, tokens=180_000), estimate_from="counted")["90 % of the window"]
    assert not fires(replace(gauge, window=None))["90 % of the window"]


def test_a_recorded_overflow_is_an_emergency() -> None:
    emergency = context_of(loop("1", 3), manual=False, overflow_error_seen=True)
    outcome, _ = run(STRATEGY, emergency, policy())
    assert outcome.status == "compacted"
    assert any("emergency" in line for line in outcome.trace)
    assert run(STRATEGY, emergency, policy(trigger_on_overflow=False))[0].reason == "no trigger fires"
    assert run(STRATEGY, context_of(chat(3), manual=False), policy())[0].reason == "no trigger fires"


def sized(total: int) -> list[Message]:
    """A request and one result whose transcript has exactly `total` characters."""
    start, end = user("u", "go"), agent("z", "E" * 100)
    frame = len("[user]: go\n\n[tool result]: \n\n[assistant]: ") + 100
    return [start, result("r", ("gone", "m" * (total - frame))), end]


def test_one_character_more_loses_the_middle() -> None:
    outcome, (request,) = run(STRATEGY, context_of(sized(200_001)), policy())
    shown = request.text.split("---\n")[1].removesuffix("\n")
    assert len(shown) == 100_000 + len(MARKER["en"])
    assert shown[40_000:].startswith(MARKER["en"])
    assert shown.startswith("[user]: go")
    assert shown.endswith("E" * 100)
    assert [outcome.fate_at(i).saw for i in range(3)] == ["all", "part", "all"]
    assert request.seen is not None
    seen, of = request.seen(1)
    assert 99_000 < seen < 100_000 < of


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
    outcome, _ = run(STRATEGY, context_of(messages, pins=frozenset(pins.split())), policy(**fields))
    assert [m.id for m in outcome.messages] == left.split()
