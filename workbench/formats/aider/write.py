"""Writing: aider chat history."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from workbench.formats.aider.signature import HEADING, ID, NEWLINE
from workbench.formats.format import FILE, Written
from workbench.formats.kit.blocks import as_text, kind_of, named, texts_of
from workbench.formats.kit.folder import folder_of
from workbench.formats.kit.item_list import Notes
from workbench.formats.kit.mark import MARK
from workbench.formats.kit.settle import as_user_text, settled
from workbench.session.message import Message, Opaque, Role, Text, Thinking, ToolResult, ToolUse
from workbench.session.session import Session

_MARKS = ("# ", "> ", "#### ")


def write(session: Session, messages: Sequence[Message]) -> Written:
    """A history with one session. Kept messages are copied; calls and results of other formats become text."""
    notes: Notes = []
    native = session.format == ID
    data = session.records.data
    if native and list(messages) == list(session.context()):
        return addressed(session, data, "", notes)
    if not native:
        messages, more = settled(messages, None)
        notes.extend(more)
        if session.system:
            notes.append("the system prompt beside the messages was left out: aider writes its own")
    heading = HEADING.match(data) if native else None
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
    return addressed(session, b"".join(made), "", notes)


def addressed(session: Session, data: bytes, id: str, notes: Sequence[str]) -> Written:
    """aider goes on with the history that it is given, and writes on in it: none that lies in its folder is touched."""
    own = session.path.absolute().parent if session.format == ID and session.path else None
    command = ("aider", "--chat-history-file", FILE, "--restore-chat-history")
    folder = str(own) if own else folder_of(session)
    return Written(data, ".aider.chat.history.md", id, folder=folder, commands=(command,), notes=notes)


def _said(message: Message, notes: Notes) -> str:
    if message.role == "system":
        return as_user_text(message)
    texts: list[str] = []
    for block in message.blocks:
        match block:
            case Text(text):
                texts.append(text)
            case ToolUse(_, name, given):
                notes.append("calls became text: aider has none")
                texts.append(f"[called {name}: {as_text(given)}]")
            case ToolResult():
                notes.append("results became text: aider has none")
                texts.append("\n".join(["[result]", *texts_of(block, notes)]))
            case Thinking() | Opaque():
                notes.append("reasoning and unknown blocks were left out")
            case _:
                texts.append(named(block, notes))
    return "\n".join(texts)


def _rendered(role: Role, text: str, notes: Notes) -> bytes:
    text = NEWLINE.sub("\n", text)
    if role == "user":
        said = "".join(f"#### {line}" for line in [*_lines(text)])
        return f"{said}\n".replace("\n", "  \n").encode(errors="replace")
    if text != text.strip("\n"):
        notes.append("empty lines at the edges of answers were left out: aider parts messages by them")
    lines = _lines(text)
    if any(line.startswith(_MARKS) for line in lines):
        notes.append("lines of answers that look like marks were moved in by a space")
    moved = "".join(f"{' ' if line.startswith(_MARKS) else ''}{line}" for line in lines)
    return f"{moved}\n".encode(errors="replace")


def _lines(text: str) -> list[str]:
    """Lines with their ends, as aider parts them; the last one has none, and is empty where the text ends with one."""
    *lines, last = text.splitlines(keepends=True) or [""]
    return [*lines, last] if last.splitlines() in ([], [last]) else [*lines, last, ""]
