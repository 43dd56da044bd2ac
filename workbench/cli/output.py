"""How results are written: JSON for programs, aligned plain text for people, colour only on a terminal."""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from functools import singledispatch
from pathlib import Path
from typing import Any

import click

from workbench.base.figures import grouped

SCHEMA = 1
"""Of every JSON document: greater when a key goes or means something else. New keys come without notice."""


def write_json(*results: object) -> None:
    """One JSON document on stdout: the schema, then the keys of each result, a dataclass or a mapping.

    A lone surrogate leaves as its JSON escape, which any parser takes.
    """
    document = {"schema": SCHEMA}
    for result in results:
        document |= plain(result)
    text = json.dumps(document, ensure_ascii=False, indent=2, default=plain)
    click.echo(text.encode("utf-8", "backslashreplace").decode())


@singledispatch
def plain(value: Any) -> Any:
    """What JSON has in place of `value`, one level deep: of a dataclass its fields. Whoever tells of a type in words
    registers another way for it, or `json_keys`."""
    return fields_of(value)


def json_keys(kind: type, *names: str) -> None:
    """Values of `kind` have these attributes as their keys, properties among them."""
    plain.register(kind)(lambda value: only(value, *names))


def fields_of(value: Any) -> dict[str, Any]:
    return only(value, *(field.name for field in fields(value)))


def only(value: object, *names: str) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names}


@plain.register
def _(value: Enum) -> str:
    return value.name.lower()


@plain.register
def _(value: Path) -> str:
    return str(value)


@plain.register(array)
def _(value: array[int]) -> list[int]:
    return list(value)


@plain.register(Mapping)
def _(value: Mapping[str, Any]) -> dict[str, Any]:
    return dict(value)


def write_fields(rows: list[tuple[str, str]], *, err: bool = False) -> None:
    """Names to the left, values to the right; a value of several lines stays in its column."""
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        indented = value.replace("\n", "\n" + " " * (width + 2))
        click.echo(f"{click.style(name.ljust(width), dim=True)}  {indented}", err=err)


def write_table(heads: list[str], rows: list[list[str]]) -> None:
    """Columns to the right, the last one to the left. No row is left out."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    click.secho(_row(heads, widths), dim=True)
    for row in rows:
        click.echo(_row(row, widths))


def _row(cells: list[str], widths: list[int]) -> str:
    last = len(cells) - 1
    return "  ".join(cell if i == last else cell.rjust(widths[i]) for i, cell in enumerate(cells)).rstrip()


def counted(number: int, thing: str) -> str:
    """`1 round`, `12 rounds`."""
    return f"{grouped(number)} {thing}" + ("" if number == 1 else "s")


def warn(text: str) -> None:
    """A sentence beside the result, on stderr."""
    click.echo(f"Note: {text}", err=True)


def on_a_terminal() -> bool:
    """Whether a person watches: only then may progress be shown."""
    return sys.stdout.isatty() and sys.stderr.isatty()
