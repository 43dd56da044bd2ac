"""`exchange-summary`."""

from __future__ import annotations

import pytest

from workbench.compaction.outcome import Fate
from workbench.compaction.strategies.exchange_summary import (
    STRATEGY,
    ExchangeSummaryPolicy,
)
from workbench.conformance.building import context_of, loop
from workbench.conformance.strategies import run

POLICY = ExchangeSummaryPolicy(min_version="3", prompt="Summarize.")


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
    outcome, _ = run(STRATEGY, context_of(loop("1", 4), split_at="1r2", pins=frozenset(pins.split())), POLICY)
    assert ["" if m.kind == "summary" else m.id for m in outcome.messages] == left
    assert [c.id for m in outcome.messages for c in m.calls] == calls
    assert outcome.fate_counts[Fate.PINNED] == pinned


def test_a_head_of_pins_alone_is_nothing_to_compact() -> None:
    messages = [*loop("1", 0), *loop("2", 1)]
    outcome, _ = run(STRATEGY, context_of(messages, split_at="2u", pins=frozenset({"1u", "1z"})), POLICY)
    assert outcome.reason == "nothing to compact: every message of the head is kept"
