"""Secrets in tables (Markdown, CSV, aligned columns, SQL), by column title or by the name in their row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count

from workbench.base.secrets.names import Kind, Name, kind_of
from workbench.base.secrets.spans import IndexedText, Span, places_of
from workbench.base.secrets.values import (
    is_drawn,
    is_evident,
    is_lowered,
    is_mixed,
    is_no_secret,
    is_passphrase,
)

_TITLE_ENDS = re.compile(r"[\"'`* \t]*(?:[|│,;\t\r\n]|(?<=  )|\Z)|  ")
_LONGEST_LINE = 600
_ROWS = 200
_RULE = re.compile(r"[\s|+:=─━┼│-]*\Z")
_CELL = re.compile(r"[^|│\n]+")
_COLUMN = re.compile(r"\S+(?: \S+)*")
_OF_CSV = {
    sign: re.compile(rf"(?:\A|(?<={sign}))(?:\"([^\"\n]*)\"|([^{sign}\"\n]*))(?={sign}|\Z)")
    for sign in (",", ";", "\t")
}
_TITLE_OF_CSV = re.compile(r"\"?[A-Za-z_][\w .-]{0,40}\"?\Z")
_INSERT = re.compile(
    r"\s{0,9}(?:INTO\s{1,9})?[\w.\"`\[\]]{1,80}\s{0,9}\(([^()\n]{1,600})\)\s{0,9}VALUES?\s{0,9}", re.IGNORECASE
)
_COPY = re.compile(
    r"\s{1,9}[\w.\"]{1,80}\s{0,9}\(([^()\n]{1,600})\)\s{1,9}FROM\s{1,9}stdin[^\n]{0,80}\n", re.IGNORECASE
)
_TUPLE = re.compile(r"\s{0,40},?\s{0,40}\(")
_VALUE = re.compile(
    r"\s{0,40}(?:\w{1,30}\(\s?(?:N|E)?'((?:[^'\n]|'')*)'(?:[^()]|\([^()]{0,80}\)){0,120}\)|(?:N|E|b)?'((?:[^'\n]|'')*)'(?:::\w+)?"
    r"|\"[^\"\n]*\"|[^,()'\"]{0,200}(?:\([^()]{0,200}\))?)\s{0,20}([,)])"
)
_SQL = {"insert", "replace", "copy"}
_TYPE = re.compile(r"\w+\(\d+(?:,\d+)?\)\Z|[\d.,:%-]+[a-zA-Z]{0,3}\Z|\d{4}-\d\d-\d\d")


def spans(source: IndexedText, names: Sequence[Name]) -> Iterator[Span]:
    """Yield the secrets in SQL, and in tables with one of `names` as the title of a column or row."""
    text, ascii_text, words = source
    seen: set[int] = set()
    for name in names:
        if _TITLE_ENDS.match(ascii_text, name.end):
            at = name.start
            start = ascii_text.rfind("\n", max(0, at - _LONGEST_LINE), at) + 1
            end = ascii_text.find("\n", at, at + _LONGEST_LINE)
            end = len(text) if end < 0 else end
            if start in seen or end - start > _LONGEST_LINE:
                continue
            seen.add(start)
            line = text[start:end]
            before = text[text.rfind("\n", max(0, start - _LONGEST_LINE), max(0, start - 1)) + 1 : max(0, start - 1)]
            if "|" in line or "│" in line:
                is_first = "|" not in before or bool(_RULE.match(before))
                yield from _bar_table_secrets(text, start, end, is_first=is_first)
            elif "  " in line.strip() and "(" not in line and "  " not in before.strip():
                yield from _aligned_table_secrets(text, start, end)
            elif sign := next((sign for sign in (",", ";", "\t") if sign in line and sign not in before), None):
                yield from _csv_secrets(text, start, end, sign)
    if words & _SQL:
        yield from _sql_secrets(text, ascii_text)


def _bar_table_secrets(text: str, start: int, end: int, *, is_first: bool) -> Iterator[Span]:
    """Yield the secrets of a table with bars. The line at `start` has the titles of columns if `is_first`, or is a row
    with a name and its value."""
    titles = [(cell.start() - start, cell[0].strip(" `*")) for cell in _CELL.finditer(text, start, end)]
    kinds = {number: kind for number, (_, title) in enumerate(titles) if (kind := _kind(title))}
    for number, kind in kinds.items():  # a row of names and values
        cells = list(_CELL.finditer(text, start, end))
        next_cell = cells[number + 1 : number + 2] if number < 2 and len(cells) - number <= 3 else []
        for cell in next_cell:
            if (span := _secret(cell, kind, is_strict=True)) is not None:
                yield span
    if not kinds or len(titles) < 2 or not is_first:
        return
    for row_start, row_end in _rows(text, end):
        if _RULE.match(text, row_start, row_end) and row_end > row_start:
            continue
        cells = list(_CELL.finditer(text, row_start, row_end))
        if len(cells) != len(titles):
            return
        for number, kind in kinds.items():
            if (span := _secret(cells[number], kind, is_strict=False)) is not None:
                yield span


def _aligned_table_secrets(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the secrets in aligned columns: below the title of a column, or next to a name in a table `Key  Value`."""
    titles = list(_COLUMN.finditer(text, start, end))
    names = [title[0].lower() for title in titles]
    is_key_value = (
        len(names) == 2
        and names[0] in ("key", "name", "field", "variable", "parameter", "property")
        and names[1] == "value"
    )
    kinds = [(title.start() - start, kind) for title in titles if (kind := _kind(title[0]))]
    if not is_key_value and (not kinds or len(titles) < 2):
        return
    for row_start, row_end in _rows(text, end):
        words = list(_COLUMN.finditer(text, row_start, row_end))
        if not words:
            return
        if is_key_value:
            if len(words) == 2 and (kind := _kind(words[0][0])) and (span := _secret(words[1], kind, is_strict=False)):
                yield span
            continue
        for column, kind in kinds:
            for word in words:
                if word.start() - row_start == column and (span := _secret(word, kind, is_strict=True)):
                    yield span


def _csv_secrets(text: str, start: int, end: int, sign: str) -> Iterator[Span]:
    titles = [cell[1] or cell[2] or "" for cell in _OF_CSV[sign].finditer(text[start:end].rstrip("\r"))]
    if len(titles) < 2 or not all(_TITLE_OF_CSV.match(title) for title in titles):
        return
    kinds = {number: kind for number, title in enumerate(titles) if (kind := _kind(title))}
    for row_start, row_end in _rows(text, end) if kinds else ():
        row = text[row_start:row_end].rstrip("\r")
        cells = list(_OF_CSV[sign].finditer(row))
        if len(cells) != len(titles):
            return
        for number, kind in kinds.items():
            group = 1 if cells[number][1] is not None else 2
            if _is_secret(cells[number][group], kind, is_strict=sign == "\t"):
                yield row_start + cells[number].start(group), row_start + cells[number].end(group)


def _sql_secrets(text: str, ascii_text: str) -> Iterator[Span]:
    """Yield the secrets in the rows of SQL statements that name their columns: INSERT, REPLACE and COPY."""
    for word in ("INSERT", "insert", "REPLACE"):
        for at in places_of(word, ascii_text):
            if head := _INSERT.match(text, at + len(word)):
                kinds = _columns(head[1])
                yield from _tuple_secrets(text, head.end(), kinds) if kinds else ()
    for word in ("COPY", "copy"):
        for at in places_of(word, ascii_text):
            if (head := _COPY.match(text, at + len(word))) and (kinds := _columns(head[1])):
                for row_start, row_end in _rows(text, head.end() - 1):
                    cells = list(re.finditer(r"[^\t\n]*(?:\t|\Z)", text[row_start:row_end]))
                    for number, kind in kinds.items():
                        cell = cells[number] if number < len(cells) else None
                        if cell and _is_secret(cell[0].rstrip("\t"), kind, is_strict=False):
                            yield row_start + cell.start(), row_start + cell.start() + len(cell[0].rstrip("\t"))


def _columns(names: str) -> dict[int, Kind]:
    kinds = ((number, _kind(name.strip(' "`[]'))) for number, name in enumerate(names.split(",")))
    return {number: kind for number, kind in kinds if kind}


def _tuple_secrets(text: str, at: int, kinds: dict[int, Kind]) -> Iterator[Span]:
    for _ in range(_ROWS):
        opened = _TUPLE.match(text, at)
        if opened is None:
            return
        at = opened.end()
        for number in count():
            value = _VALUE.match(text, at)
            if value is None:
                return
            at = value.end()
            literal = 1 if value[1] else 2
            if number in kinds and value[literal] and _is_secret(value[literal], kinds[number], is_strict=False):
                yield value.span(literal)
            if value[3] == ")":
                break


def _rows(text: str, end: int) -> Iterator[Span]:
    """Yield the lines after `end`, up to the first empty one, at most `_ROWS`."""
    for _ in range(_ROWS):
        start = end + 1
        end = text.find("\n", start, start + 2 * _LONGEST_LINE)
        end = min(len(text), start + 2 * _LONGEST_LINE) if end < 0 else end
        if start >= len(text) or not text[start:end].strip():
            return
        yield start, end


def _kind(title: str) -> Kind | None:
    """Return the kind of the name in a title, None if it names no secret or has more than four words."""
    return kind_of(title) if 2 < len(title) <= 40 and title.count(" ") <= 3 else None


def _secret(cell: re.Match[str], kind: Kind, *, is_strict: bool) -> Span | None:
    bare = cell[0].strip(" `*\r\t")
    start = cell.start() + cell[0].find(bare)
    return (start, start + len(bare)) if _is_secret(bare, kind, is_strict=is_strict) else None


def _is_secret(value: str, kind: Kind, *, is_strict: bool) -> bool:
    """True if a cell is a secret. `is_strict`: the cell may be prose, so plain words do not count."""
    if kind == "pin":
        return value.isdecimal() and 4 <= len(value) <= 12 and not is_strict
    if len(value) < 4 or is_no_secret(value) or _TYPE.match(value):
        return False
    if kind not in ("chosen", "pass"):
        return " " not in value and is_drawn(value, 16)
    if " " in value:
        return not is_strict and value.islower() and is_passphrase(value)
    if is_strict:
        return is_evident(value) or is_drawn(value, 12)
    return len(value) >= 6 and is_mixed(value) and not is_lowered(value)
