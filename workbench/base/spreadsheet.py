"""CSV that a spreadsheet opens: a row stays one row, and no text in it is run as a formula."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterable, Sequence

Cell = str | int | float | bool | None

_SIGNS = "=+-@"
"""First characters of a formula, in their narrow form: spreadsheets also take a wide `＝` for one."""

_UNSEEN = ("Cc", "Cf", "Zs", "Zl", "Zp")
"""Categories of characters that an import may strip before it looks for a formula: blanks, controls, a BOM."""


def csv_of(rows: Iterable[Sequence[Cell]]) -> bytes:
    """Return the rows as CSV in UTF-8, each text quoted, so that no character in it ends its cell or row.

    A text that a spreadsheet would run begins with a `'`. None is an empty cell, True and False are yes and no, and
    half a character (a lone surrogate) is its escape.
    """
    out = io.StringIO()
    csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC).writerows(map(_cell, row) for row in rows)
    return out.getvalue().encode("utf-8", "backslashreplace")


def _cell(value: Cell) -> str | float:
    if isinstance(value, str):
        return f"'{value}" if _is_formula(value) else value
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else value


def _is_formula(text: str) -> bool:
    if text.startswith(("\t", "\r", "\n")):  # an import that ignores quotes would start another cell or row here
        return True
    first = next((one for one in text if unicodedata.category(one) not in _UNSEEN), "")
    return first != "" and unicodedata.normalize("NFKC", first) in _SIGNS
