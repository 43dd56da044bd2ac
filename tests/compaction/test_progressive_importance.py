"""The importance score: its parts, its weights, and its values on real sessions (docs/importance.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from workbench.compaction.context import Layout
from workbench.compaction.progressive.importance import SIGNALS, ImportanceWeights, score, scores
from workbench.conformance.building import agent, call, context_of, result, user
from workbench.formats.files import load
from workbench.session import Message

REAL = ("spotter-fa812bfe", "entire-cd95add-3compactions", "entire-432b48f-progress")
THRESHOLD = 3.0


def layout_of(*messages: Message) -> Layout:
    return context_of(messages).layout


def parts(layout: Layout, index: int, **weights: Any) -> dict[str, float]:
    found = score(layout.shape, index, ImportanceWeights(**weights))
    assert found.total == pytest.approx(sum(part.points for part in found.parts), abs=1e-5)
    return {part.name: part.points for part in found.parts}


def test_a_score_is_the_sum_of_its_parts_and_says_which() -> None:
    layout = layout_of(user("u", "Never log tokens.\n" + "x" * 1_182), agent("a", "ok"), agent("b", "ok"))
    found = score(layout.shape, 0, ImportanceWeights())
    assert str(found) == "6.0 (request +3.0, instruction +2.0, length +1.0)"
    assert parts(layout, 2, length=0) == {"recency": 1.0}
    assert parts(layout, 1, length=0) == {"recency": 0.5}
    assert scores(layout.shape, ImportanceWeights()) == [
        score(layout.shape, i, ImportanceWeights()).total for i in range(3)
    ]


def test_each_signal() -> None:
    layout = layout_of(
        user("u", "please fix parse_all in src/a.py, see issue 4711"),
        agent("t", "", call("c1", "Bash", command="pytest tests")),
        result("tr", ("c1", "FAILED tests/a.py\nerror: boom"), error=True),
        agent(
            "e",
            "We decided to use a list instead.",
            call("c2", "Edit", file_path="src/a.py", old_string="a", new_string="b"),
        ),
        result("er", ("c2", "ok")),
        agent("t2", "", call("c3", "Bash", command="pytest tests")),
        result("t2r", ("c3", "3 passed")),
        agent("z", "parse_all works, 4711 can be closed"),
    )
    named = [set(parts(layout, i)) - {"recency", "length"} for i in range(8)]
    none: set[str] = set()
    assert named == [{"request", "reuse"}, none, {"error"}, {"decision", "fix", "change"}, none, {"fix"}, none, none]
    assert parts(layout, 0)["reuse"] == pytest.approx(1.0), "three names of six: parse_all, src/a.py, 4711"


def test_a_commit_is_a_change_and_a_failed_edit_is_none() -> None:
    layout = layout_of(
        agent("c", "", call("c1", "Bash", command="cd /p && git commit -m x")),
        result("cr", ("c1", "done")),
        agent("e", "", call("c2", "Edit", file_path="a", old_string="a", new_string="b")),
        result("er", ("c2", "no such text"), error=True),
    )
    assert [("change" in parts(layout, i)) for i in range(4)] == [True, False, False, False]


def test_what_tools_say_is_no_instruction() -> None:
    layout = layout_of(agent("a", "", call("c")), result("r", ("c", "Never do this. Always do that.")))
    assert set(parts(layout, 1)) == {"recency"}


def test_every_signal_has_its_weight_and_a_weight_of_nothing_silences_it() -> None:
    layout = layout_of(user("u", "Never log tokens."), agent("a", "ok"))
    assert score(layout.shape, 0, ImportanceWeights(**dict.fromkeys(SIGNALS, 0.0))).parts == ()


def test_thirds_that_add_up_to_the_threshold_reach_it() -> None:
    layout = layout_of(*(user(f"u{n}", "hi") for n in range(4)))
    third = {**dict.fromkeys(SIGNALS, 0.0), "recency": 9.0}
    assert scores(layout.shape, ImportanceWeights(**third)) == [0, 3, 6, 9]


@pytest.mark.parametrize("name", REAL)
def test_on_real_sessions_5_to_40_percent_are_important(shared: Path, name: str) -> None:
    session = load(shared / "sessions" / "claude-code" / f"{name}.jsonl")
    for epoch in session.epochs:
        points = scores(layout_of(*session.context(epoch.number)).shape, ImportanceWeights())
        share = sum(point >= THRESHOLD for point in points) / len(points)
        assert 0.05 <= share <= 0.40, f"{name}, epoch {epoch.number}: {share:.1%} of {len(points)}"
