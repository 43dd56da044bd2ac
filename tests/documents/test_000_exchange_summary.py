"""The rules of document 000: `exchange-summary`, `memories-rewrite`, how much of a session is shown."""

from __future__ import annotations

import pytest

from tests.documents.rules import rule
from workbench.compaction.exchange.cut import preprocess
from workbench.compaction.strategies.exchange_summary import ExchangeSummaryPolicy


@pytest.mark.parametrize(
    "field",
    [
        pytest.param("trigger_on_history_size_chars", id="000-009"),
        pytest.param("trigger_on_history_size_chars_when_cache_expiring", id="000-010"),
        pytest.param("history_tail_size_chars_to_exclude", id="000-011"),
        pytest.param("cache_ttl_ms", id="000-012"),
        pytest.param("buffer_time_before_cache_expiration_ms", id="000-013"),
    ],
)
def test_numbers_that_are_off_by_default(field: str) -> None:
    assert getattr(ExchangeSummaryPolicy(), field) == 0


@rule("000-026", "000-027", "000-028", "000-030")
def test_what_stands_before_the_newest_summary_goes_and_other_versions_do_too() -> None:
    mixed = [None, 2, None, 3, None, 2, None]
    assert preprocess(mixed, current=3, enabled=True) == (3, 4, 6)
    assert preprocess([3, None, None], current=3, enabled=True) == (0, 1, 2)
    assert preprocess([None, 2, None, None], current=3, enabled=True) == (0, 2, 3)
    assert preprocess(mixed, current=3, enabled=False) == (0, 2, 4, 6)
