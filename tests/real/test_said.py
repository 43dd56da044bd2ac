"""Answers that people really gave through question tools: every one is read, found, and told in a summary."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.compaction.ledger.gather import ledger_entries
from workbench.compaction.summary_request import Summary, SummaryRequest, TextBody
from workbench.conformance.building import context_of
from workbench.facts.all_facts import find_facts
from workbench.facts.answers import user_answers
from workbench.facts.standing import standing_rules
from workbench.formats.files import load
from workbench.summarizers.extractive import DEFAULT_CHARS, extractive


@pytest.mark.parametrize(
    ("name", "chosen"),
    [("claude-code/starcar-071b084-2.1.217.jsonl", 21), ("copilot-cli/starcar-a9fe109-compactions.jsonl", 3)],
)
def test_every_choice_is_kept(name: str, chosen: int, shared: Path) -> None:
    messages = load(shared / "sessions-more" / name).messages
    picked = [answer.text for answer in user_answers(messages) if answer.chosen]
    assert len(picked) == chosen
    decided = [fact.text for fact in find_facts(messages) if fact.kind == "decision" and fact.detail]
    assert [text for text in decided if text in picked] == picked
    told = extractive(SummaryRequest("summary", messages, "", TextBody(str), max_chars=2 * DEFAULT_CHARS))
    assert isinstance(told, Summary)
    assert [text for text in picked if f"- {text} (asked: " not in told.text] == []
    kept = [one.entry.text for one in ledger_entries(context_of(messages)) if one.entry.state == "answer"]
    assert sorted(text for text in kept if text in picked) == sorted(picked)


def test_what_was_said_for_good_and_no_crash_log(shared: Path) -> None:
    said = [
        one.fact.text
        for one in standing_rules(load(shared / "sessions-more/claude-code/starcar-071b084-2.1.217.jsonl").messages)
    ]
    for_good = [
        "Standing Orders: Never commit to",
        "Documents, like code, is living ",
        "New standing item: at the start ",
        "Off the shelf tools that we can ",
    ]
    assert [text[:32] for text in said if text.startswith(tuple(for_good))] == for_good
    assert len(said) <= len(for_good) + 3
    pasted = standing_rules(load(shared / "sessions-more/pi/raquezha-336e9c5-fork.jsonl").messages)
    assert [one.fact.text for one in pasted if "visibleWidth" in one.fact.text] == []
