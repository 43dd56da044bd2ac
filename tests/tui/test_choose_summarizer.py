"""What is offered to write the summary, as it is typed for."""

from __future__ import annotations

import pytest

from workbench.summarizers.by_name import SummarizerName
from workbench.summarizers.model_list import OfferedModel
from workbench.summarizers.run_history import RunRow
from workbench.tui.screens.choose_summarizer import ANSWERS, DRAFT, SummarizerJob, able, choices, matching

KEPT = RunRow(
    "r1", 0.0, 1.0, "finished", "trim", "", "litellm:ok-2", "ok-2", "s", "/f.jsonl", "compacted", 1, 9, 9, 0.0
)
OFFERED = {"anthropic": (OfferedModel(id="claude-opus-4-5"),), "openai": (OfferedModel(id="gpt-5"),)}
EVERY = choices(OFFERED, [KEPT], {"openai"})


RUN = SummarizerName("recorded", "r1")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("ok-2", [SummarizerName("anthropic", "ok-2"), RUN]),
        ("litellm/ok-2", [SummarizerName("litellm", "ok-2")]),
        ("litellm:ok-2", [SummarizerName("litellm", "ok-2"), RUN]),
        ("server:compact:openai/gpt-6", [SummarizerName("server", "compact:gpt-6", "openai")]),
        ("responses.compact gpt", [SummarizerName("server", "compact:gpt-5", "openai")]),
        ("refused", [SummarizerName("anthropic", "refused"), SummarizerName("rehearse", "refused")]),
    ],
)
def test_a_models_name_that_is_typed_stands_before_kept_runs_and_rehearsals(
    typed: str, offered: list[SummarizerName]
) -> None:
    assert [choice.name for choice in matching(EVERY, typed) if choice.name] == offered


@pytest.mark.parametrize(
    ("job", "typed", "offered"),
    [
        (ANSWERS, "", ["Offline", "looked up", "Models of anthropic", "claude-opus-4-5", "Models of openai", "gpt-5"]),
        (ANSWERS, "server:compact:gpt-6", []),
        (ANSWERS, "refused", ["As typed", "the model “refused”"]),
        (DRAFT, "hand", ["As typed", "the model “hand”"]),
    ],
)
def test_only_who_can_do_it_is_offered(job: SummarizerJob, typed: str, offered: list[str]) -> None:
    every = choices(OFFERED, [KEPT], {"openai"}, job)
    assert [choice.title for choice in able(matching(every, typed), job)] == offered
