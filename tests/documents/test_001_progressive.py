"""The rules of document 001: `progressive`."""

from __future__ import annotations

import pytest

from workbench.compaction.strategies.progressive import ProgressivePolicy


@pytest.mark.parametrize(
    ("field", "number"),
    [
        pytest.param("sliding_window_size", 9, id="001-045"),
        pytest.param("importance_score_threshold", 3.0, id="001-046"),
        pytest.param("incremental_summary_chunk_size", 20, id="001-047"),
        pytest.param("conversation_turn_threshold", 200, id="001-048"),
    ],
)
def test_default_numbers(field: str, number: float) -> None:
    assert getattr(ProgressivePolicy(), field) == number
