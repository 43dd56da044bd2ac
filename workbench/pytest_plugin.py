"""A pytest plug-in: the fixture `compaction` compacts a session and checks what must hold afterwards.

    def test_the_rules_survive(compaction):
        result = compaction("sessions/long.jsonl", preset="claude-code")
        result.require(keep=["Never log the refresh token."], kept=0.8, tool_pairs=True)

Nothing of the program is imported before the fixture is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from workbench.api.summarize import Summarize
    from workbench.bench.assessment import Assessment

Compaction = Callable[..., "CheckedCompaction"]


@dataclass(frozen=True)
class CheckedCompaction:
    """A compaction of a session; `folder` is where rule files lie."""

    assessment: Assessment
    folder: Path

    def failures(self, **required: Any) -> list[str]:
        """The requirements that fail, a sentence each. Keywords are those of a `[[check]]`: keep, rule_files, rules,
        kept, correct, max_tokens, max_cost, tool_pairs, continuity, generations. Raises BadInput for a rule file that
        cannot be read, pydantic.ValidationError for an unknown keyword."""
        from workbench.runs.requirements import Requirements, failures

        wanted = Requirements.model_validate(required)
        return [f"{one.requirement}: {one.message}" for one in failures(self.assessment, wanted, self.folder)]

    def require(self, **required: Any) -> None:
        """Fail the test with every requirement that does not hold."""
        __tracebackhide__ = True
        if found := self.failures(**required):
            pytest.fail("\n".join(found), pytrace=False)


@pytest.fixture
def compaction(request: pytest.FixtureRequest) -> Compaction:
    """Compact a session and assess the result.

    compaction(session, preset="", epoch=None, window=None, summarize=None): `session` is a file, relative to the test's
    folder; `preset` a name or a file of settings, by default that of `workbench.compact`; `summarize` as there, and
    without it no model is asked. Raises BadInput for a file that is no session.
    """
    folder = request.path.parent

    def compact(
        session: str | Path,
        preset: str = "",
        *,
        epoch: int | None = None,
        window: int | None = None,
        summarize: Summarize | None = None,
    ) -> CheckedCompaction:
        from workbench.api.summarize import answer_with
        from workbench.bench import open_bench, with_counts
        from workbench.bench.assessment import compare
        from workbench.compaction.preset import load_preset, read_preset
        from workbench.compaction.strategies import DEFAULT
        from workbench.formats.files import load
        from workbench.summarizers.extractive import extractive
        from workbench.tokens import Counter

        counter = Counter(None)
        opened = open_bench(load(folder / session), counter, epoch=epoch, window=window)
        counter.count_all(opened.messages, lambda done, total: None, lambda: False)
        chosen = read_preset(folder / preset) if preset.endswith(".toml") else load_preset(preset or DEFAULT)
        answer = answer_with(summarize) if summarize else extractive
        (assessment,) = compare(with_counts(opened, counter), [chosen], answer)
        return CheckedCompaction(assessment, folder)

    return compact
