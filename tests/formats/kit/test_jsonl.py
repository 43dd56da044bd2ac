"""JSONL as agents really write it."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.base.errors import BadInput
from workbench.base.values import json_value
from workbench.formats.faults import lines
from workbench.formats.format import no_progress
from workbench.formats.kit import limits
from workbench.formats.kit.document import MOST, parse
from workbench.formats.kit.jsonl import (
    BLOCK,
    MOST_DIGITS,
    LineTooLong,
    Record,
    halves_in,
    is_padding,
    left_out,
    lines_in,
    lines_of,
    loads,
    loads_bounded,
    loads_text,
    loads_whole,
    object_of,
    objects_of,
    records_of,
    whole,
)
from workbench.formats.kit.limits import MOST_WARNINGS, limit_warnings
from workbench.session import LoadWarning, Records


def test_clean_lines_with_their_places() -> None:
    data = b'{"a":1}\n\n{"b":2}\r\n[3]'
    found = list(records_of(data))
    assert [(record.value, record.line) for record in found] == [({"a": 1}, 1), ({"b": 2}, 3), ([3], 4)]
    assert [data[record.start : record.stop] for record in found] == [b'{"a":1}', b'{"b":2}', b"[3]"]
    assert not any(record.problem for record in found)


class Copied(bytes):
    """Bytes that know how many of them were copied by slicing."""

    sizes: list[int]

    def __new__(cls, data: bytes) -> Copied:
        made = super().__new__(cls, data)
        made.sizes = []
        return made

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if isinstance(key, slice):
            self.sizes.append(len(found))
        return found


@pytest.mark.parametrize(
    ("size", "ending", "copies"),
    [
        (BLOCK - 1, b"\n", True),
        (BLOCK, b"\n", True),
        (BLOCK, b"", True),
        (BLOCK + 1, b"\n", False),
        (BLOCK + 1, b"\r\n", False),
        (4 * BLOCK, b"", False),
    ],
)
def test_f11_a_line_longer_than_a_block_is_decoded_without_a_copy(size: int, ending: bytes, copies: bool) -> None:
    line = b'{"a":"' + b"x" * (size - 8) + b'"}'
    data = Copied(line + ending)
    found = list(records_of(data))
    assert (found[0].start, found[0].stop, len(found[0].value["a"])) == (0, len(line), size - 8)
    assert (sum(data.sizes) >= size) is copies


PADDING = "{} NUL bytes left by a crash; ignored"


def test_a11_nul_padding_is_told_with_its_line_and_in_no_record_that_is_read() -> None:
    data = b'\xef\xbb\xbf{"a":1}\n\n\x00\x00\n\x00\n{"b":2}\x00\n\x00\x00{"c":3}\n{"d":4}\n' + b"\x00" * 1_500
    found = list(records_of(data))
    assert [(one.line, one.value, one.problem, one.readable) for one in found] == [
        (1, {"a": 1}, "", True),
        (3, None, PADDING.format(2), False),
        (4, None, PADDING.format(1), False),
        (5, {"b": 2}, PADDING.format(1), True),
        (6, {"c": 3}, PADDING.format(2), True),
        (7, {"d": 4}, "", True),
        (8, None, PADDING.format("1 500"), False),
    ]
    assert [data[one.start : one.stop] for one in found if one.readable] == [
        b'{"a":1}',
        b'{"b":2}',
        b'{"c":3}',
        b'{"d":4}',
    ]
    assert [is_padding(one) for one in found] == [False, True, True, False, False, False, True]


def test_a11_each_padding_is_one_warning() -> None:
    data, warnings = b'{"a":1}\n\x00\x00\n{"b":2}\n', list[LoadWarning]()
    found = [*objects_of(records_of(data), len(data), Records(data), warnings, no_progress)]
    assert [value for value, _, _ in found] == [{"a": 1}, {"b": 2}]
    assert warnings == [LoadWarning(PADDING.format(2), 2)]


CUT = b'{"type":"user","id":"1","ok":true,"n":12.5,"message":{"role":"user","content":["a\\ud83d\\ude00 {b}",null'
NEXT = b'{"type":"user","id":"2","message":{"role":"user","content":"whole"},"parent":{"id":"1"}}'


@pytest.mark.parametrize("size", range(1, len(CUT) + 1))
@pytest.mark.parametrize("behind", [b"", b'{"z":1}', b"\x00\x00"])
def test_a10_a_complete_record_behind_a_cut_one_is_read(size: int, behind: bytes) -> None:
    """Wherever the first was cut; but for a cut behind its first key, where nothing tells that the next is no value."""
    data = CUT[:size] + NEXT + behind + b'\n{"y":1}\n'
    found = [*records_of(data)]
    values = [one.value for one in found if one.readable]
    rest = [{"z": 1}] if behind.startswith(b"{") else []
    if CUT[:size] == b'{"type":':
        assert values == [*rest, {"y": 1}]
    else:
        assert values == [orjson.loads(NEXT), *rest, {"y": 1}]
    assert [(one.line, one.readable) for one in found[:2]] == [(1, False), (1, True) if values[1:] else (2, True)]
    cut = "is cut off, and another record follows on the same line; kept in the file, not shown"
    assert found[0].problem.endswith(cut) or CUT[:size] == b'{"type":'
    assert b"".join(data[one.start : one.stop] for one in found[:2]).startswith(CUT[:size])


def test_a10_two_cut_records_before_a_complete_one() -> None:
    data = CUT[:90] + CUT[:40] + NEXT + b"\n"
    assert [(one.value, data[one.start : one.stop]) for one in records_of(data)] == [
        (None, CUT[:90] + CUT[:40]),
        (orjson.loads(NEXT), NEXT),
    ]


@pytest.mark.parametrize("size", range(1, len(NEXT)))
def test_a10_a_part_of_a_cut_record_is_none_of_its_own(size: int) -> None:
    """Content that is complete ends where the line does, and is no record."""
    (cut, last) = records_of(NEXT[:size] + b'\n{"y":1}\n')
    assert (cut.readable, cut.stop, last.value) == (False, size, {"y": 1})


@pytest.mark.parametrize("line", [b'x{"' * 200_000, b'{"a":1,"b":' * 30_000, b'{"a":1,"b":{"a":1,"b":2}' * 20_000])
def test_a10_a_long_damaged_line_is_given_up_after_some_places(line: bytes) -> None:
    assert [one.readable for one in records_of(line)] == [False]


def test_a25_of_the_first_warnings_of_a_kind_each_is_told_and_then_how_many_more() -> None:
    def given(count: int) -> list[LoadWarning]:
        return [LoadWarning(f"has the uuid of line {number}", number + 1) for number in range(count)]

    other = LoadWarning("its parent is missing")
    assert limit_warnings([*given(MOST_WARNINGS), other]) == (*given(MOST_WARNINGS), other)
    told = "2 more warnings of this kind, the last: has the uuid of line 1001"
    assert limit_warnings([*given(MOST_WARNINGS + 2), other]) == (
        *given(MOST_WARNINGS),
        other,
        LoadWarning(told, MOST_WARNINGS + 2),
    )


def test_blank_lines_are_counted_and_passed_over() -> None:
    """Twenty million of them at the end of a file took a minute."""
    data = b'\n \t\n{"a":1}\n\r\n\t\n  {"b":2}\n' + b"\n" * 3_000_000 + b'{"c":3}\n' + b" \n" * 1_000_000 + b" "
    found = list(records_of(data))
    assert [(record.value, record.line) for record in found] == [({"a": 1}, 3), ({"b": 2}, 6), ({"c": 3}, 3_000_007)]
    assert [data[record.start : record.stop] for record in found] == [b'{"a":1}', b'  {"b":2}', b'{"c":3}']
    assert [(number, value) for number, value in lines(data)] == [(record.line, record.value) for record in found]


def test_of_the_first_odd_lines_each_is_told_and_then_how_many_more() -> None:
    def told(odd: int) -> list[str]:
        data, warnings = b"0\n" * odd + b'{"a":1}', list[LoadWarning]()
        found = [*objects_of(records_of(data), len(data), Records(data), warnings, no_progress)]
        assert found == [({"a": 1}, odd, odd + 1)]
        return [str(warning) for warning in warnings]

    one = "line {}: not a JSON object; kept in the file, not shown"
    assert told(MOST_WARNINGS) == [one.format(number) for number in range(1, MOST_WARNINGS + 1)]
    assert told(MOST_WARNINGS + 2) == [*told(MOST_WARNINGS), "2 more lines with problems"]


@pytest.mark.parametrize("before", [b"", b'{"a":7,"messages":'])
def test_a_list_that_no_session_has_is_refused(before: bytes) -> None:
    end = b"0]" + (b"}" if before else b"")
    assert parse(Path("x.json"), before + b"[" + b"0," * (MOST - 1) + end)[1] == []
    with pytest.raises(BadInput, match=r"^x\.json: holds a list of 1 000 001 entries"):
        parse(Path("x.json"), before + b"[" + b"0," * MOST + end)


def test_two_objects_on_one_line_are_both_read() -> None:
    data = b'{"type":"user","t":"\xc3\xa9"}{"type":"summary"} {"n":3}\n{"a":1}\n'
    found = list(records_of(data))
    assert [record.value for record in found] == [{"type": "user", "t": "é"}, {"type": "summary"}, {"n": 3}, {"a": 1}]
    assert [record.line for record in found] == [1, 1, 1, 2]
    assert [bool(record.problem) for record in found] == [False, True, True, False]
    assert data[found[1].start : found[1].stop] == b'{"type":"summary"}'


def test_a_broken_line_is_one_opaque_record_and_the_rest_goes_on() -> None:
    data = b'{"a":1}\n{"b":\n{"c":3}\n{"d":"cut o'
    found = list(records_of(data))
    assert [record.readable for record in found] == [True, False, True, False]
    assert "not JSON" in found[1].problem
    assert "the file ends inside this line" in found[3].problem
    assert data[found[3].start : found[3].stop] == b'{"d":"cut o'


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (rb'"\ud800 x"', "\ufffd x"),
        (rb'"\udc00\ud83d\ude00"', "\ufffd😀"),
        (b'"\xff\xed\xa0\x80"', "\ufffd" * 4),
        (b'"a\x01b"', "a\x01b"),
        (b"-Infinity", float("-inf")),
    ],
)
def test_what_orjson_refuses_is_read_and_never_holds_half_a_pair(raw: bytes, value: object) -> None:
    with pytest.raises(orjson.JSONDecodeError):
        orjson.loads(raw)
    assert loads(raw) == value
    (record,) = records_of(raw + b"\n")
    assert record.value == value
    assert "not strict JSON" in record.problem


def test_an_escaped_backslash_is_not_half_a_pair() -> None:
    assert loads(rb'["\\ud800", NaN, "\udbff"]')[0] == "\\ud800"


def test_deep_nesting_is_a_bad_record() -> None:
    (record,) = records_of(b"[" * 200_000)
    assert not record.readable
    closed = [b"[" * depth + b"]" * depth for depth in (200, 201, 1000)]
    assert [record.readable for raw in closed for record in records_of(raw)] == [True, False, False]
    assert all(record.readable for record in records_of(b'["' + b"[" * 500 + b'"]'))


@pytest.mark.parametrize(("depth", "is_read"), [(200, True), (201, False), (1_000, False), (200_000, False)])
def test_f10_every_door_reads_as_deep_as_a_line(depth: int, is_read: bool) -> None:
    """A text within a value, a record, a field of a row, a document: with lists alone and with objects."""
    for text in ("[" * depth + "]" * depth, '{"a":' * depth + "0" + "}" * depth):
        assert json_value(text) == json_value(text.encode()) == (json.loads(text) if is_read else None)
        doors = (
            loads_text,
            lambda text: loads_bounded(text.encode()),
            lambda text: parse(Path("s.json"), text.encode())[0],
        )
        for door in doors:
            if is_read:
                assert door(text) == json.loads(text)
                continue
            with pytest.raises((ValueError, BadInput), match=r"nested (too deeply|more than 200 deep)"):
                door(text)


@pytest.mark.parametrize(("digits", "kind"), [(MOST_DIGITS, int), (MOST_DIGITS + 1, float), (5_000, float)])
@pytest.mark.parametrize("sign", ["", "-"])
def test_every_door_reads_an_integer_that_no_float_takes_as_a_float(digits: int, sign: str, kind: type) -> None:
    text = f'{{"a": {sign}{"9" * (digits - len(sign))}, "b": NaN}}'
    for door in (
        loads_text,
        lambda text: loads_bounded(text.encode()),
        lambda text: parse(Path("s"), text.encode())[0],
    ):
        read = door(text)["a"]
        assert type(read) is kind
        assert float(read) == float(f"{sign}{'9' * (digits - len(sign))}")


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text() | st.integers(-(1 << 63), (1 << 64) - 1),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(JSON, st.booleans())
def test_a_text_is_read_as_pythons_own_reader_does(value: object, as_ascii: bool) -> None:
    text = json.dumps(value, ensure_ascii=as_ascii)
    assert repr(loads_text(text)) == repr(loads_whole(whole(text)))


@pytest.mark.parametrize("text", ["", "{", '{"a": 1} x', "\ufeff{}", "[1,]", "NaN,"])
def test_what_is_no_json_is_told_with_its_place(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        loads_text(text)


@given(st.binary(max_size=200))
def test_any_bytes_give_records_that_lie_in_them_in_order(data: bytes) -> None:
    at = 0
    for record in records_of(data):
        assert at <= record.start < record.stop <= len(data)
        at = record.stop


@given(st.lists(st.recursive(st.none() | st.text() | st.integers(-9, 9), st.lists, max_leaves=5), max_size=6))
def test_clean_values_round_trip(values: list[object]) -> None:
    data = b"".join(orjson.dumps(value) + b"\n" for value in values)
    assert [record.value for record in records_of(data)] == values


SECOND, ODD = "a second record on the same line", "not strict JSON (invalid characters, NaN or similar); read anyway"
KEPT = "; kept in the file, not shown"
FOLLOWED = "is cut off, and another record follows on the same line" + KEPT
TOO_MUCH = "holds a text of 0 MB, too much for a session" + KEPT


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b'{"a":1}', [(0, 7, {"a": 1}, "")]),
        (b' \t{"a":1} ', [(0, 10, {"a": 1}, "")]),
        (b'{"a":1}\r', [(0, 7, {"a": 1}, "")]),
        (b'{"a":NaN}\r', [(0, 9, {"a": float("nan")}, ODD)]),
        (b' \x00{"a":"\t"} \x00 \r', [(2, 11, {"a": "\t"}, f"{ODD}; {PADDING.format(2)}")]),
        (b'{"a":1}{"b":2}', [(0, 7, {"a": 1}, ""), (7, 14, {"b": 2}, SECOND)]),
        (b'{"a":1}\x00\x00{"b":2}', [(0, 7, {"a": 1}, PADDING.format(2)), (9, 16, {"b": 2}, SECOND)]),
        (b'{"a":"\x00"}{"b":2}', [(0, 9, {"a": "\x00"}, ODD), (9, 16, {"b": 2}, SECOND)]),
        (b"no JSON", [(0, 7, None, "not JSON" + KEPT)]),
        (b"\x00no JSON", [(1, 8, None, f"{PADDING.format(1)}; not JSON{KEPT}")]),
        (b'{"a":1} end', [(0, 7, {"a": 1}, ""), (8, 11, None, "not JSON" + KEPT)]),
        (b'log {"a":1}', [(0, 4, None, FOLLOWED), (4, 11, {"a": 1}, SECOND)]),
        (b'{"a":"b{"a":1}', [(0, 7, None, FOLLOWED), (7, 14, {"a": 1}, SECOND)]),
        (b"[" * 300 + b"]" * 300, [(0, 600, None, "nested too deeply" + KEPT)]),
        (b"[" * 300 + b"]" * 300 + b"\r", [(0, 600, None, "nested too deeply" + KEPT)]),
        (b"[NaN" + b"," + b"[" * 300 + b"]" * 300 + b"]", [(0, 606, None, "not JSON" + KEPT)]),
    ],
    ids=range(16),
)
def test_an_odd_line_between_two_others(line: bytes, found: list[tuple[int, int, Any, str]]) -> None:
    """Each record's bytes, value and problem, wherever the line stands."""
    for before in (b"", b"1\n", b"\xef\xbb\xbf2\n\n"):
        data, at, number = before + line + b"\n3", len(before), before.count(b"\n") + 1
        records = [one for one in records_of(data) if one.line == number]
        expected = [
            (at + start, at + stop, number, repr(value), problem, not problem.endswith(KEPT))
            for start, stop, value, problem in found
        ]
        assert [(one[0], one[1], one[2], repr(one[3]), one[4], one[5]) for one in records] == expected
        last = [*records_of(data)][-1]
        assert last == Record(len(data) - 1, len(data), number + 1, 3)


@pytest.mark.parametrize(
    ("text", "halves"),
    [("", 0), (r"\\ud83d", 0), (r"\ud83d", 1), (r"\ud83d\ude00", 0), (r"\udC00 \uDbff \n", 2), (r"\ufffd", 0)],
)
def test_halves_of_surrogate_pairs_are_counted(text: str, halves: int) -> None:
    assert halves_in(text) == halves
    assert whole(text).count("\\ufffd") == halves + text.count("\\ufffd")
    assert len(whole(text)) == len(text)


LINES = b'\xef\xbb\xbf{"a":1}\n\n\xef\xbb\xbf{"b":2}\n\x00\x00\n{"c":3}{"d":\n{"e":5}'


@pytest.mark.parametrize("size", [4, 9, 12])
def test_a_byte_order_mark_in_a_last_block_is_no_beginning_of_a_file(size: int) -> None:
    data = b'{"a":1}\n{"b":2}\n\xef\xbb\xbf{"c":3}'
    assert [*lines_in(io.BytesIO(data), len(data), lambda block: None, size).found] == [*records_of(data)]
    assert [one.readable for one in records_of(data)] == [True, True, False, True]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 10, 11, 12, 13, 100])
def test_a_file_read_in_blocks_gives_the_records_of_the_whole(size: int) -> None:
    told: list[bytes] = []
    found = lines_in(io.BytesIO(LINES), 99, told.append, size)
    assert [*found.found] == [*records_of(LINES)]
    assert (b"".join(told), max(map(len, told)), found.size) == (LINES, min(size, len(LINES)), 99)
    whole_file = lines_of(LINES)
    assert ([*whole_file.found], whole_file.size) == ([*records_of(LINES)], len(LINES))
    assert whole_file.records.data == LINES


def test_records_up_to_a_byte_are_read() -> None:
    data = b'{"a":1}\n{"b":2}\n{"c":3}'
    assert [one.value for one in records_of(data, 16)] == [{"a": 1}, {"b": 2}]
    assert [one.value for one in records_of(data, 8)] == [{"a": 1}]


@pytest.mark.parametrize(("letters", "fits"), [(92, True), (93, False)])
def test_a_block_whose_first_line_is_too_long_is_given_up(
    letters: int, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LONGEST_TEXT", 100)
    data = b'{"a":"' + b"x" * letters + b'"}\n{"b":2}\n'
    read = lines_in(io.BytesIO(data), len(data), lambda block: None, 60).found
    if fits:
        assert len([*read]) == 2
    else:
        with pytest.raises(LineTooLong):
            list(read)


def test_a_line_that_is_too_much_is_left_and_the_next_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LONGEST_TEXT", 20)
    line = b'{"a":"' + b"x" * 19 + b'"}'
    for data in (b"1\n" + line + b"\n2", b"1\n" + line):
        found = [*records_of(data)]
        assert found[1] == Record(2, 2 + len(line), 2, None, TOO_MUCH, False)
        assert found[2:] == ([Record(len(data) - 1, len(data), 3, 2)] if data.endswith(b"2") else [])


def test_objects_are_told_with_their_records_and_the_progress() -> None:
    size = 1 << 20
    data = b'{"a":1}\n' + b" " * size + b'{"b":2}\n{"c":NaN}\n[NaN]\n{"d":4}'
    records, warnings, done = Records(data), list[LoadWarning](), list[tuple[int, int]]()
    found = [*objects_of(records_of(data), 9_999, records, warnings, lambda at, of: done.append((at, of)))]
    assert [(sorted(value), index, line) for value, index, line in found] == [
        (["a"], 0, 1), (["b"], 1, 2), (["c"], 2, 3), (["d"], 4, 5),
    ]  # fmt: skip
    assert [bytes(record).strip() for record in records] == [b'{"a":1}', b'{"b":2}', b'{"c":NaN}', b"[NaN]", b'{"d":4}']
    assert [*records.lines] == [1, 2, 3, 4, 5]
    assert warnings == [LoadWarning(ODD, 3), LoadWarning(f"{ODD}; not a JSON object{KEPT}", 4)]
    assert done == [(0, 9_999), (size + 16, 9_999), (9_999, 9_999)]


def test_unknown_records_are_counted_by_kind() -> None:
    assert left_out("lines", Counter()) == []
    assert left_out("lines", Counter({"b": 2, "a": 1})) == [
        LoadWarning("holds lines of unknown kinds, left out: a (1), b (2)")
    ]


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'{"a":1}', {"a": 1}),
        (b'{"a":"\t"}', {"a": "\t"}),
        (b"[1]", None),
        (b"{", None),
        (b"[" * 300 + b"]" * 300, None),
    ],
)
def test_the_object_of_a_record(raw: bytes, value: Any) -> None:
    assert object_of(raw) == value


FIRST = b'{"type":"user","id":"1","text":"'


@pytest.mark.parametrize(
    ("line", "starts"),
    [
        (FIRST + b'{"type":"user","id":"2"}', [0, 32]),
        (b'{"type":"user","id":{"type":"user","id":"2"}', [0, 20]),
        (b'{"type":"user","id":{"type":"user","n":"2"}', [0]),
        (b'{"type":"user","id":{"type":"agent","id":"2"}', [0, 20]),
        (b'{"type":"user","id":{"type":"user","id":"2"},', [0]),
        (b'{"type":"user","id":{"type":"user","id":"2"} \t\x00', [0, 20]),
        (b'{"type":"user","id":{"id":"2","type":"user"}', [0]),
        (b'{"type": true , "id":{"type":"user", "id":"2"}', [0, 21]),
        (b'{"type": true , "id":{"type": 12.5 , "id":"2"}', [0, 21]),
    ],
)
def test_a_record_that_a_cut_one_swallowed_has_its_first_two_keys(line: bytes, starts: list[int]) -> None:
    assert [one.start for one in records_of(line + b"\n1") if one.line == 1] == starts


@pytest.mark.parametrize(("nuls", "found"), [(1, 2), (100, 2)])
def test_nul_bytes_may_part_a_cut_record_from_the_next(nuls: int, found: int) -> None:
    line = b'{"a":1,' + b"\x00" * nuls + b'{"b":2}'
    assert [one.value for one in records_of(line + b"\n")][-1:] == [{"b": 2}]
    assert len([*records_of(line)]) == found
