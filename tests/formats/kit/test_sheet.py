"""A file under repair: values replaced in place, and the bytes of the whole file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from workbench.formats.fixes import Fault, Fix
from workbench.formats.kit.sheet import RepairSheet, SheetEntry, entry_of, new_entry, value_at
from workbench.session import Records, Session

VALUE = {"a": [{"b": 1}, 2], "c": {"d": None}}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((), VALUE),
        (("a",), VALUE["a"]),
        (("a", 0), {"b": 1}),
        (("a", 0, "b"), 1),
        (("a", 1), 2),
        (("a", 2), None),
        (("a", -1), None),
        (("a", "b"), None),
        ((0,), None),
        (("c", "d"), None),
        (("c", "d", "e"), None),
        (("x",), None),
    ],
)
def test_a_value_by_its_path(path: tuple[str | int, ...], value: Any) -> None:
    assert value_at(VALUE, path) == value


def entry(raw: bytes, value: Any, place: int = 1, lead: bytes = b"") -> SheetEntry:
    return SheetEntry(raw, value, place, lead)


@pytest.mark.parametrize(
    ("path", "raw"),
    [
        ((), b'{"x":1}'),
        (("a",), '{"é": "ü",  "a": {"x":1}, "c": {"d": null}}'.encode()),
        (("a", 1), '{"é": "ü",  "a": [{"b": 1} , {"x":1}], "c": {"d": null}}'.encode()),
        (("a", 0, "b"), '{"é": "ü",  "a": [{"b": {"x":1}} , 2], "c": {"d": null}}'.encode()),
        (("c", "d"), '{"é": "ü",  "a": [{"b": 1} , 2], "c": {"d": {"x":1}}}'.encode()),
        (("c", "e"), '{"é": "ü",  "a": [{"b": 1} , 2], "c": {"d": null,"e":{"x":1}}}'.encode()),
        (("é",), '{"é": {"x":1},  "a": [{"b": 1} , 2], "c": {"d": null}}'.encode()),
    ],
)
def test_a_value_is_put_in_place_and_every_other_byte_stays(path: tuple[str | int, ...], raw: bytes) -> None:
    one = entry('{"é": "ü",  "a": [{"b": 1} , 2], "c": {"d": null}}'.encode(), {"é": "ü", **VALUE})
    assert not one.changed
    one.put(path, {"x": 1})
    assert (one.raw, one.changed, value_at(one.value, path)) == (raw, True, {"x": 1})


def test_elements_are_removed_from_a_list() -> None:
    one = entry(b'{"a": [1, 2, 3, 4]}', {"a": [1, 2, 3, 4]})
    one.remove(("a",), iter([0, 2]))
    assert (one.raw, one.value, one.changed) == (b'{"a": [2,4]}', {"a": [2, 4]}, True)


@pytest.mark.parametrize(("value", "expected"), [({"a": 1}, {"a": 1}), ([1], {}), (None, {})])
def test_the_object_of_an_entry(value: Any, expected: dict[str, Any]) -> None:
    assert entry(b"", value).object == expected


def test_a_new_entry_is_changed_and_has_the_place_of_an_old_one() -> None:
    one = new_entry({"a": [1, "é"]}, 7)
    assert (one.raw, one.value, one.place, one.lead, one.changed) == (
        '{"a":[1,"é"]}'.encode(), {"a": [1, "é"]}, 7, b"", True,
    )  # fmt: skip


def test_lines_end_each_with_a_newline() -> None:
    assert RepairSheet([entry(b"1", 1), entry(b"2", 2)]).data == b"1\n2\n"
    assert RepairSheet([]).data == b""


@pytest.mark.parametrize(
    ("leads", "data"),
    [
        ([], b"[ ]"),
        ([b"\n"], b"[\n1 ]"),
        ([b",\n"], b"[\n1 ]"),
        ([b""], b"[1 ]"),
        ([b"\n", b" ,\n", b""], b"[\n1 ,\n2,3 ]"),
        ([b"", b"\n"], b"[1,\n2 ]"),
    ],
)
def test_a_document_has_commas_between_its_entries_whichever_were_removed(leads: list[bytes], data: bytes) -> None:
    entries = [entry(b"%d" % number, number, number, lead) for number, lead in enumerate(leads, 1)]
    assert RepairSheet(entries, lines=False, head=b"[", tail=b" ]").data == data


@pytest.mark.parametrize(("lines", "word", "line", "index"), [(True, "line 4", 4, None), (False, "entry 4", None, 4)])
def test_a_fix_has_the_place_of_its_entry(lines: bool, word: str, line: int | None, index: int | None) -> None:
    sheet, one = RepairSheet([], lines=lines), entry(b"", None, 4)
    sheet.fixed(Fault.CUT_RECORD, one, 12)
    sheet.fixed(Fault.BROKEN_TEXT)
    sheet.unrepaired(Fault.REQUEST_BYTES, one, 13)
    sheet.unrepaired(Fault.CUT_DOCUMENT)
    assert sheet.fixes == [Fix(Fault.CUT_RECORD, line, index, "12"), Fix(Fault.BROKEN_TEXT)]
    assert sheet.left == [Fix(Fault.REQUEST_BYTES, line, index, "13"), Fix(Fault.CUT_DOCUMENT)]
    assert (sheet.named(one), sheet.fixes[0].place, sheet.fixes[1].place) == (word, word, "file")


def test_entries_are_told_apart_by_identity() -> None:
    first, second, third, new = (entry(b"1", 1) for _ in range(4))
    sheet = RepairSheet([first, second, third])

    def order() -> list[int]:
        return [next(n for n, known in enumerate([first, second, third, new]) if known is one) for one in sheet.entries]

    assert [sheet.index(one) for one in (first, second, third)] == [0, 1, 2]
    sheet.insert_after(second, new)
    assert order() == [0, 1, 3, 2]
    sheet.drop(lambda one: one is first)
    assert (order(), sheet.index(third)) == ([1, 3, 2], 2)
    sheet.move_header(third)
    assert order() == [2, 1, 3]
    assert sheet.fixes == [Fix(Fault.MISSING_HEADER, 1, None, "it was further down")]


@pytest.mark.parametrize(
    ("inherited", "places"),
    [(0, [0, 1, 2, 3, None]), (1, [0, None, 1, 2, 3]), (2, [0, None, None, 1, 2]), (3, [0, None, None, None, 1])],
)
def test_the_entry_of_a_record(inherited: int, places: list[int | None]) -> None:
    entries = [entry(b"%d" % number, number, number) for number in range(4)]
    sheet = RepairSheet(entries, inherited=inherited)
    session = Session("kit", Path("s.jsonl"), (), Records(b""))
    found = [entry_of(sheet, entries, session, record) for record in range(5)]
    assert [one.place if one else None for one in found] == places


def test_records_that_share_a_line_have_one_entry() -> None:
    entries = [entry(b"a", 0), entry(b"b", 1)]
    records = Records(b"")
    for start, line in ((0, 1), (2, 2), (2, 2)):
        records.add(start, start + 1, line)
    session = Session("kit", Path("s.jsonl"), (), records)
    found = [entry_of(RepairSheet(entries), entries, session, record) for record in range(3)]
    assert [one.value if one else None for one in found] == [0, 1, 1]
