"""What is a standing instruction, in four languages, and which one replaces which."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.facts.talk import agent, user
from workbench.facts.said import is_instruction
from workbench.facts.standing import PIN_REASON, standing

SENTENCES = Path(__file__).with_name("sentences")


@pytest.mark.parametrize(("name", "stands"), [("standing", True), ("ordinary", False)])
def test_standing_instructions_are_found_and_ordinary_sentences_are_not(name: str, stands: bool) -> None:
    sentences = (SENTENCES / f"{name}.txt").read_text("utf-8").splitlines()
    assert len(sentences) >= 60
    assert [sentence for sentence in sentences if is_instruction(sentence) is not stands] == []


@pytest.mark.parametrize(
    ("earlier", "later", "replaces"),
    [
        ("Answer in French.", "From now on, answer in English.", True),
        ("请用中文回答", "以后请用英文回答", True),
        ("Use npm, not yarn.", "Use pnpm instead of npm.", True),
        ("Two spaces, not tabs.", "Four spaces, not tabs.", True),
        ("Never add comments.", "Always add comments.", True),
        ("Summaries: at most 100 words.", "Summaries: at most 200 words.", True),
        ("Verwende npm statt yarn.", "Verwende pnpm statt npm.", True),
        ("Use npm, not yarn.", "We use pnpm now, no longer npm.", True),
        ("Utilise npm, pas yarn.", "Utilise pnpm au lieu de npm.", True),
        ("Never push to main.", "Never delete the backups.", False),
        ("Use pnpm instead of npm.", "Use ruff instead of flake8.", False),
        ("Answer in French.", "Never push to main.", False),
        ("No emojis in commit messages.", "No new dependencies please", False),
        ("不要修改测试文件", "不要提交到主分支", False),
    ],
)
def test_the_latest_wins_of_what_speaks_of_one_thing(earlier: str, later: str, replaces: bool) -> None:
    first, second = standing([user(earlier), agent("Sure."), user(later)])
    assert (first.superseded_by, second.superseded_by) == (second.fact if replaces else None, None)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Never touch the migrations.", "OK, you may touch the migrations now."),
        ("Ändere die Tests nicht.", "Du darfst die Tests jetzt ändern."),
        ("不要修改测试文件", "现在可以修改测试文件了"),
    ],
)
def test_a_prohibition_can_be_taken_back(earlier: str, later: str) -> None:
    (only,) = standing([user(earlier), agent("Sure."), user("You can push now."), user(later)])
    assert only.fact.text == earlier
    assert only.superseded_by is not None
    assert only.superseded_by.text == later


def test_pin_passages_stand_and_repetitions_count_once() -> None:
    messages = [
        user("Build it. <Pin>The port is 8080,\nand stays so.</Pin> Never push."),
        agent("<Pin>not mine</Pin> I will never push."),
        user("```\nNever in code.\n```\nnever push."),
        user("Never from a summary.", kind="summary"),
    ]
    pin, push = standing(messages)
    assert (pin.fact.text, pin.reason, pin.fact.message) == (
        "The port is 8080,\nand stays so.",
        PIN_REASON,
        messages[0].id,
    )
    assert (push.fact.text, push.fact.message) == ("never push.", messages[2].id)
