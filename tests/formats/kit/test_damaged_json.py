"""Damaged lines and documents: the bytes that a repair leaves, and a fix for each kind of damage."""

from __future__ import annotations

import pytest

from workbench.formats.fixes import Fault
from workbench.formats.kit import damaged_json
from workbench.formats.kit.damaged_json import repair_document, sheet_of_lines
from workbench.formats.kit.sheet import RepairSheet

A, B, C = (b'{"type":"t","id":"%s"}' % id for id in (b"a", b"b", b"c"))
Fixes = list[tuple[str, Fault, str]]


def fixes(sheet: RepairSheet) -> Fixes:
    return [(fix.place, fix.fault, fix.subject) for fix in sheet.fixes]


def repaired(*lines: bytes) -> tuple[list[bytes], Fixes]:
    sheet = sheet_of_lines(b"\n".join(lines))
    assert all(entry.value is not None for entry in sheet.entries)
    return [entry.raw for entry in sheet.entries], fixes(sheet)


def test_lines_without_damage_stay_as_they_are() -> None:
    sheet = sheet_of_lines(A + b"\n\n \t\r\n" + B + b"\r\n", "s", 3)
    assert [(entry.raw, entry.value["id"], entry.place, entry.changed) for entry in sheet.entries] == [
        (A, "a", 1, False),
        (B + b"\r", "b", 4, False),
    ]
    assert (sheet.fixes, sheet.left, sheet.lines, sheet.name, sheet.branch) == ([], [], True, "s", 3)


def test_a_byte_order_mark_is_removed() -> None:
    assert repaired(b"\xef\xbb\xbf" + A, B) == ([A, B], [("file", Fault.NOT_A_RECORD, "3")])


@pytest.mark.parametrize(
    ("line", "raws", "found"),
    [
        (b"\0" * 7, [], [("line 2", Fault.NUL_PADDING, "7")]),
        (b"\0\0" + B + b"\0", [B], [("line 2", Fault.NUL_PADDING, "3")]),
        (B + C, [B, C], [("line 2", Fault.GLUED_RECORDS, "2")]),
        (B + b" ,\t" + C, [B, C], [("line 2", Fault.GLUED_RECORDS, "2")]),
        (B[:-3] + C, [C], [("line 2", Fault.GLUED_RECORDS, "2"), ("line 2", Fault.CUT_RECORD, "18")]),
        (C + B[:-3], [C], [("line 2", Fault.GLUED_RECORDS, "2"), ("line 2", Fault.CUT_RECORD, "18")]),
        (b"Killed: 9", [], [("line 2", Fault.NOT_A_RECORD, "9")]),
        (b"log: " + B, [B], [("line 2", Fault.GLUED_RECORDS, "2"), ("line 2", Fault.NOT_A_RECORD, "4")]),
        (b"x" + B, [B], [("line 2", Fault.GLUED_RECORDS, "2"), ("line 2", Fault.NOT_A_RECORD, "1")]),
        (B + b" end", [B], [("line 2", Fault.GLUED_RECORDS, "2"), ("line 2", Fault.NOT_A_RECORD, "3")]),
        (B[:-3], [], [("line 2", Fault.CUT_RECORD, "18")]),
        (b"[1]", [], [("line 2", Fault.NOT_A_RECORD, "3")]),
        (b"{}", [b"{}"], []),
        (b'{"other":1}', [b'{"other":1}'], []),
        (b'{"id":"b","n":NaN}', [b'{"id":"b","n":null}'], [("line 2", Fault.BROKEN_TEXT, "")]),
        (b'{"id":"\xff"}', ['{"id":"�"}'.encode()], [("line 2", Fault.BROKEN_TEXT, "")]),
        (b'{"id":"\t"}', [b'{"id":"\\t"}'], [("line 2", Fault.BROKEN_TEXT, "")]),
        (b'{"id":"\\ud83d"}', [b'{"id":"\\ufffd"}'], [("line 2", Fault.LONE_SURROGATE, "1")]),
        (b'{"id":"\\ud83d \\udc00"}', [b'{"id":"\\ufffd \\ufffd"}'], [("line 2", Fault.LONE_SURROGATE, "2")]),
        (b'{"id":"\\ufffd \\udfff"}', [b'{"id":"\\ufffd \\ufffd"}'], [("line 2", Fault.LONE_SURROGATE, "1")]),
        (
            b'{"id":"\\ud83d","n":NaN}',
            ['{"id":"�","n":null}'.encode()],
            [("line 2", Fault.LONE_SURROGATE, "1"), ("line 2", Fault.BROKEN_TEXT, "")],
        ),
        (
            '{"id":"\u2028 \u2029\u2028"}'.encode(),
            [b'{"id":"\\u2028 \\u2029\\u2028"}'],
            [("line 2", Fault.LINE_SEPARATOR, "3")],
        ),
        (
            b'\0{"type":"t","id":"\t"}{"type":"t","id":"\xff"}',
            [b'{"type":"t","id":"\\t"}', '{"type":"t","id":"�"}'.encode()],
            [("line 2", Fault.NUL_PADDING, "1"), ("line 2", Fault.GLUED_RECORDS, "2")],
        ),
    ],
)
def test_a_damaged_line_between_two_records(line: bytes, raws: list[bytes], found: Fixes) -> None:
    sheet = sheet_of_lines(b"\n".join([A, line, A]))
    assert [(entry.raw, entry.place) for entry in sheet.entries] == [(A, 1), *((raw, 2) for raw in raws), (A, 3)]
    assert fixes(sheet) == found


def test_a_record_with_escaped_separators_is_changed() -> None:
    sheet = sheet_of_lines('{"id":"\u2028"}\n{"id":"a"}'.encode())
    assert [entry.changed for entry in sheet.entries] == [True, False]


def test_a_joined_record_has_the_line_of_its_first_part() -> None:
    sheet = sheet_of_lines(b"\n".join([A, b'{"type":"t",', b'"id":"x"}', B]))
    assert [entry.place for entry in sheet.entries] == [1, 2, 4]


def test_an_object_that_lacks_what_all_records_have_or_is_of_no_known_type_is_a_part_of_the_cut_one() -> None:
    lone = b'{"id":"x"}'
    cut = b'{"type":"t","id":"b","in":%s'
    for inner in (lone, b'{"type":"u","id":"x"}', b'{"type":"t","id":"x","new":1}'):
        lost = [("line 2", Fault.CUT_RECORD, str(len(cut % inner)))]
        assert repaired(A, cut % inner, B) == ([A, B], lost)
    assert repaired(A, cut % C, B) == (
        [A, C, B],
        [("line 2", Fault.GLUED_RECORDS, "2"), ("line 2", Fault.CUT_RECORD, "26")],
    )


def test_a_record_behind_a_cut_one_may_have_any_known_key_and_type() -> None:
    other = b'{"kind":2,"type":"u"}'
    mixed = b'{"type":"t","kind":1}'
    assert repaired(A, other, A[:-4] + mixed, B)[0] == [A, other, mixed, B]


def test_a_file_without_a_complete_record_has_no_record_inside_a_cut_one() -> None:
    assert repaired(A[:-3] + B) == ([], [("line 1", Fault.CUT_RECORD, str(len(A[:-3] + B)))])
    assert repaired(A + B) == ([A, B], [("line 1", Fault.GLUED_RECORDS, "2")])


@pytest.mark.parametrize(("tried", "count"), [(2, 1), (3, 2)])
def test_so_many_places_in_a_cut_record_are_tried(monkeypatch: pytest.MonkeyPatch, tried: int, count: int) -> None:
    monkeypatch.setattr(damaged_json, "TRIED", tried)
    cut = b'{"type":"t","in":[{"type":1},{"type":2},'
    raws, _ = repaired(A, cut + B)
    assert len(raws) == count


@pytest.mark.parametrize(
    ("lines", "joined", "found"),
    [
        ([b'{"type":"t",', b'"id":"x y"}'], b'{"type":"t","id":"x y"}', [("line 2", Fault.SPLIT_RECORD, "2")]),
        ([b'{"type":"t"', b"", b',"id":"x"', b"}"], b'{"type":"t","id":"x"}', [("line 2", Fault.SPLIT_RECORD, "4")]),
        ([b'{"type":"t","id":"x', b'y"}'], b'{"type":"t","id":"xy"}', [("line 2", Fault.SPLIT_RECORD, "2")]),
        (
            [b'{"type":"t","id":"one word', b'two"}'],
            b'{"type":"t","id":"one word\\ntwo"}',
            [("line 2", Fault.SPLIT_RECORD, "2")],
        ),
        (
            [b'{"type":"t","id":"one}', b'two words"}'],
            b'{"type":"t","id":"one}\\ntwo words"}',
            [("line 2", Fault.SPLIT_RECORD, "2")],
        ),
        (
            [b'{"type":"t","id":"one word\r', b'two"}\r'],
            b'{"type":"t","id":"one word\\ntwo"}',
            [("line 2", Fault.SPLIT_RECORD, "2")],
        ),
        (
            [b'{"type":"t","id":["x', b'y","a b"]}'],
            b'{"type":"t","id":["xy","a b"]}',
            [("line 2", Fault.SPLIT_RECORD, "2")],
        ),
        ([b'{"type":"t","i', b'd":"a b"}'], b'{"type":"t","id":"a b"}', [("line 2", Fault.SPLIT_RECORD, "2")]),
        ([b'{"type":"t","id":1', b"2}"], b'{"type":"t","id":12}', [("line 2", Fault.SPLIT_RECORD, "2")]),
        (
            [C + b'{"type":"t",', b'\0"id":"x"\0}'],
            b'{"type":"t","id":"x"}',
            [("line 2", Fault.GLUED_RECORDS, "2"), ("line 2", Fault.SPLIT_RECORD, "2")],
        ),
    ],
)
def test_a_record_that_is_split_over_lines_is_joined(lines: list[bytes], joined: bytes, found: Fixes) -> None:
    before = [C] if lines[0].startswith(C) else []
    assert repaired(A, *lines, B) == ([A, *before, joined, B], found)


def test_a_complete_record_ends_the_search_for_the_rest_of_a_split_one() -> None:
    for cut, rest in ((b'{"type":"t",', b'"id":"x"}'), (b'{"type":"t","id":', b"}")):
        raws, found = repaired(A, cut, B, rest)
        assert raws == [A, B]
        assert found == [
            ("line 2", Fault.CUT_RECORD, str(len(cut))),
            ("line 4", Fault.NOT_A_RECORD, str(len(rest))),
        ]


@pytest.mark.parametrize(("most", "count"), [(2, 2), (3, 3)])
def test_so_many_lines_are_joined(monkeypatch: pytest.MonkeyPatch, most: int, count: int) -> None:
    monkeypatch.setattr(damaged_json, "JOINED", most)
    raws, _ = repaired(A, b'{"type":"t",', b'"id":"x"', b"}", B)
    assert len(raws) == count


# -- Documents


@pytest.mark.parametrize(
    ("data", "expected", "found"),
    [
        (b'{"a": [1, 2]}\n', b'{"a": [1, 2]}\n', []),
        (b"[]", b"[]", []),
        (b'\xef\xbb\xbf{"a": 1}\n', b'{"a": 1}', []),
        (b'{"a":\0\0 1}\0', b'{"a": 1}', [("file", Fault.NUL_PADDING, "3")]),
        (b'{"a": "\\ud83d"}', b'{"a": "\\ufffd"}', [("file", Fault.LONE_SURROGATE, "1")]),
        (b'{"a": "\\ud83d\\ud83d"}', b'{"a": "\\ufffd\\ufffd"}', [("file", Fault.LONE_SURROGATE, "2")]),
        (b'{"a": 1} tail\n', b'{"a": 1}', [("file", Fault.TRAILING_BYTES, "4")]),
        (b'{"a": 1}{"b": "\xc3\xa9"}', b'{"a": 1}', [("file", Fault.TRAILING_BYTES, "11")]),
        (b'{"a": NaN}', b'{"a":null}', [("file", Fault.BROKEN_TEXT, "")]),
        (b'{"a": "\xff"}', '{"a": "�"}'.encode(), [("file", Fault.BROKEN_TEXT, "")]),
        (b'{"a": "x\ny"}', b'{"a":"x\\ny"}', [("file", Fault.BROKEN_TEXT, "")]),
        ('{"a": "�"} x'.encode(), '{"a": "�"}'.encode(), [("file", Fault.TRAILING_BYTES, "1")]),
        (b'{"a": [1, 2, 3', b'{"a": [1, 2, 3]}', [("file", Fault.CUT_DOCUMENT, "0")]),
        (b'{"a": [1, 2, ', b'{"a": [1, 2]}', [("file", Fault.CUT_DOCUMENT, "1")]),
        (b'{"a": ["x", "y', b'{"a": ["x"]}', [("file", Fault.CUT_DOCUMENT, "4")]),
        (b'{"a": [{"b": 1}, {"b": [2, 3', b'{"a": [{"b": 1}]}', [("file", Fault.CUT_DOCUMENT, "13")]),
        (b'[{"a": {"b": 1}, "c": [1, 2', b'[{"a": {"b": 1}, "c": [1, 2]}]', [("file", Fault.CUT_DOCUMENT, "0")]),
        (b'{"a": {"b": 1}, "c": "x', b'{"a": {"b": 1}}', [("file", Fault.CUT_DOCUMENT, "9")]),
        (b'{"a": {"b": {}, "c": 1', b'{"a": {"b": {}}}', [("file", Fault.CUT_DOCUMENT, "8")]),
        (b'{"a": [1, 2}, "b": 3', b'{"a": [1, 2]}', [("file", Fault.CUT_DOCUMENT, "9")]),
        (b"[[1], [2], [3", b"[[1], [2]]", [("file", Fault.CUT_DOCUMENT, "4")]),
    ],
)
def test_a_damaged_document(data: bytes, expected: bytes, found: Fixes) -> None:
    sheet = RepairSheet([], lines=False)
    assert (repair_document(data, sheet), fixes(sheet), sheet.left) == (expected, found, [])


@pytest.mark.parametrize("data", [b'{"a": 1', b"[", b'{"a', b"no JSON", b"", b"]"])
def test_a_document_that_is_cut_before_its_first_element_is_not_repaired(data: bytes) -> None:
    sheet = RepairSheet([], lines=False)
    assert (repair_document(data, sheet), sheet.fixes) == (data, [])
    assert [(fix.place, fix.fault) for fix in sheet.left] == [("entry 1", Fault.CUT_DOCUMENT)]
