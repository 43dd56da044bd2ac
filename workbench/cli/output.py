"""Output of results: JSON for programs, aligned plain text for people, colour only on a terminal."""

from __future__ import annotations

import json
import os
import re
import sys
from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from enum import Enum
from functools import singledispatch
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from workbench.base import tables
from workbench.base.figures import grouped
from workbench.base.printable import printable
from workbench.base.secrets import masked_value
from workbench.base.tables import Table
from workbench.base.tables import only as only
from workbench.base.text import counted
from workbench.base.version import SCHEMA
from workbench.cli.keys import KEYS

if TYPE_CHECKING:
    from workbench.tokens.sizes import Size

Command = TypeVar("Command", bound=Callable[..., Any])

INTERRUPTED = 130
"""Exit code after Ctrl-C, as in shells."""

_UNESCAPED = re.compile("[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control and bidirectional characters that `json.dumps` does not escape."""


def write_json(*results: object) -> None:
    """Write one JSON document to stdout: the schema, then the keys of each result.

    Secrets are masked. Control characters and lone surrogates become JSON escapes.
    """
    click.echo(json_document(*results).decode())


def json_document(*results: object) -> bytes:
    document = {"schema": SCHEMA}
    for result in results:
        document |= plain(result)
    masked = masked_value(_plain_whole(document))
    text = json.dumps(masked, ensure_ascii=False, indent=2)
    return _UNESCAPED.sub(lambda sign: f"\\u{ord(sign.group()):04x}", text).encode("utf-8", "backslashreplace")


def _plain_whole(value: Any) -> Any:
    """Convert a value to plain JSON values, at every level."""
    match value:
        case float() if not isfinite(value):  # a session may hold one, JSON has none
            return json.dumps(value)
        case None | bool() | int() | float() | str():
            return value
        case dict():
            return {key: _plain_whole(inner) for key, inner in value.items()}
        case list() | tuple():
            return list(map(_plain_whole, value))
        case _:
            return _plain_whole(plain(value))


USD_PER_MILLION = "usd per million tokens"


@singledispatch
def plain(value: Any) -> Any:
    """Return the JSON value of `value`, one level deep; by default `fields_of`. Commands register functions for types
    that need another form."""
    return fields_of(value)


def fields_of(value: Any) -> dict[str, Any]:
    """Return the attributes that `KEYS` lists for the type of `value`, else all fields of the Struct or dataclass."""
    kind = type(value)
    names = KEYS.get(f"{kind.__module__}.{kind.__name__}".removeprefix("workbench."))
    if names:
        return only(value, *names.split())
    own = getattr(value, "__struct_fields__", None)  # a Struct; msgspec is not imported, to keep `--help` fast
    return only(value, *(own or (field.name for field in fields(value))))


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
    """Print names on the left and values on the right, safe to print; further lines of a value are indented."""
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        indented = printable(value).replace("\n", "\n" + " " * (width + 2))
        click.echo(f"{click.style(name.ljust(width), dim=True)}  {indented}", err=err)


def write_tables(several: Iterable[Table], most: int | None = None) -> None:
    """Print the tables that have rows, at most `most` rows of each: title, note, headings, rows."""
    for table in several:
        shown = table if most is None else table.first(most)
        if not shown.rows:
            continue
        left_out = f", {grouped(shown.more)} more in --json and --csv" if shown.more else ""
        if table.title:
            click.echo(f"\n{table.title}{left_out}")
        if table.note:
            click.secho(table.note, dim=True)
        heads, *rows = tables.text(shown)
        click.secho(heads, dim=True)
        for row in rows:
            click.echo(row)


json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document instead of text.")


def csv_option(*keys: str) -> Callable[[Command], Command]:
    """Return the option `--csv` with the parameter `as_csv`: the key of the table to write, or None. The user names the
    key if there are several."""
    if len(keys) == 1:
        return click.option("--csv", "as_csv", flag_value=keys[0], default=None, help="The table as CSV, unrounded.")
    help = f"One of the tables as CSV, complete and unrounded: {', '.join(keys)}."
    return click.option("--csv", "as_csv", type=click.Choice(keys), metavar="TABLE", help=help)


def write_csv(results: Mapping[str, Table], key: str) -> None:
    """Write the table with this key as CSV. Raises UsageError if this run has no such table."""
    if key not in results:
        raise click.UsageError(f"--csv {key}: this result has no such table; choose one of {', '.join(results)}.")
    click.echo(tables.csv(results[key]), nl=False)


def only_in_json(full: bool, *, as_json: bool) -> None:
    """Raise UsageError for `--full` without `--json`."""
    if full and not as_json:
        raise click.UsageError("--full extends --json; give both.")


def size_words(size: Size) -> str:
    return f"{counted(size.messages, 'message')}, {counted(size.chars, 'character')}, {size} tokens"


def warn(text: str) -> None:
    """Print a sentence on stderr."""
    click.echo(f"Note: {text}", err=True)


def interrupted(left: str) -> click.exceptions.Exit:
    """Print `left`, the state of the work after Ctrl-C, and return the exit to raise."""
    click.echo(left, err=True)
    return click.exceptions.Exit(INTERRUPTED)


def has_a_screen() -> bool:
    """True if input and output are a terminal that takes escape codes."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not _is_dumb()


def on_a_terminal() -> bool:
    """True if progress may be shown on stderr."""
    return sys.stdout.isatty() and sys.stderr.isatty()


def takes_escapes() -> bool:
    """False if the user wants no colours (NO_COLOR is not empty) or the terminal shows escape codes as text."""
    return not os.environ.get("NO_COLOR") and not _is_dumb()


def _is_dumb() -> bool:
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")


def over_line(text: str = "") -> str:
    """Return `text` after the characters that clear the current line of a terminal."""
    clear = "\033[K" if takes_escapes() else " " * (_columns() - 1) + "\r"
    return f"\r{clear}{text}"


def _columns() -> int:
    """Return the width of the terminal that shows stderr; 80 without one."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        return 80
