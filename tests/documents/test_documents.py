"""From document to test to code and back: `docs/documents.md` tells of every rule, and each that applies is held."""

from __future__ import annotations

import re

from tests.documents import (
    test_000_exchange_summary,
    test_000_memories,
    test_001_progressive,
    test_002_layered,
    test_003_message_window,
    test_004_context_reset,
)
from tests.documents.rules import RULE, held, rows
from tests.paths import ROOT

DOCUMENTS = (
    test_000_exchange_summary,
    test_000_memories,
    test_001_progressive,
    test_002_layered,
    test_003_message_window,
    test_004_context_reset,
)
RULES = (120, 57, 64, 46, 18)

UNHELD = """
    000-065 000-066 000-067 000-068 000-069 000-080 000-082 000-083 000-084 000-085 000-086 000-087 000-088
    000-089 000-090 000-091 000-092 000-094 000-096 000-097 000-098 000-099 000-114 000-118
    001-049
"""
"""Rules without a test as yet; ids only ever leave this list."""


def test_every_rule_of_every_document_is_told_once_in_order() -> None:
    expected = [f"00{document}-{number:03}" for document, last in enumerate(RULES) for number in range(1, last + 1)]
    assert [row.id for row in rows()] == expected


def test_a_verdict_is_one_of_four_and_a_difference_says_why() -> None:
    verdict = re.compile(r"as it says|differs: .+, because .+|does not apply: .+|not yet: .+")
    assert [row for row in rows() if not verdict.fullmatch(row.verdict)] == []


def test_what_differs_is_told_under_its_strategy() -> None:
    told = RULE.findall((ROOT / "docs/strategies.md").read_text("utf-8"))
    assert sorted(told) == [row.id for row in rows() if row.verdict.startswith("differs")]


def test_every_place_named_is_there() -> None:
    there = {
        path for row in rows() for path in row.where if (ROOT / path).is_file() or (ROOT / "workbench" / path).is_file()
    }
    assert {path for row in rows() for path in row.where} == there
    assert [row.id for row in rows() if not row.where and not row.verdict.startswith("does not apply")] == []


def test_every_rule_that_applies_has_a_test_that_bears_its_id() -> None:
    tested = {id for module in DOCUMENTS for id in held(module)}
    applying = {row.id for row in rows() if not row.verdict.startswith("does not apply")}
    assert tested - applying == set(), "tests for rules that are not told, or do not apply"
    assert applying - tested - set(UNHELD.split()) == set(), "rules without a test"


def test_a_test_stands_in_its_documents_file() -> None:
    strangers = {
        (module.__name__, id) for module in DOCUMENTS for id in held(module) if f"test_{id[:3]}_" not in module.__name__
    }
    assert strangers == set()
