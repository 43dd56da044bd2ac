"""What is offered to write the summary, as it is typed for."""

from __future__ import annotations

import pytest

from workbench.summarizers.journal import Entry
from workbench.summarizers.model_list import Offered
from workbench.summarizers.named import Name
from workbench.tui.screens.choose_summarizer import choices, matching

KEPT = Entry("r1", 0.0, 1.0, "finished", "trim", "", "litellm:ok-2", "ok-2", "s", "/f.jsonl", "compacted", 1, 9, 9, 0.0)
OFFERED = {"anthropic": (Offered(id="claude-opus-4-5"),), "openai": (Offered(id="gpt-5"),)}
EVERY = choices(OFFERED, [KEPT], {"openai"})


RUN = Name("recorded", "r1")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("ok-2", [Name("anthropic", "ok-2"), RUN]),
        ("litellm/ok-2", [Name("litellm", "ok-2")]),
        ("litellm:ok-2", [Name("litellm", "ok-2"), RUN]),
        ("server:compact:openai/gpt-6", [Name("server", "compact:gpt-6", "openai")]),
        ("responses.compact gpt", [Name("server", "compact:gpt-5", "openai")]),
        ("refused", [Name("anthropic", "refused"), Name("rehearse", "refused")]),
    ],
)
def test_a_models_name_that_is_typed_stands_before_kept_runs_and_rehearsals(typed: str, offered: list[Name]) -> None:
    assert [choice.name for choice in matching(EVERY, typed) if choice.name] == offered
