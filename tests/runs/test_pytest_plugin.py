"""The pytest plug-in, in a test of its own that passes and one that fails."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.commands import RULE, session_lines, write_lines
from workbench.pytest_plugin import CheckedCompaction, Compaction, compaction


def test_a_requirement_that_does_not_hold_fails_with_its_figure(compaction: Compaction, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "session.jsonl", session_lines())
    result = compaction(file, preset="trim")
    assert isinstance(result, CheckedCompaction)
    tokens = result.assessment.after.tokens
    result.require(keep=[RULE], max_tokens=tokens, tool_pairs=True)
    with pytest.raises(pytest.fail.Exception) as failed:
        result.require(keep=[RULE], max_tokens=tokens - 1)
    assert str(failed.value).startswith("max_tokens: ")
    assert len(str(failed.value).splitlines()) == 1


def test_a_summarizer_of_the_builder_is_asked(compaction: Compaction, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "session.jsonl", session_lines())
    asked: list[object] = []

    def summarize(request: object) -> str:
        asked.append(request)
        return f"The user wants this: {RULE}"

    result = compaction(file, preset="augment-example", summarize=summarize)
    assert asked
    result.require(keep=[RULE])


def test_the_plug_in_loads_nothing_before_it_is_used() -> None:
    assert compaction.__name__ == "compaction"
    source = Path(sys.modules["workbench.pytest_plugin"].__file__ or "").read_text("utf-8")
    before = source.split("@dataclass")[0]
    assert [line for line in before.splitlines() if line.startswith(("import workbench", "from workbench"))] == []
