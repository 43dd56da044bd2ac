"""The grammar of standing instructions: where a clause begins, and that reading any sentence comes to an end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from workbench.facts.standing import rules_in_text
from workbench.facts.standing_grammar import grammar
from workbench.facts.word_tables import LANGUAGES, SPACED, table
from workbench.facts.wording import LONGEST_SENTENCE, normalize

SENTENCES = [
    normalize(line.removeprefix("+ ").removeprefix("- "))
    for file in sorted(Path(__file__).with_name("sentences").glob("*.txt"))
    for line in file.read_text("utf-8").splitlines()
]
BEGINNINGS = (
    "please use tabs.", "ok, from now on use tabs", "- use tabs", "it is long; use tabs", "(use tabs)", "'use tabs'",
    "well — use tabs", "from now on, please: use tabs", "in every answer please use tabs", "they use tabs",
    "the use of tabs", "a-use tabs", "please please use tabs", "please", "", "…", "a - b - use tabs", "so:use tabs",
)  # fmt: skip


def as_one_pattern(language: str, role: str) -> re.Pattern[str]:
    """The role with all that a clause can begin with, as it was first written."""
    words = table(language, "standing")
    before = "|".join(words[one] for one in ("link", "please", "scope", "whole"))
    begins = rf"(?:^\W*|[,;:.!?—–(] ?| - |\b(?:{before})[,:]? )(?:(?:{before})[,:]? )?"
    return re.compile(rf"{begins}(?:{words[role]})(?!\w)")


@pytest.mark.parametrize("language", SPACED)
def test_where_a_clause_begins_is_found_for_all_roles_at_once(language: str) -> None:
    found = grammar(language)
    assert len(found.beginning) >= 5
    patterns = {role: as_one_pattern(language, role) for role in found.beginning}
    for low in (*SENTENCES, *BEGINNINGS):
        wanted = {role for role, pattern in patterns.items() if pattern.search(low)}
        assert found.found(low) & patterns.keys() == wanted, low
    assert any(pattern.search(low) for low in SENTENCES for pattern in patterns.values())


LONG_WORDS = (
    "a" * 30,
    "a" * 90,
    "a" * 600,
    "a-" * 60,
    "aé" * 40,
    "/a.b" * 40,
    "a " * 60,
    "a, " * 60,
    "(a " * 60,
    "1 " * 90,
)
AROUND = (
    "{}", "no {} x x x x x x x x x x x", "(never {} ", "{}, not {} x x x x", "{} only x", "not {}",
    "zero {} x x x x x x", "sin {} x x x x x x x x x x x", "aucun {} x x x x x x x x x x x",
    "без {} x x x x x x x x x x x", "{}, не {} x x x", "sem {} x x x x x x x x x x x",
    "{}, nicht {} x x x x", "проверяй{} x x x x x x x x x",
)  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_whatever_a_sentence_holds_looking_for_the_roles_comes_to_an_end(language: str) -> None:
    """Words that could be divided in many ways were, for hours: "no https://example.com/…" in an order of ten words."""
    for around in AROUND:
        for word in LONG_WORDS:
            grammar(language).found(around.replace("{}", word)[:LONGEST_SENTENCE])


def test_a_rule_about_a_long_name_is_found() -> None:
    rule = (
        f"No src/workbench/{'very_long_module_name_' * 4}.py in every commit message and in all of the answers to me."
    )
    assert rules_in_text(rule) == ((rule, "a rule"),)
