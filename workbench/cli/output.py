"""How results are written: JSON for programs, aligned plain text for people, colour only on a terminal."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from workbench.base.figures import grouped
from workbench.tokens.sizes import Size

if TYPE_CHECKING:  # `cwb inspect` writes no trigger and does not wait for what strategies need.
    from workbench.compaction.strategy import Trigger


def write_json(value: dict[str, Any]) -> None:
    """One JSON document on stdout. A lone surrogate leaves as its JSON escape, which any parser takes."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    click.echo(text.encode("utf-8", "backslashreplace").decode())


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


def size_fields(size: Size) -> dict[str, Any]:
    return {"messages": size.messages, "chars": size.chars, "tokens": size.tokens}


def trigger_fields(trigger: Trigger) -> dict[str, Any]:
    return {**asdict(trigger), "distance": trigger.distance}


def size_words(size: Size) -> str:
    return f"{counted(size.messages, 'message')}, {counted(size.chars, 'character')}, {size} tokens"


def warn(text: str) -> None:
    """A sentence beside the result, on stderr."""
    click.echo(f"Note: {text}", err=True)


def on_a_terminal() -> bool:
    """Whether a person watches: only then may progress be shown."""
    return sys.stdout.isatty() and sys.stderr.isatty()
