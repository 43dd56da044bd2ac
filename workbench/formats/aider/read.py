"""Read aider chat histories."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from workbench.base.errors import BadInput
from workbench.formats.agent_texts import kind_of, with_user_text
from workbench.formats.aider import HEADING, ID, LINE_END, NEWLINE
from workbench.formats.format import Part, Progress
from workbench.formats.kit.marks import EXPORT_NOTE, MARK, marked
from workbench.formats.kit.names import first_words
from workbench.formats.kit.several import entry_by_number
from workbench.session.message import Message, Role, Text
from workbench.session.session import Epoch, LoadWarning, Records, Session

_USER, _CONSOLE = b"#### ", b"> "
_PADDING = re.compile(r"  $", re.MULTILINE)
_RESTORED = re.compile(rb"^> Restored previous conversation history\.", re.MULTILINE)
"""Line in a session that restored all earlier sessions of the file."""
_KIND = re.compile(rb"^> " + MARK.encode() + rb": (\w+)\s*$", re.MULTILINE)


def sessions_in(path: Path, data: bytes) -> tuple[Part, ...]:
    """Sessions in the file's order; text before the first heading is a session of its own."""
    parts: list[Part] = []
    for number, own in enumerate(_split(data), 1):
        messages = _messages(own, Records(own))
        heading = HEADING.match(own)
        started = heading[1].decode(errors="replace").strip() if heading else "began before this file"
        parts.append(Part(str(number), f"{started}  {first_words(messages)}".strip(), len(messages)))
    return tuple(parts)


def _split(data: bytes) -> list[bytes]:
    starts = [heading.start() for heading in HEADING.finditer(data)]
    if not starts or data[: starts[0]].strip():
        starts.insert(0, 0)
    return [data[start:stop] for start, stop in zip(starts, [*starts[1:], len(data)], strict=True)]


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read all sessions of the file as one, as aider restores them. Raises BadInput if the file has no message."""
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
    """Read the session with the number `part_id`, counted from 1, and with it the earlier ones if it restored them.
    Raises BadInput for an unknown number."""
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
    """Return a message for each run of lines with the same mark: `#### ` for the user, `> ` for the console, none for
    the answer. Console lines become boundaries, which are never sent."""
    messages: list[Message] = []
    recorded_kind: str | None = None
    for mark, start, stop, line in _runs(own):
        raw = own[start:stop]
        kind_line = _KIND.search(raw) if mark == _CONSOLE else None
        if kind_line:
            recorded_kind = kind_line[1].decode()
            continue
        if mark == _CONSOLE and EXPORT_NOTE.encode() in raw:
            continue
        text = _text(mark, raw)
        if not text.strip():
            continue
        role: Role = "assistant" if mark == b"" else "user" if mark == _USER else "system"
        source = (records.add(start, stop, line),)
        blocks = (Text(text),)
        kind = "boundary" if mark == _CONSOLE else marked({MARK: recorded_kind}) or kind_of(role, blocks)
        recorded_kind = recorded_kind if mark == _CONSOLE else None
        messages.append(Message(f"m{len(messages) + 1}", role, blocks, kind, source=source))
    return messages


def _runs(own: bytes) -> Iterator[tuple[bytes, int, int, int]]:
    """Yield each run of lines with the same mark, without headings: mark, start and stop in bytes, line from 1."""
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
    """Return the text of a run without its marks. In an answer, lines that begin with `# ` are left out."""
    lines = NEWLINE.sub("\n", raw.decode(errors="replace")).removesuffix("\n").splitlines(keepends=True)
    if not mark:
        return "".join(line for line in lines if not line.startswith("# ")).strip("\n")
    return _PADDING.sub("", "".join(line[len(mark) :] for line in lines))
