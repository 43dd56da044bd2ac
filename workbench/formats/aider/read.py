"""Reading: aider chat history."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from pathlib import Path

from workbench.base.errors import BadInput
from workbench.base.stamps import seconds_of
from workbench.formats.format import Part, Progress, Written
from workbench.formats.kit.blocks import as_text, kind_of
from workbench.formats.kit.item_list import Notes
from workbench.formats.kit.mark import MARK, marked
from workbench.formats.kit.settle import as_user_text, settled
from workbench.formats.kit.titles import first_words
from workbench.formats.openai_chat.embedded import told
from workbench.session import (
    Epoch,
    LoadWarning,
    Message,
    Opaque,
    Records,
    Role,
    Session,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)

ID = "aider"
_HEADING = re.compile(rb"^# aider chat started at ([^\n]*)\n?", re.MULTILINE)
_USER, _CONSOLE = b"#### ", b"> "
_NOTED = re.compile(rb"^> " + MARK.encode() + rb": (\w+)\s*$", re.MULTILINE)
_MARKS = ("# ", "> ", "#### ")


def recognise(head: bytes) -> str:
    if _HEADING.search(head) and head.lstrip()[:1] not in (b"{", b"["):
        return "a line `# aider chat started at`"
    return ""


def sessions_in(path: Path, data: bytes) -> tuple[Part, ...]:
    """The sessions in the file's order; what stands before the first heading is one of its own."""
    parts: list[Part] = []
    for number, own in enumerate(_split(data), 1):
        messages = _messages(own, Records(own))
        heading = _HEADING.match(own)
        started = heading[1].decode(errors="replace").strip() if heading else "begins before the file"
        parts.append(Part(str(number), f"{started}  {first_words(messages)}".strip(), len(messages)))
    return tuple(parts)


def _split(data: bytes) -> list[bytes]:
    starts = [found.start() for found in _HEADING.finditer(data)]
    if not starts or data[: starts[0]].strip():
        starts.insert(0, 0)
    return [data[start:stop] for start, stop in zip(starts, [*starts[1:], len(data)], strict=True)]


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read the last session that has a message: the one aider would go on with. Raises BadInput when none has."""
    sessions = _split(data)
    for number in range(len(sessions), 0, -1):
        own = data if len(sessions) == 1 else sessions[number - 1]
        if any(message.kind != "boundary" for message in _messages(own, Records(own))):
            session = read_part(path, data, str(number), progress)
            warning = LoadWarning(f"holds {len(sessions)} sessions; this is the last that is not empty")
            return session if len(sessions) == 1 else replace(session, warnings=(warning,))
    raise BadInput(f"{path} is an aider history without a single message; name another one.")


def read_part(path: Path, data: bytes, part_id: str, progress: Progress) -> Session:
    """Read one session by its place from 1. Raises BadInput when there is no such session."""
    progress(0, len(data))
    sessions = _split(data)
    if not part_id.isdecimal() or not 1 <= int(part_id) <= len(sessions):
        raise BadInput(f"{path} has no session {part_id}; choose one of 1 to {len(sessions)}.")
    own = data if len(sessions) == 1 else sessions[int(part_id) - 1]
    records = Records(own)
    messages = tuple(_messages(own, records))
    heading = _HEADING.match(own)
    started = heading[1].decode(errors="replace").strip() if heading else ""
    progress(len(data), len(data))
    return Session(
        format=ID,
        path=path,
        messages=messages,
        branch=range(len(messages)),
        epochs=(Epoch(1, [n for n, message in enumerate(messages) if message.kind != "boundary"]),),
        records=records,
        title=first_words(messages),
        meta={"started": seconds_of(started)},
    )


def _messages(own: bytes, records: Records) -> list[Message]:
    """Runs of lines of one speaker. Console lines are boundaries: seen in the file, never sent."""
    messages: list[Message] = []
    noted: str | None = None
    for mark, start, stop, line in _runs(own):
        raw = own[start:stop]
        found = _NOTED.search(raw) if mark == _CONSOLE else None
        if found:
            noted = found[1].decode()
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
    at = 0
    marked_lines: list[tuple[bytes, int, int, int]] = []
    for number, line in enumerate(own.split(b"\n"), 1):
        mark = next((m for m in (_USER, _CONSOLE) if line.startswith(m)), b"")
        stop = min(at + len(line) + 1, len(own))
        if not _HEADING.match(line):
            marked_lines.append((mark, at, stop, number))
        at = stop
    for mark, run in groupby(marked_lines, key=lambda line: line[0]):
        lines = list(run)
        yield mark, lines[0][1], lines[-1][2], lines[0][3]


def _text(mark: bytes, raw: bytes) -> str:
    text = raw.decode(errors="replace").removesuffix("\n")
    if not mark:
        return text.strip("\n")
    return "\n".join(line[len(mark) :].removesuffix("  ") for line in text.split("\n"))


def write(session: Session, messages: Sequence[Message]) -> Written:
    """A history with one session. Kept messages are copied; calls and results of other formats become text."""
    notes: Notes = Notes()
    native = session.format == ID
    data = session.records.data
    home, resume = "the folder where aider runs", "aider --restore-chat-history"
    if native and list(messages) == list(session.context()):
        return Written(data, ".aider.chat.history.md", "", resume, home)
    if not native:
        messages, more = settled(messages)
        notes.update(more)
        if session.system:
            notes["the system prompt was left out: aider writes its own"] += 1
    heading = _HEADING.match(data) if native else None
    made = [heading[0] if heading else f"# aider chat started at {datetime.now():%Y-%m-%d %H:%M:%S}\n".encode(), b"\n"]
    before: Role | None = None
    for message in messages:
        if message.kind == "boundary":
            continue
        role: Role = "assistant" if message.role == "assistant" else "user"
        text = _said(message, notes)
        if not text.strip():
            continue
        if message.kind != kind_of(role, (Text(text),)) or (role == before == "assistant"):
            made.append(f"> {MARK}: {message.kind}\n\n".encode())
        raw = session.records[message.source[0]] if native and message.source else _rendered(role, text, notes)
        made.append(raw if raw.endswith(b"\n\n") else raw.rstrip(b"\n") + b"\n\n")
        before = role
    return Written(b"".join(made), ".aider.chat.history.md", "", resume, home, told(notes))


def _said(message: Message, notes: Notes) -> str:
    if message.role == "system":
        return as_user_text(message)
    texts: list[str] = []
    for block in message.blocks:
        match block:
            case Text(text):
                texts.append(text)
            case ToolUse(_, name, given):
                notes["calls became text: aider has none"] += 1
                texts.append(f"[called {name}: {as_text(given)}]")
            case ToolResult():
                notes["results became text: aider has none"] += 1
                texts.append(f"[result]\n{block.text}")
            case Thinking() | Opaque():
                notes["reasoning and unknown blocks were left out"] += 1
            case _:
                texts.append(block.placeholder)
    return "\n".join(texts)


def _rendered(role: Role, text: str, notes: Notes) -> bytes:
    lines = text.split("\n")
    if role == "user":
        return "".join(f"#### {line}  \n" for line in lines).encode(errors="replace")
    if any(line.startswith(_MARKS) for line in lines):
        notes["lines of answers that look like marks were moved in by a space"] += 1
    return "".join(f"{' ' if line.startswith(_MARKS) else ''}{line}\n" for line in lines).encode(errors="replace")
