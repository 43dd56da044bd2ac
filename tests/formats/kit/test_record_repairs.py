"""Repairs of tool pairs, counts and rejected reasoning, on records in a small form of their own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from workbench.formats.fixes import Fault
from workbench.formats.kit.record_repairs import (
    Pairing,
    chars_of,
    no_negative_counts,
    pair,
    refused_reasoning,
    sum_of,
    with_results,
)
from workbench.formats.kit.sheet import RepairSheet, SheetEntry, new_entry
from workbench.session import Message, Records, Session, Text, ToolResult


def record(response: str = "", calls: str = "", results: str = "") -> dict[str, Any]:
    """A record with calls and results whose ids have one letter."""
    return {"response": response, "calls": [*calls], "results": [*results], "texts": []}


def sheet_of(*values: Any) -> RepairSheet:
    return RepairSheet([SheetEntry(json.dumps(value).encode(), value, place) for place, value in enumerate(values, 1)])


def as_text(entry: SheetEntry, nth: int) -> None:
    entry.put(("texts",), [*entry.object["texts"], entry.object["results"][nth]])
    entry.remove(("results",), [nth])


def answers(entry: SheetEntry, ids: Sequence[str]) -> list[SheetEntry]:
    return [new_entry(record(results=id), entry.place) for id in ids]


PAIRING = Pairing(
    calls=lambda entry: entry.object["calls"],
    results=lambda entry: entry.object["results"],
    response=lambda entry: entry.object["response"],
    as_text=as_text,
    answers=answers,
)


def shown(sheet: RepairSheet) -> list[str]:
    """Each record in short: response, calls, results, and results that are text."""
    return [
        "{}({}){}{}".format(
            one.object["response"],
            "".join(one.object["calls"]),
            "".join(one.object["results"]),
            "".join(f" {id}" for id in one.object["texts"]),
        )
        for one in sheet.entries
    ]


def fixes(sheet: RepairSheet) -> list[tuple[str, Fault, str]]:
    return [(fix.place, fix.fault, fix.subject) for fix in sheet.fixes]


def paired(*values: dict[str, Any]) -> RepairSheet:
    sheet = sheet_of(*values)
    pair(sheet, sheet.entries, PAIRING)
    return sheet


ASK = record()
DONE = record("z")


def test_pairs_in_order_stay_as_they_are() -> None:
    values = [ASK, record("m", "a"), record("m", "b"), record(results="b"), record(results="a"), DONE]
    sheet = paired(*values)
    assert ([one.value for one in sheet.entries], sheet.fixes) == (values, [])
    assert not any(one.changed for one in sheet.entries)


def test_a_call_at_the_end_still_waits_for_its_result() -> None:
    sheet = paired(ASK, record("m", "ab"), record(results="a"))
    assert (shown(sheet), fixes(sheet)) == (["()", "m(ab)", "()a"], [])


def test_early_results_are_moved_behind_the_last_of_their_calls() -> None:
    sheet = paired(ASK, record(results="ab"), record("m", "a"), record("m", "b"), ASK, DONE)
    assert shown(sheet) == ["()", "m(a)", "m(b)", "()ab", "()", "z()"]
    assert fixes(sheet) == [("line 2", Fault.EARLY_RESULT, "a, b")]


def test_several_early_results_stay_in_their_order_behind_those_in_place() -> None:
    sheet = paired(record(results="a"), ASK, record(results="b"), record("m", "abc"), record(results="c"), DONE)
    assert shown(sheet) == ["()", "m(abc)", "()c", "()a", "()b", "z()"]
    assert fixes(sheet) == [("line 1", Fault.EARLY_RESULT, "a"), ("line 3", Fault.EARLY_RESULT, "b")]


def test_early_results_without_a_turn_behind_their_call_become_text() -> None:
    sheet = paired(ASK, record(results="a"), record("m", "a"))
    assert shown(sheet) == ["()", "() a", "m(a)"]
    assert fixes(sheet) == [("line 2", Fault.ORPHAN_RESULT, "a")]


def test_an_early_result_that_cannot_be_moved_does_not_keep_others_from_it() -> None:
    sheet = paired(record(results="a"), record(results="b"), record("m", "b"), ASK, record("n", "a"))
    assert shown(sheet) == ["() a", "m(b)", "()b", "()", "n(a)"]


def test_a_missing_result_is_put_behind_all_of_its_response() -> None:
    sheet = paired(record("m", "a"), record("m"), ASK, DONE)
    assert shown(sheet) == ["m(a)", "m()", "()a", "()", "z()"]
    assert fixes(sheet) == [("line 1", Fault.MISSING_RESULT, "a")]


def test_a_record_with_one_early_result_among_others_becomes_text() -> None:
    sheet = paired(record("m", "a"), record(results="ab"), record("n", "b"), ASK, DONE)
    assert shown(sheet) == ["m(a)", "()a b", "n(b)", "()b", "()", "z()"]
    assert fixes(sheet) == [("line 2", Fault.ORPHAN_RESULT, "b"), ("line 3", Fault.MISSING_RESULT, "b")]


def test_an_early_result_inside_a_response_becomes_text() -> None:
    sheet = paired(record("k", results="a"), record("m", "a"), ASK)
    assert shown(sheet) == ["k() a", "m(a)", "()a", "()"]
    assert fixes(sheet) == [("line 1", Fault.ORPHAN_RESULT, "a"), ("line 2", Fault.MISSING_RESULT, "a")]


def test_orphans_and_repeated_results_become_text_from_the_last_on() -> None:
    sheet = paired(record("m", "a"), record(results="xaay"), DONE)
    assert shown(sheet) == ["m(a)", "()a y a x", "z()"]
    assert fixes(sheet) == [
        ("line 2", Fault.ORPHAN_RESULT, "y"),
        ("line 2", Fault.REPEATED_RESULT, "a"),
        ("line 2", Fault.ORPHAN_RESULT, "x"),
    ]


def test_a_call_that_uses_an_id_again_has_a_result_of_its_own() -> None:
    values = [record("m", "a"), record(results="a"), record("n", "a"), record(results="a"), DONE]
    sheet = paired(*values)
    assert ([one.value for one in sheet.entries], sheet.fixes) == (values, [])


def test_a_result_without_an_id_is_named_in_words() -> None:
    sheet = paired({**record(), "results": [""]}, DONE)
    assert fixes(sheet) == [("line 1", Fault.ORPHAN_RESULT, "a call without an id")]


def test_late_results_are_moved_to_their_calls() -> None:
    sheet = paired(record("m", "abc"), record(results="b"), ASK, DONE, record(results="ac"), ASK)
    assert shown(sheet) == ["m(abc)", "()b", "()ac", "()", "z()", "()"]
    assert fixes(sheet) == [("line 5", Fault.LATE_RESULT, "a, c")]


def test_late_results_in_several_records_stay_in_their_order() -> None:
    sheet = paired(record("m", "ab"), DONE, record(results="b"), record(results="a"))
    assert shown(sheet) == ["m(ab)", "()b", "()a", "z()"]
    assert fixes(sheet) == [("line 3", Fault.LATE_RESULT, "b"), ("line 4", Fault.LATE_RESULT, "a")]


def test_late_results_among_others_become_text_and_their_calls_get_new_results() -> None:
    sheet = paired(record("m", "abc"), ASK, record("n", "x"), record(results="axb"), record(results="c"), DONE)
    assert shown(sheet) == ["m(abc)", "()c", "()a", "()b", "()", "n(x)", "()x b a", "z()"]
    assert fixes(sheet) == [
        ("line 4", Fault.ORPHAN_RESULT, "b"),
        ("line 4", Fault.ORPHAN_RESULT, "a"),
        ("line 5", Fault.LATE_RESULT, "c"),
        ("line 1", Fault.MISSING_RESULT, "a"),
        ("line 1", Fault.MISSING_RESULT, "b"),
    ]
    assert [one.place for one in sheet.entries] == [1, 5, 1, 1, 2, 3, 4, 6]


def test_a_late_result_inside_a_response_becomes_text() -> None:
    sheet = paired(record("m", "a"), ASK, record("n", results="a"), DONE)
    assert shown(sheet) == ["m(a)", "()a", "()", "n() a", "z()"]
    assert fixes(sheet) == [("line 3", Fault.ORPHAN_RESULT, "a"), ("line 1", Fault.MISSING_RESULT, "a")]


def test_a_record_with_a_call_and_its_own_result_stays() -> None:
    sheet = paired(ASK, record("", "a", "a"), ASK, DONE)
    assert (shown(sheet), fixes(sheet)) == (["()", "(a)a", "()", "z()"], [])


def test_a_result_before_the_next_response_is_in_time() -> None:
    sheet = paired(record("m", "a"), ASK, record(results="a"), DONE)
    assert (shown(sheet), fixes(sheet)) == (["m(a)", "()", "()a", "z()"], [])


def test_edited_results_are_put_among_the_sent_records_in_file_order() -> None:
    """The session has messages for results of records that are not sent themselves."""
    sheet = sheet_of(ASK, record("m", "abc"), record(results="a"), record(results="b"), ASK, record(results="c"))
    edited = [Message(f"r{id}", "tool", (ToolResult(id, (Text("cleared"),)),)) for id in "bc"]
    session = Session("kit", Path("s.jsonl"), tuple(edited), Records(b""))
    sent = [sheet.entries[at] for at in (0, 1, 2, 4)]
    assert [one.place for one in with_results(sheet, sent, session, PAIRING)] == [1, 2, 3, 4, 5, 6]
    sent = [sheet.entries[at] for at in (0, 3, 5)]
    assert with_results(sheet, sent, session, PAIRING) == sent


# -- Counts


def test_negative_counts_are_zero_at_any_depth() -> None:
    usage = {"input": -1, "output": 0, "cache": {"read": -2.5, "write": 1}, "ok": True, "list": [-3], "word": "-4"}
    sheet = sheet_of({"id": -5, "usage": usage})
    no_negative_counts(sheet, sheet.entries[0], ("usage",))
    expected = {**usage, "input": 0, "cache": {"read": 0, "write": 1}}
    assert sheet.entries[0].value == {"id": -5, "usage": expected}
    assert fixes(sheet) == [
        ("line 1", Fault.NEGATIVE_COUNT, "usage.input"),
        ("line 1", Fault.NEGATIVE_COUNT, "usage.cache.read"),
    ]


@pytest.mark.parametrize(
    ("usage", "total"),
    [
        ({"in": 3, "out": 4, "other": 5}, 7),
        ({"in": 1, "out": 0}, 1),
        ({"in": -1, "out": 4}, 4),
        ({"in": True, "out": 2.0}, 0),
        ({"in": "3"}, 0),
        (None, 0),
    ],
)
def test_only_positive_whole_counts_are_added(usage: Any, total: int) -> None:
    assert sum_of(usage, ["in", "out"]) == total


def test_characters_are_those_of_the_json() -> None:
    assert chars_of([{"a": "é"}, "\n", 12]) == len('{"a": "é"}') + len('"\\n"') + len("12")
    assert chars_of([]) == 0


# -- Reasoning

MODIFIED = "messages.3: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified"
SIGNATURE = "messages.1.content.0: Invalid `signature` in `thinking` block"
ENCRYPTED = "The encrypted content could not be verified"
ORDER = "Expected `thinking` or `redacted_thinking`, but found `tool_use`"


def said(response: str, *blocks: str) -> dict[str, Any]:
    return {"response": response, "error": "", "content": [*blocks]}


def failed(error: str, response: str = "") -> dict[str, Any]:
    return {"response": response, "error": error, "content": ["think"]}


def without_reasoning(*values: dict[str, Any]) -> RepairSheet:
    sheet = sheet_of(*values)
    refused_reasoning(
        sheet,
        sheet.entries,
        lambda entry: entry.object["error"],
        lambda entry: (
            (("content",), [n for n, one in enumerate(entry.object["content"]) if one == "think"])
            if entry.object["content"]
            else None
        ),
        lambda entry: entry.object["response"],
    )
    return sheet


def contents(sheet: RepairSheet) -> list[list[str]]:
    return [one.object["content"] for one in sheet.entries]


@pytest.mark.parametrize("error", [SIGNATURE, ENCRYPTED, "Reasoning item\nwas invalid"])
def test_rejected_reasoning_is_removed_from_all_responses_before_the_error(error: str) -> None:
    sheet = without_reasoning(
        said("m", "think", "word", "think"),
        said("", "think"),
        failed("overloaded", "x"),
        said("n", "word"),
        said("o"),
        said("p", "think"),
        failed(error),
        said("", "think"),
    )
    kept = [["word"], ["think"], ["think"], ["word"], [], [], ["think"], ["think"]]
    assert contents(sheet) == kept
    assert fixes(sheet) == [("line 1", Fault.REFUSED_REASONING, "2"), ("line 6", Fault.REFUSED_REASONING, "1")]
    assert sheet.left == []


def test_an_error_about_the_latest_response_leaves_the_reasoning_before_it() -> None:
    responses = [said("m", "think"), said("o", "think"), said("n", "think"), said("n", "think", "word")]
    sheet = without_reasoning(*responses, failed(MODIFIED))
    assert contents(sheet) == [["think"], ["think"], [], ["word"], ["think"]]
    assert [place for place, _, _ in fixes(sheet)] == ["line 3", "line 4"]


def test_an_error_about_the_latest_response_without_one_changes_nothing() -> None:
    sheet = without_reasoning(said("", "think"), failed(MODIFIED))
    assert (contents(sheet), sheet.fixes, sheet.left) == ([["think"], ["think"]], [], [])


def test_a_response_after_the_error_shows_that_it_is_over() -> None:
    sheet = without_reasoning(said("m", "think"), failed(SIGNATURE), said("n", "think"))
    assert (contents(sheet), sheet.fixes) == ([["think"], ["think"], ["think"]], [])


def test_only_the_newest_rejection_counts_and_other_errors_after_it_do_not() -> None:
    sheet = without_reasoning(said("m", "think"), failed(SIGNATURE), failed("overloaded", "x"))
    assert fixes(sheet) == [("line 1", Fault.REFUSED_REASONING, "1")]
    sheet = without_reasoning(said("m", "think"), said("n", "think"), failed(SIGNATURE), failed(MODIFIED))
    assert fixes(sheet) == [("line 2", Fault.REFUSED_REASONING, "1")]


def test_a_wrong_order_of_reasoning_is_not_repaired() -> None:
    sheet = without_reasoning(said("m", "think"), failed(SIGNATURE), failed(ORDER))
    assert (contents(sheet), sheet.fixes) == ([["think"], ["think"], ["think"]], [])
    assert [(fix.place, fix.fault) for fix in sheet.left] == [("line 3", Fault.REFUSED_REASONING)]
