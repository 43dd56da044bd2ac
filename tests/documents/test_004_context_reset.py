"""The rules of document 004: `context-reset`."""

from __future__ import annotations

import pytest

from tests.documents.rules import rule
from workbench.compaction.gauge import Gauge
from workbench.compaction.strategies.context_reset import ContextResetPolicy, triggers


@rule("004-008", "004-009")
@pytest.mark.parametrize(("chars", "fires"), [(719_999, False), (720_000, True)])
def test_it_fires_at_ninety_percent_of_the_window_estimated_at_four_characters_a_token(chars: int, fires: bool) -> None:
    gauge = Gauge(chars=chars, tokens=1, window=200_000)
    assert next(one for one in triggers(gauge, ContextResetPolicy()) if "90" in one.name).fires is fires
