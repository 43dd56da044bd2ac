"""Records that name the record before them: the links that a repair leaves, and its branches."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from workbench.base.errors import BadInput
from workbench.formats.fixes import Branch, Fault
from workbench.formats.kit.links import Links, drop_copies, link
from workbench.formats.kit.sheet import RepairSheet, SheetEntry, new_entry


def links() -> Links:
    made: Iterator[int] = count(1)
    return Links(
        id="id",
        parent="up",
        linked=lambda entry: "up" in entry.object,
        is_message=lambda entry: entry.object["kind"] in ("say", "result"),
        restarts=lambda entry: entry.object["kind"] == "boundary",
        is_result=lambda entry: entry.object["kind"] == "result",
        new_id=lambda: f"new{next(made)}",
    )


def record(id: Any, up: Any, kind: str = "say") -> dict[str, Any]:
    return {"id": id, "up": up, "kind": kind}


def sheet_of(*values: dict[str, Any], branch: int | None = None) -> RepairSheet:
    entries = [SheetEntry(json.dumps(value).encode(), value, place) for place, value in enumerate(values, 1)]
    return RepairSheet(entries, name="s.jsonl", branch=branch)


def shown(sheet: RepairSheet) -> list[tuple[Any, Any]]:
    """Each record's id and parent, as its bytes have them."""
    return [(value.get("id"), value.get("up")) for value in (json.loads(one.raw) for one in sheet.entries)]


def fixes(sheet: RepairSheet) -> list[tuple[str, Fault, str]]:
    return [(fix.place, fix.fault, fix.subject) for fix in sheet.fixes]


def linked(*values: dict[str, Any], branch: int | None = None) -> RepairSheet:
    sheet = sheet_of(*values, branch=branch)
    link(sheet, links())
    return sheet


A, B, C = record("a", None), record("b", "a"), record("c", "b")


@pytest.mark.parametrize(
    "values",
    [
        [],
        [{"kind": "title"}],
        [A, {"kind": "title"}, B, C],
        [A, B, record("x", "a"), record("y", "x")],
        [A, record("x", None), B],
        [A, {"id": "a", "kind": "title"}, B],
    ],
)
def test_a_file_with_sound_links_is_unchanged_and_no_branch_is_listed(values: list[dict[str, Any]]) -> None:
    sheet = linked(*values)
    assert ([one.value for one in sheet.entries], sheet.fixes, sheet.branches) == (values, [], [])
    assert not any(one.changed for one in sheet.entries)


def test_a_dangling_record_is_linked_to_the_one_before() -> None:
    sheet = linked(A, B, {"kind": "title"}, record("d", "c"), record("e", "d"))
    assert shown(sheet) == [("a", None), ("b", "a"), (None, None), ("d", "b"), ("e", "d")]
    assert (fixes(sheet), sheet.branches) == ([("line 4", Fault.DANGLING_PARENT, "line 2")], [])


@pytest.mark.parametrize("up", ["gone", "b", "a", 7])
def test_the_first_record_has_no_parent(up: Any) -> None:
    sheet = linked(record("a", up), B)
    assert shown(sheet) == [("a", None), ("b", "a")]
    assert fixes(sheet) == [("line 1", Fault.DANGLING_PARENT, "nothing")]


def test_copies_are_removed_whatever_surrounds_them_and_other_records_are_not() -> None:
    sheet = sheet_of(A, B, {"kind": "title"}, {"kind": "title"}, B, C, B)
    sheet.entries[4].raw += b" "
    link(sheet, links())
    assert [one.place for one in sheet.entries] == [1, 2, 3, 4, 6]
    assert fixes(sheet) == [
        ("line 5", Fault.REPEATED_RECORD, "line 2"),
        ("line 7", Fault.REPEATED_RECORD, "line 2"),
    ]
    whole = sheet_of(A, A, B)
    drop_copies(whole, whole.entries[1:])
    assert (len(whole.entries), whole.fixes) == (3, [])


def test_a_repeated_id_is_replaced_and_later_records_follow_the_newer_one() -> None:
    sheet = linked(A, B, record("c", "b"), record("b", "c"), record("d", "b"), record("f", "b"))
    assert shown(sheet) == [("a", None), ("b", "a"), ("c", "b"), ("new1", "c"), ("d", "new1"), ("f", "new1")]
    assert fixes(sheet) == [("line 4", Fault.REPEATED_ID, "line 2")]


@pytest.mark.parametrize("id", ["", None, 7])
def test_a_missing_id_is_made(id: Any) -> None:
    sheet = linked(A, record(id, "a"), record("c", "a"))
    assert shown(sheet)[1] == ("new1", "a")
    assert ("line 2", Fault.MISSING_FIELD, "id") in fixes(sheet)


def test_two_repeated_ids_get_each_their_own() -> None:
    sheet = linked(A, B, record("b", "b"), record("b", "b", "result"), record("c", "b"))
    assert shown(sheet) == [("a", None), ("b", "a"), ("new1", "b"), ("new2", "new1"), ("c", "new2")]
    assert fixes(sheet) == [("line 3", Fault.REPEATED_ID, "line 2"), ("line 4", Fault.REPEATED_ID, "line 2")]


# -- Branches

FORK = (A, B, C, record("d", "c"), record("e", "gone"), record("x", "a"), record("y", "x"))
"""A longer branch that ends on line 5, whose link is damaged, and a newer one that ends on line 7."""


def test_where_links_were_damaged_the_longest_branch_is_made_the_newest() -> None:
    sheet = linked(*FORK)
    assert shown(sheet) == [
        ("a", None), ("x", "a"), ("y", "x"), ("b", "a"), ("c", "b"), ("d", "c"), ("e", "d"),
    ]  # fmt: skip
    assert fixes(sheet) == [("line 5", Fault.DANGLING_PARENT, "line 4"), ("file", Fault.OTHER_BRANCH, "5")]
    assert sheet.branches == [Branch(5, 5, False, True), Branch(7, 3, True, False)]


def test_a_repeated_id_is_damage_too_and_the_branch_is_moved_with_all_that_follows_it() -> None:
    notes = [record("n", "c", "note"), record("m", "c", "note"), record("k", "n", "note"), record("l", "m", "note")]
    sheet = linked(A, B, C, record("c", "c"), *notes, record("x", "a"))
    assert [one.place for one in sheet.entries] == [1, 9, 2, 3, 4, 5, 6, 7, 8]
    assert fixes(sheet) == [("line 4", Fault.REPEATED_ID, "line 3"), ("file", Fault.OTHER_BRANCH, "4")]
    assert sheet.branches == [Branch(4, 4, False, True), Branch(9, 2, True, False)]


def test_the_live_branch_stays_if_it_is_as_long() -> None:
    sheet = linked(A, record("b", "gone"), C, record("x", "a"), record("y", "x"))
    assert [one.place for one in sheet.entries] == [1, 2, 3, 4, 5]
    assert sheet.branches == [Branch(3, 3, False, False), Branch(5, 3, True, True)]
    assert fixes(sheet) == [("line 2", Fault.DANGLING_PARENT, "line 1")]


def test_of_two_other_branches_of_one_length_the_newer_is_made_the_newest() -> None:
    sheet = linked(A, record("b", "gone"), C, record("x", "a"), record("y", "x"), record("z", "a"))
    assert [one.place for one in sheet.entries] == [1, 2, 3, 6, 4, 5]
    assert [(one.line, one.live, one.chosen) for one in sheet.branches] == [
        (3, False, False), (5, False, True), (6, True, False),
    ]  # fmt: skip


def test_the_chosen_branch_is_made_the_newest_without_damage_too() -> None:
    sound = [A, B, C, record("x", "a"), {"kind": "title"}, record("y", "x")]
    sheet = linked(*sound, branch=3)
    assert [one.place for one in sheet.entries] == [1, 4, 5, 6, 2, 3]
    assert fixes(sheet) == [("file", Fault.OTHER_BRANCH, "3")]
    assert sheet.branches == [Branch(3, 3, False, True), Branch(6, 3, True, False)]
    live = linked(*sound, branch=6)
    assert ([one.place for one in live.entries], live.fixes) == ([1, 2, 3, 4, 5, 6], [])
    assert live.branches == [Branch(3, 3, False, False), Branch(6, 3, True, True)]


def test_a_shorter_branch_may_be_chosen_where_links_were_damaged() -> None:
    sheet = linked(*FORK, branch=7)
    assert [one.place for one in sheet.entries] == [1, 2, 3, 4, 5, 6, 7]
    assert fixes(sheet) == [("line 5", Fault.DANGLING_PARENT, "line 4")]
    assert [one.chosen for one in sheet.branches] == [False, True]


@pytest.mark.parametrize("branch", [2, 9])
def test_a_line_on_which_no_branch_ends_is_refused(branch: int) -> None:
    with pytest.raises(BadInput) as raised:
        linked(A, B, C, record("x", "a"), branch=branch)
    assert str(raised.value) == f"s.jsonl: no branch ends on line {branch}; branches end on lines 3, 4."


def test_a_branch_ends_on_its_newest_message_whatever_follows() -> None:
    side = [record("n", "c", "note"), record("m", "n", "note")]
    sheet = linked(A, B, C, *side, record("x", "a"), record("w", "x", "note"), branch=3)
    assert sheet.branches == [Branch(3, 3, False, True), Branch(6, 2, True, False)]
    assert [one.place for one in sheet.entries] == [1, 6, 7, 2, 3, 4, 5]


def test_a_note_beside_a_chain_that_goes_on_is_no_branch() -> None:
    sheet = linked(A, record("n", "a", "note"), B, record("m", "b", "note"), record("k", "m", "note"), C, branch=6)
    assert sheet.branches == []
    deep = linked(A, record("n", "a", "note"), record("m", "a", "note"), record("b", "m"), branch=4)
    assert deep.branches == []


def test_a_result_beside_a_chain_that_goes_on_is_no_branch() -> None:
    sheet = linked(A, B, record("r", "b", "result"), C, branch=4)
    assert sheet.branches == []
    alone = linked(A, record("r", "a", "result"), record("x", None), branch=3)
    assert alone.branches == [Branch(2, 2, False, False), Branch(3, 1, True, True)]


def test_a_boundary_continues_the_chain_before_it_under_no_parent() -> None:
    sheet = linked(A, B, record("o", None, "boundary"), record("s", "o"), record("t", "gone"), branch=5)
    assert fixes(sheet) == [("line 5", Fault.DANGLING_PARENT, "line 4")]
    assert (shown(sheet)[2], sheet.branches) == (("o", None), [])
    fork = linked(A, B, record("o", None, "boundary"), record("s", "o"), record("x", "o"), branch=4)
    assert fork.branches == [Branch(4, 3, False, True), Branch(5, 3, True, False)]


def test_a_file_without_messages_has_no_branch() -> None:
    sheet = linked(record("n", None, "note"), record("m", "gone", "note"), branch=7)
    assert (sheet.branches, [one.place for one in sheet.entries]) == ([], [1, 2])


# -- Records inserted and removed


def rows(change: Callable[[RepairSheet, Links], None], *values: dict[str, Any]) -> list[tuple[Any, Any]]:
    sheet = sheet_of(*values)
    change(sheet, links())
    return shown(sheet)


NEW = {"id": "n", "up": "?", "kind": "say"}


def test_a_record_is_inserted_before_another_and_after_the_last() -> None:
    def before(sheet: RepairSheet, known: Links) -> None:
        known.insert_before(sheet, sheet.entries[1], new_entry(NEW, 9))

    def after(sheet: RepairSheet, known: Links) -> None:
        known.append(sheet, sheet.entries[1], new_entry(NEW, 9))

    assert rows(before, A, B, C) == [("a", None), ("n", "a"), ("b", "n"), ("c", "b")]
    assert rows(after, A, B, {"kind": "title"}) == [("a", None), ("b", "a"), ("n", "b"), (None, None)]


def test_what_follows_a_removed_record_follows_its_parent() -> None:
    values = (A, B, C, record("x", "b"), {"id": "b2", "kind": "title", "parent": "b"})

    def remove(sheet: RepairSheet, known: Links) -> None:
        known.remove(sheet, sheet.entries[1])

    def unlink(sheet: RepairSheet, known: Links) -> None:
        known.unlink(sheet, sheet.entries[1])

    assert rows(remove, *values) == [("a", None), ("c", "a"), ("x", "a"), ("b2", None)]
    assert rows(unlink, *values) == [("a", None), ("b", "a"), ("c", "a"), ("x", "a"), ("b2", None)]
    nameless = [A, record("", "a"), record("c", "")]
    assert rows(unlink, *nameless) == [("a", None), ("", "a"), ("c", "")]


def test_a_new_record_has_an_id_and_no_parent() -> None:
    made = links().new_record({"kind": "say", "id": "old", "up": "old"}, 4)
    assert (made.value, made.place, made.changed) == (record("new1", None), 4, True)
    default = Links("id", "up", lambda entry: True, lambda entry: True)
    ids = {default.new_record({}, 1).object["id"] for _ in range(2)}
    assert [len(id) for id in ids] == [36, 36]
    assert not default.restarts(made)
    assert not default.is_result(made)


def test_values_of_another_type_are_no_ids() -> None:
    known, entry = links(), sheet_of(record(1, ["a"])).entries[0]
    assert (known.id_of(entry), known.parent_of(entry)) == ("", "")
