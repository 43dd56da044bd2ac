"""From document to test to code and back: `docs/documents.md` tells of every rule, and each that applies is held."""

from __future__ import annotations

import re

from tests.documents import (
    test_000_exchange_summary,
    test_001_progressive,
    test_002_layered,
    test_003_message_window,
    test_004_context_reset,
)
from tests.documents.rules import held, rows
from tests.paths import ROOT

DOCUMENTS = (
    test_000_exchange_summary,
    test_001_progressive,
    test_002_layered,
    test_003_message_window,
    test_004_context_reset,
)
RULES = (120, 57, 64, 46, 18)

UNHELD = """
    000-024 000-025 000-029 000-031 000-032 000-033 000-034 000-035 000-036 000-037 000-046 000-047 000-048
    000-049 000-050 000-051 000-052 000-053 000-054 000-055 000-056 000-057 000-058 000-059 000-060 000-061
    000-062 000-063 000-065 000-066 000-067 000-068 000-069 000-070 000-071 000-072 000-073 000-074 000-075
    000-076 000-077 000-078 000-079 000-080 000-082 000-083 000-084 000-085 000-086 000-087 000-088 000-089
    000-090 000-091 000-092 000-094 000-096 000-097 000-098 000-099 000-110 000-111 000-112 000-113 000-114
    000-115 000-116 000-117 000-118 000-119
    001-049
    002-001 002-002 002-003 002-004 002-005 002-006 002-007 002-008 002-009 002-010 002-011 002-012 002-013
    002-014 002-015 002-016 002-017 002-018 002-019 002-020 002-021 002-022 002-023 002-024 002-025 002-026
    002-027 002-028 002-029 002-030 002-031 002-032 002-033 002-034 002-035 002-036 002-037 002-038 002-039
    002-040 002-041 002-042 002-043 002-044 002-045 002-046 002-047 002-048 002-049 002-050 002-051 002-052
    002-053 002-054 002-056 002-058 002-059 002-060 002-063 002-064
"""
"""Rules without a test as yet; ids only ever leave this list."""


def test_every_rule_of_every_document_is_told_once_in_order() -> None:
    expected = [f"00{document}-{number:03}" for document, last in enumerate(RULES) for number in range(1, last + 1)]
    assert [row.id for row in rows()] == expected


def test_a_verdict_is_one_of_four_and_a_difference_says_why() -> None:
    verdict = re.compile(r"as it says|differs: .+, because .+|does not apply: .+|not yet: .+")
    assert [row for row in rows() if not verdict.fullmatch(row.verdict)] == []


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
