"""What every validator has in common: sentences with their place, a limit, and an end to any file."""

from __future__ import annotations

import json

import pytest

from tests.formats.written import WRITTEN
from workbench.base.values import DEEPEST
from workbench.formats import registry
from workbench.formats.faults import (
    LONGEST,
    MOST,
    SPARE_TOKENS,
    Faults,
    StopValidation,
    _counts,
    document,
    excess_tokens,
    require_list,
    validator,
)

IDS = [known.id for known in registry.formats()]


def found(count: int) -> list[str]:
    @validator
    def validate(data: bytes) -> Faults:
        yield from (f"Line {number} is odd." for number in range(1, count + 1))

    return validate(b"")


@pytest.mark.parametrize(
    ("count", "more"), [(MOST - 1, []), (MOST, []), (MOST + 1, ["1 more fault."]), (MOST + 2, ["2 more faults."])]
)
def test_no_more_faults_are_told_than_the_limit(count: int, more: list[str]) -> None:
    assert found(count) == [f"Line {number} is odd." for number in range(1, min(count, MOST) + 1)] + more


@pytest.mark.parametrize(("size", "kept"), [(LONGEST - 1, True), (LONGEST, True), (LONGEST + 1, False)])
def test_a_fault_that_names_what_the_file_says_is_cut(size: int, kept: bool) -> None:
    @validator
    def validate(data: bytes) -> Faults:
        yield "x" * size

    assert validate(b"") == ["x" * size if kept else "x" * (LONGEST - 1) + "…"]


def test_a_fault_that_names_an_id_with_line_ends_stays_one_line() -> None:
    @validator
    def validate(data: bytes) -> Faults:
        yield "Message 1 has the result \na\x00\x7f\u2028é, which answers no call."

    assert validate(b"") == ["Message 1 has the result \\na\\x00\\x7f\\u2028é, which answers no call."]


def test_what_was_found_before_the_end_is_told_too() -> None:
    @validator
    def validate(data: bytes) -> Faults:
        yield "First."
        require_list([], "messages")

    assert validate(b"") == ["First.", "There are no messages."]


def test_a_document_that_is_none() -> None:
    with pytest.raises(StopValidation, match=r"^It is not a JSON document: .*\.$"):
        document(b"{")


@pytest.mark.parametrize("over", [0, 1])
def test_a_count_may_claim_what_is_sent_and_some_more(over: int) -> None:
    tokens = len(json.dumps({"a": 1})) + SPARE_TOKENS + over
    told = [f"Line 1 claims {tokens} tokens, more than the context can have."] if over else []
    assert list(excess_tokens("Line 1", tokens, [{"a": 1}])) == told


@pytest.mark.parametrize("id", [known.id for known in WRITTEN if known.id != "aider"])
@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"7", b"[" * 100_000, b'{"a":' * 900 + b"1" + b"}" * 900], ids=range(6)
)
def test_every_validator_speaks_in_whole_sentences(id: str, data: bytes) -> None:
    faults = registry.by_id(id).codec.validate(data)
    assert faults
    assert all(fault[0].isupper() and fault.endswith(".") for fault in faults)


@pytest.mark.parametrize(("levels", "found"), [(DEEPEST, 1), (DEEPEST + 1, 0), (20_000, 0)])
def test_counts_are_looked_at_as_deep_as_a_session_goes(levels: int, found: int) -> None:
    """Deeper values cannot be read, and no walk through them ends in an error of its own."""
    value: object = {"input_tokens": -1}
    for _ in range(levels):
        value = {"a": value}
    assert len(list(_counts(value))) == found
