"""Reading: aider chat history."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from workbench.base.errors import BadInput
from workbench.formats.agent_texts import kind_of, with_user_text
from workbench.formats.aider.signature import HEADING, ID, LINE_END, NEWLINE
from workbench.formats.format import Part, Progress
from workbench.formats.kit.mark import CARRIED, MARK, marked
from workbench.formats.kit.several import entry_by_number
from workbench.formats.kit.titles import first_words
from workbench.session.message import Message, Role, Text
from workbench.session.session import Epoch, LoadWarning, Records, Session

_USER, _CONSOLE = b"#### ", b"> "
_PADDING = re.compile(r"  $", re.MULTILINE)
_RESTORED = re.compile(rb"^> Restored previous conversation history\.", re.MULTILINE)
"""How a session says that it went on with the whole file before it."""
_NOTED = re.compile(rb"^> " + MARK.encode() + rb": (\w+)\s*$", re.MULTILINE)


def sessions_in(path: Path, data: bytes) -> tuple[Part, ...]:
    """The sessions in the file's order; what stands before the first heading is one of its own."""
    parts: list[Part] = []
    for number, own in enumerate(_split(data), 1):
        messages = _messages(own, Records(own))
        heading = HEADING.match(own)
        started = heading[1].decode(errors="replace").strip() if heading else "began before this file"
        parts.append(Part(str(number), f"{started}  {first_words(messages)}".strip(), len(messages)))
    return tuple(parts)


def _split(data: bytes) -> list[bytes]:
    starts = [found.start() for found in HEADING.finditer(data)]
    if not starts or data[: starts[0]].strip():
        starts.insert(0, 0)
    return [data[start:stop] for start, stop in zip(starts, [*starts[1:], len(data)], strict=True)]


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read what aider restores: every session of the file. Raises BadInput when nobody says anything in it."""
    session = _session(path, data, progress)
    starts = len(_split(data))
    if not session.context():
        raise BadInput(f"{path} is an aider history without messages; open another file.")
    if starts == 1:
        return session
    text = (
        f"holds {starts} sessions, shown as aider restores them; aider may summarize the part above its "
        "history limit; the file does not record that"
    )
    return replace(session, warnings=(LoadWarning(text),))


def read_part(path: Path, data: bytes, part_id: str, progress: Progress) -> Session:
    """Read one session by its place from 1, with all before it if it says that it restored them. Raises BadInput when
    there is no such session."""
    starts = _split(data)
    own = entry_by_number(path, starts, part_id, "session")
    return _session(path, b"".join(starts[: int(part_id)]) if _RESTORED.search(own) else own, progress)


def _session(path: Path, data: bytes, progress: Progress) -> Session:
    progress(0, len(data))
    records = Records(data)
    messages = with_user_text(_messages(data, records))
    progress(len(data), len(data))
    return Session(
        format=ID,
        path=path,
        messages=messages,
        epochs=(Epoch(1, [n for n, message in enumerate(messages) if message.kind != "boundary"]),),
        records=records,
        title=first_words(messages),
    )


def _messages(own: bytes, records: Records) -> list[Message]:
    """Runs of lines of one speaker. Console lines are boundaries: seen in the file, never sent; nor is a line of an
    answer that begins like a heading."""
    messages: list[Message] = []
    noted: str | None = None
    for mark, start, stop, line in _runs(own):
        raw = own[start:stop]
        found = _NOTED.search(raw) if mark == _CONSOLE else None
        if found:
            noted = found[1].decode()
            continue
        if mark == _CONSOLE and CARRIED.encode() in raw:
            continue
        text = _text(mark, raw)
        if not text.strip():
            continue
        role: Role = "assistant" if mark == b"" else "user" if mark == _USER else "system"
        source = (records.add(start, stop, line),)
        blocks = (Text(text),)
        kind = "boundary" if mark == _CONSOLE else marked({MARK: noted}) or kind_of(role, blocks)
        noted = noted if mark == _CONSOLE else None
        messages.append(Message(f"m{len(messages) + 1}", role, blocks, kind, source=source))
    return messages


def _runs(own: bytes) -> Iterator[tuple[bytes, int, int, int]]:
    """(mark, start, stop, line from 1) of each run of lines with one mark; the heading is left out."""
    at, number = 0, 1
    marked_lines: list[tuple[bytes, int, int, int]] = []
    for stop in [*(end.end() for end in LINE_END.finditer(own)), len(own)]:
        mark = next((m for m in (_USER, _CONSOLE) if own.startswith(m, at)), b"")
        if not HEADING.match(own, at):
            marked_lines.append((mark, at, stop, number))
        at, number = stop, number + own.endswith(b"\n", at, stop)
    for mark, run in groupby(marked_lines, key=lambda line: line[0]):
        lines = list(run)
        yield mark, lines[0][1], lines[-1][2], lines[0][3]


def _text(mark: bytes, raw: bytes) -> str:
    lines = NEWLINE.sub("\n", raw.decode(errors="replace")).removesuffix("\n").splitlines(keepends=True)
    if not mark:
        return "".join(line for line in lines if not line.startswith("# ")).strip("\n")
    return _PADDING.sub("", "".join(line[len(mark) :] for line in lines))
