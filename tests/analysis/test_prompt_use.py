"""Prompts that can be compared, and the user's own that override the program's. Their rendering is in test_told."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.analysis.prompt_use import common_strategy, prompt_by_id, render_prompt
from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.compaction.edits import UNEDITED, Edits
from workbench.conformance.building import agent, chat, context_of, user


@pytest.mark.parametrize(
    ("ids", "chosen", "expected"),
    [
        (["context-reset.en"], "trim", "context-reset"),
        (["context-reset", "context-reset.zh"], "trim", "context-reset"),
        ([], "trim", "trim"),
        (
            ["context-reset", "user-messages"],
            "trim",
            "different strategies (context-reset, user-messages); choose prompts of one strategy",
        ),
        (["summary-node"], "trim", "is not sent to a model"),
        (["abridged-entry"], "trim", "is not sent to a model"),
    ],
)
def test_prompts_of_one_strategy_can_be_tried(ids: list[str], chosen: str, expected: str) -> None:
    several = [prompt_by_id(id) for id in ids]
    if " " not in expected:
        assert common_strategy(several, chosen) == expected
        return
    with pytest.raises(BadInput) as refused:
        common_strategy(several, chosen)
    assert expected in str(refused.value)


def test_the_users_prompt_overrides_the_programs_and_any_file_works(tmp_path: Path) -> None:
    own = paths.prompts() / "context-reset.en.md"
    own.parent.mkdir(parents=True)
    own.write_text("---\nid: context-reset\nlanguage: en\n---\nSum it up, all of it.", "utf-8")
    found = prompt_by_id("context-reset")
    assert (found.own, found.strategy, found.field, found.id) == (True, "context-reset", "prompt", "context-reset.en")
    other = tmp_path / "mine.md"
    other.write_text("---\nid: mine\nlanguage: en\n---\nMine, and in my words.", "utf-8")
    assert (prompt_by_id(str(other)).own, prompt_by_id(str(other)).prompt.text.strip()) == (
        True,
        "Mine, and in my words.",
    )
    assert prompt_by_id(str(other)).id == "mine"
    for wrong in ("nothing", str(tmp_path / "none.md"), str(tmp_path / "x.txt")):
        with pytest.raises(BadInput, match=r"There is no prompt .*; there are abridged-entry, "):
            prompt_by_id(wrong)


def test_a_request_is_shown_as_edits_by_hand_leave_it() -> None:
    context = context_of([user("u", "the first request"), agent("a", "an odd answer"), *chat(3)])
    one = prompt_by_id("context-reset")
    shown = [render_prompt(one, context, edits) for edits in (UNEDITED, Edits(frozenset({"a"})))]
    assert ["an odd answer" in text for text in shown] == [True, False]
