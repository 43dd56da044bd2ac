"""Statements of the user and spellings of numbers, each at its border."""

from __future__ import annotations

import pytest

from tests.facts.talk import agent, user
from workbench.analysis.grounding import SummaryChecker, _spellings, claims_in


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        ("parser", True),
        ("parser harbour", True),
        ("sluice harbour", False),
        ("parser sluice harbour", False),
        ("parser lexer sluice harbour", True),
        ("parser lexer sluice harbour basin", False),
        ("parser barge sluice", False),
        ("parser lexer barge ferry weir", True),
        ("parser lexer barge ferry basin", True),
        ("parser lexer barge ferry basin gauge", False),
    ],
)
def test_half_of_the_words_are_in_one_message_or_four_fifths_in_all(subject: str, said: bool) -> None:
    checker = SummaryChecker([user("fix parser, lexer"), user("move barge, ferry")])
    assert checker._is_user_statement(subject) is said


@pytest.mark.parametrize(
    ("number", "spellings"),
    [
        ("999", ["999"]),
        ("1000", ["1000", "1,000", "1_000", "1 000"]),
        ("1,000", ["1,000", "1000", "1_000", "1 000"]),
        ("1_000.5", ["1_000.5", "1000.5", "1,000.5", "1 000.5"]),
        ("v1234", ["v1234"]),
        ("1.5", ["1.5"]),
    ],
)
def test_spellings_of_a_number(number: str, spellings: list[str]) -> None:
    assert [one.replace("\u202f", " ") for one in _spellings(number)] == spellings


@pytest.mark.parametrize(
    ("summary", "claims"),
    [
        ("It has 12 of 13.", [("number", "13", 13, 15)]),
        ("The user said " + "x" * 500, [("attribution", "x" * 399, 4, 413)]),
        ("See `ab` `abc`.", [("identifier", "abc", 10, 13)]),
        ('He said "one two three" and "one two".', [("quotation", "one two three", 9, 22)]),
    ],
)
def test_claims_with_their_positions(summary: str, claims: list[tuple[str, str, int, int]]) -> None:
    assert [(one.kind, one.subject, one.start, one.stop) for one in claims_in(summary)] == claims


def test_words_of_summaries_count_as_the_users() -> None:
    """A summary tells what the user said; an agent's message does not."""
    said = "parser lexer sluice harbour"
    assert SummaryChecker([], said)._is_user_statement(said)
    assert SummaryChecker([user(said, "summary")])._is_user_statement(said)
    assert not SummaryChecker([agent(said)])._is_user_statement(said)
    assert not SummaryChecker([])._is_user_statement(said)


@pytest.mark.parametrize(
    ("summary", "claims"),
    [
        ("```\nThe user said two.\n```\n", []),
        ("```\nx\n```\nThe user said two.", ["attribution two"]),
        ('"one two three"`', ["quotation one two three"]),
        ('`"one two three"` xx', []),
        ('"one two three" `x`', ["quotation one two three"]),
        ('`ab`\n"one two three"`abc`', ["quotation one two three", "identifier abc"]),
    ],
)
def test_fences_and_code_hold_no_statement(summary: str, claims: list[str]) -> None:
    assert [f"{claim.kind} {claim.subject}" for claim in claims_in(summary)] == claims
