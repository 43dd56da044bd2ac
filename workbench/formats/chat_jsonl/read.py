"""Read chat JSONL."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from workbench.base.errors import BadInput
from workbench.formats.bodies import request_in
from workbench.formats.chat_jsonl import ID
from workbench.formats.format import Progress
from workbench.formats.kit.jsonl import objects_of, records_of
from workbench.formats.kit.names import first_words
from workbench.session import LoadWarning, Records, Session


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read the messages of all lines. Raises BadInput unless they belong to one API."""
    warnings: list[LoadWarning] = []
    records = Records(data)
    lines = [*objects_of(records_of(data), len(data), records, warnings, progress)]
    request = request_in({"messages": [value for value, _, _ in lines]})
    if request is None or not lines:
        raise BadInput(f"{path}: its lines are not messages of one chat; open a file with one message per line.")
    messages = tuple(
        replace(message, source=(lines[message.source[0]][1],) if message.source else ())
        for message in request.messages
    )
    return Session(
        format=ID,
        path=path,
        messages=messages,
        records=records,
        title=first_words(messages),
        warnings=(*warnings, *request.warnings),
    )
