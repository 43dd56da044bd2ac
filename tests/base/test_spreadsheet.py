"""CSV that a spreadsheet opens: each row stays one, and no text of a session is run."""

from __future__ import annotations

import csv
import io
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.base.spreadsheet import csv_of

SIGNS = "=+-@＝＋－＠﹢﹣﹦﹫"
BLANKS = (
    *("", " ", "  ", "\t", "\r", "\n", "\r\n", "\v", "\f", "\0", "\x1f", "\x85", "\xa0", "\xad"),
    *("\u2028", "\u200b", "\u2060", "\u3000", "\ufeff", "\ufeff ", " \u202e"),
)
TEXTS = (
    *("", " ", "\ufeff", "a", " a", "1", "a=1", "a\r=1+1", "a\n=1+1", " \t", " \n", "1-1"),
    *("'=1+1", "_=1", "\u2212x", "/=", "~@"),
)
QUOTED = ("a\rb", "a\nb", "a\r\nb", " \r", "a,b", 'a"b', '"', 'a",\n=1+1,"', "a;b", "a\tb", "a b")
SEVERAL = st.lists(st.lists(st.text(), min_size=3, max_size=3), max_size=4)


def read(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8"), newline="")))


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("blank", BLANKS)
def test_f5_a_text_that_would_be_run_begins_with_a_mark(blank: str, sign: str) -> None:
    formula = f"{blank}{sign}1+1"
    assert read(csv_of([["path", formula, "z"]])) == [["path", f"'{formula}", "z"]]


@pytest.mark.parametrize("text", ["\t", "\ta", "\r", "\na"])
def test_f5_so_does_one_that_begins_with_the_end_of_a_cell_or_line(text: str) -> None:
    assert read(csv_of([[text, "z"]])) == [[f"'{text}", "z"]]


@pytest.mark.parametrize("text", TEXTS)
def test_f5_any_other_text_stays_as_it_is(text: str) -> None:
    assert read(csv_of([["path", text, "z"]])) == [["path", text, "z"]]


@pytest.mark.parametrize("text", QUOTED)
def test_f5_each_text_is_quoted_whole(text: str) -> None:
    assert csv_of([[text, "z"]]) == f'"{text.replace(chr(34), chr(34) * 2)}","z"\n'.encode()


def test_f5_a_number_is_one_and_none_is_an_empty_cell() -> None:
    assert csv_of([["a", "b"], [-1, None], [2.5, True]]) == b'"a","b"\n-1,""\n2.5,"yes"\n'


@given(SEVERAL)
def test_f5_python_reads_the_same_rows_but_for_the_marks(rows: list[list[str]]) -> None:
    found = read(csv_of(rows))
    assert [len(row) for row in found] == [len(row) for row in rows]
    for cell, text in zip(chain(*found), chain(*rows), strict=True):
        assert cell in (text, f"'{text}")


def test_f5_half_a_character_is_written_as_its_escape() -> None:
    assert read(csv_of([["\ud800=1"]])) == [["\\ud800=1"]]
