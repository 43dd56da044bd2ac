"""Figures of sessions after public reports, each with the right value that was worked out from the raw file."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.analysis.session_cost import session_cost
from workbench.compaction.opening import context_at
from workbench.formats.files import load
from workbench.session import Session
from workbench.tokens import Counter, to_weigh


def tokens_of(session: Session, epoch: int) -> int:
    counter = Counter()
    counter.count_all(to_weigh(session, epoch), lambda done, total: None, lambda: False)
    return context_at(session, epoch, counter).total.tokens


@pytest.mark.parametrize(
    ("name", "epoch", "tokens"),
    [
        ("cases/12-codex-impossible-usage.jsonl", 2, 15_900),  # A3
        ("cases/08-ends-at-boundary.jsonl", 2, 21_076),  # A4, Claude Code
        ("agents/files/codex/0.169-local-compaction.jsonl", 4, 13_961),  # A4
        ("agents/files/pi/0.73.1-after-compact.jsonl", 2, 24_711),  # A4
        ("cases/36-opencode-compacted-twice.json", 2, 85_075),  # A4
        ("cases/26-goose-open-call.jsonl", 1, 36_098 + 47),  # A17: the prompt and its answer
    ],
)
def test_a3_a4_a17_the_size_of_a_context(name: str, epoch: int, tokens: int, shared: Path) -> None:
    assert tokens_of(load(shared / name), epoch) == pytest.approx(tokens, abs=30)


def test_a3_usage_that_cannot_be_costs_nothing(shared: Path) -> None:
    cost = session_cost(load(shared / "cases/12-codex-impossible-usage.jsonl"))
    assert cost is not None
    assert cost.here == pytest.approx(2.376, abs=0.001)


def test_a15_calls_of_a_codex_fork_cost_once(shared: Path) -> None:
    parent, fork = map(load, sorted((shared / "cases/13-codex-fork").rglob("*.jsonl")))
    costs = [session_cost(parent), session_cost(fork)]
    assert [one and (one.calls, one.replayed) for one in costs] == [(7, 0), (2, 7)]
    assert [one.here for one in costs if one] == pytest.approx([0.3441, 0.0654], abs=1e-4)
    assert tokens_of(fork, 1) == pytest.approx(49_925, abs=5)  # the size of the context is that of all nine
