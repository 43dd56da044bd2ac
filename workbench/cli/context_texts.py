"""Texts of a context for `cwb inspect`: the transcript, the next prompt, and notes on its messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from workbench.analysis.transcript import Verbosity, transcript
from workbench.base.figures import grouped
from workbench.base.printable import one_line, printable
from workbench.base.tables import Row, Table, columns
from workbench.cli.output import write_tables
from workbench.compaction.context import Context

if TYPE_CHECKING:
    from workbench.compaction.prompt_parts import PromptPart

NOTE = 400
"""Most characters of a note in the table."""


class TranscriptBlock(Struct, frozen=True):
    """A block of the transcript, by its message."""

    number: int
    message: str
    role: str
    text: str


def transcript_blocks(context: Context, verbosity: Verbosity) -> list[TranscriptBlock]:
    entries = transcript(context.messages, verbosity)
    return [TranscriptBlock(one.index + 1, context.messages[one.index].id, one.voice, one.text) for one in entries]


def write_transcript(context: Context, verbosity: Verbosity) -> None:
    for entry in transcript(context.messages, verbosity):
        label = f"#{entry.index + 1} {entry.voice}"
        if verbosity == "quiet":
            click.echo(entry.text)
        else:
            text = click.style(entry.text, dim=True) if entry.voice == "note" else entry.text
            click.echo(click.style(label, bold=True) + ("\n" if "\n" in entry.text else "  ") + text)


def write_react(context: Context) -> None:
    """Write the transcript in ReAct form: Thought, Action, [tool]."""
    from workbench.compaction.assembled.prompt import react
    from workbench.compaction.assembled.tool_results import ResultLimits

    click.echo("\n\n".join(printable(text) for text in react(context.shape, limits=ResultLimits())))


def prompt_parts(context: Context) -> Sequence[PromptPart]:
    """Return the layers of the next prompt."""
    from workbench.compaction.assembled.prompt import assembled
    from workbench.compaction.assembled.tool_results import ResultLimits

    return assembled(context, ResultLimits())


def write_prompt(parts: Iterable[PromptPart]) -> None:
    for part in parts:
        note = f" ({part.note})" if part.note else ""
        click.secho(f"== {part.name}: {part.basis.value}{grouped(part.tokens)} tokens{note}", bold=True)
        click.echo(f"{printable(part.text)}\n" if part.text else "")


@dataclass(frozen=True, slots=True)
class MessageNote:
    """Notes about a message."""

    number: int
    message: str
    kind: str
    files: Sequence[str]
    text: str


def message_notes(context: Context) -> list[MessageNote]:
    from workbench.compaction.assembled.notes import notes_of

    ids = [message.id for message in context.messages]
    return [
        MessageNote(one.index + 1, ids[one.index], one.kind, one.files, one.text) for one in notes_of(context.shape)
    ]


def notes_table(notes: Iterable[MessageNote]) -> Table:
    rows = (Row((one.number, one.kind, one.text)) for one in notes)
    return Table("notes", "", columns("number:count:message kind:text:note text"), tuple(rows))


def write_notes(notes: Sequence[MessageNote]) -> None:
    if notes:
        write_tables([notes_table([replace(one, text=one_line(" ".join(one.text.split()), NOTE)) for one in notes])])
    else:
        click.echo("No notes: no @file, no file changed between two reads, no to-do list.")
