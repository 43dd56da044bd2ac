"""Reading: OpenAI JSONL."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.formats.bodies import Asked, answered_in, asked_in
from workbench.formats.format import Part, Progress, no_progress
from workbench.formats.kit.jsonl import objects_of, records_of
from workbench.formats.kit.several import numbered, one_of
from workbench.formats.kit.titles import first_words
from workbench.formats.kit.values import dict_of, list_of, word_of
from workbench.formats.openai_jsonl.signature import ID
from workbench.session import LoadWarning, Message, Records, Session

_CONVERSATION = frozenset(["body", "input", "messages", "params", "response", "result"])
Line = tuple[dict[str, Any], int, int]
"""The object of a line, its index among the records, and its number."""


def sessions_in(path: Path, data: bytes) -> tuple[Part, ...]:
    """Every line that holds a conversation. Raises BadInput where none does."""
    parts = []
    for number, (line, _, _) in enumerate(_lines(path, data, Records(data), [], no_progress), 1):
        messages = _messages(line)[0]
        title = ": ".join(filter(None, (word_of(line.get("custom_id")), first_words(messages))))
        parts.append(Part(str(number), title, len(messages)))
    return tuple(parts)


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read the first conversation. Raises BadInput where no line holds one."""
    records, warnings = Records(data), list[LoadWarning]()
    lines = _lines(path, data, records, warnings, progress)
    return one_of(len(lines), "conversation", _session(path, records, warnings, lines[0]))


def read_part(path: Path, data: bytes, part_id: str, progress: Progress) -> Session:
    """Read one conversation by its number from 1. Raises BadInput where there is no such one."""
    records, warnings = Records(data), list[LoadWarning]()
    lines = _lines(path, data, records, warnings, progress)
    return _session(path, records, warnings, numbered(path, lines, part_id))


def _lines(path: Path, data: bytes, records: Records, warnings: list[LoadWarning], progress: Progress) -> list[Line]:
    given = objects_of(records_of(data), len(data), records, warnings, progress)
    found = [line for line in given if _CONVERSATION & line[0].keys()]
    if not found:
        raise BadInput(f"{path}: no line holds a conversation; open a file whose lines have messages or a body.")
    return found


def _session(path: Path, records: Records, warnings: list[LoadWarning], line: Line) -> Session:
    value, index, number = line
    messages, asked = _messages(value)
    if not messages:
        raise BadInput(f"{path}: line {number} holds no readable conversation; choose another line.")
    alone = () if asked else (LoadWarning("has only the answer; the request is in the batch's input", number),)
    return Session(
        format=ID,
        path=path,
        messages=tuple(replace(one, id=f"m{place}", source=(index,)) for place, one in enumerate(messages, 1)),
        records=records,
        id=word_of(value.get("custom_id")) or "",
        title=first_words(messages),
        model=(asked.model if asked else None) or next((one.model for one in messages if one.model), None),
        tools=asked.tools if asked else (),
        warnings=(*warnings, *(asked.warnings if asked else ()), *alone),
    )


def _messages(line: dict[str, Any]) -> tuple[tuple[Message, ...], Asked | None]:
    """The conversation of a line, and what of it was a request: none in the results of a batch."""
    for key in ("body", "params"):
        if isinstance(line.get(key), dict):
            asked = asked_in(line[key])
            return (asked.messages if asked else ()), asked
    came = dict_of(line.get("response")).get("body", dict_of(line.get("result")).get("message"))
    if came is not None:
        answer = answered_in(came)
        return ((answer,) if answer else ()), None
    preferred = list_of(line.get("preferred_output"))
    body = dict_of(line["input"]) if "preferred_output" in line else line
    asked = asked_in({**body, "messages": [*list_of(body.get("messages")), *preferred]})
    return (asked.messages if asked else ()), asked
