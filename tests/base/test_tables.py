"""A table's renderings tell the same values: for people short and safe, for programs unrounded."""

from __future__ import annotations

import csv
import io

from workbench.base import tables
from workbench.base.tables import Row, Table, columns, document, duration, escaped, markdown, text

MADE = Table(
    "files",
    "By file",
    columns("tokens:tokens share:share cost:money since:time seconds:seconds:took own:flag path:text:file_or_folder"),
    (
        Row((1_234_567, 0.9999, 0.01234, 0.0, 90, True, "/a/b.py"), "message-0001-long"),
        Row((None, None, None, None, None, False, "two\nlines\x1b[31m"), None),
    ),
)


def test_text_is_aligned_shows_ids_and_obeys_nothing() -> None:
    assert text(MADE) == [
        "   tokens   share   cost  since              took  own  id            file or folder",
        "1 234 567  99.9 %  $0.01  1970-01-01 00:00  2 min  yes  message-0001  /a/b.py",
        "                                                    no                two lines␛[31m",
    ]


def test_json_has_the_fields_with_their_kinds_and_values_unrounded() -> None:
    table = Table("kept", "Kept", columns("preset kept_share:share:kept text"), (Row(("trim", 2 / 3, "x"), "m1"),))
    assert document(table) == {
        "table": "kept",
        "title": "Kept",
        "fields": [
            {"name": "preset", "kind": "text"},
            {"name": "kept_share", "kind": "share"},
            {"name": "message", "kind": "message"},
            {"name": "text", "kind": "text"},
        ],
        "rows": [["trim", 2 / 3, "m1", "x"]],
    }


def test_programs_get_values_unrounded_and_ids_whole() -> None:
    heads, *rows = csv.reader(io.StringIO(tables.csv(MADE).decode()))
    assert heads == ["tokens", "share", "cost", "since", "seconds", "own", "message", "path"]
    assert rows[0] == [
        "1234567",
        "0.9999",
        "0.01234",
        "1970-01-01T00:00:00.000Z",
        "90",
        "yes",
        "message-0001-long",
        "/a/b.py",
    ]
    assert rows[1][:5] == [""] * 5


def test_a_wide_text_keeps_the_columns_aligned() -> None:
    made = Table("t", "", columns("name count:count"), (Row(("会议", 1)), Row(("abcdef", 12))))
    assert text(made) == ["name    count", "会议        1", "abcdef     12"]


def test_a_cut_table_says_how_much_is_left_out() -> None:
    assert (MADE.first(1).more, MADE.first(1).first(0).more, MADE.first(9).more) == (1, 2, 0)
    assert markdown(MADE.first(1)).splitlines()[1:] == [
        "| ---: | ---: | ---: | --- | ---: | ---: | --- |",
        "| 1 234 567 | 99.9 % | $0.01 | 1970-01-01 00:00 | 2 min | yes | /a/b.py |",
        "",
        "and 1 more",
    ]


def test_markdown_of_a_text_is_text() -> None:
    assert escaped("a|b <i> [x](y)") == r"a\|b \<i\> \[x\](y)"


def test_a_duration_has_one_unit() -> None:
    assert [duration(one) for one in (0.25, 9.94, 10, 59, 60, 3_600, 86_400)] == [
        "0.2 s", "9.9 s", "10 s", "59 s", "1 min", "1 h", "1 d",
    ]  # fmt: skip
