"""`docs/documents.md` lists every rule of the documents, and a test with its id checks each rule that applies."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

from tests.documents.rules import RULE, held, rows
from tests.paths import ROOT

DOCUMENTS = [
    import_module(f"tests.documents.{path.stem}") for path in sorted(Path(__file__).parent.glob("test_00*.py"))
]
RULES = (124, 57, 66, 46, 18)


def test_every_rule_of_every_document_is_told_once_in_order() -> None:
    expected = [f"00{document}-{number:03}" for document, last in enumerate(RULES) for number in range(1, last + 1)]
    assert [row.id for row in rows()] == expected


def test_a_verdict_is_one_of_three_and_a_difference_says_why() -> None:
    verdict = re.compile(r"yes|differs: .+, because .+|does not apply: .+")
    assert [row for row in rows() if not verdict.fullmatch(row.verdict)] == []


def test_what_differs_is_told_under_its_strategy() -> None:
    told = RULE.findall((ROOT / "docs/strategies.md").read_text("utf-8"))
    assert sorted(told) == [row.id for row in rows() if row.verdict.startswith("differs")]


def test_every_rule_that_applies_has_a_test_that_bears_its_id() -> None:
    tested = sorted({id for module in DOCUMENTS for id in held(module)})
    assert tested == [row.id for row in rows() if not row.verdict.startswith("does not apply")]


def test_a_test_stands_in_its_documents_file() -> None:
    assert [id for module in DOCUMENTS for id in held(module) if f".test_{id[:3]}_" not in module.__name__] == []
