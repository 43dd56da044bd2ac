"""Write aider chat histories."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from workbench.formats.agent_texts import kind_of
from workbench.formats.aider import HEADING, ID, NEWLINE
from workbench.formats.format import FILE, Written
from workbench.formats.kit.blocks import as_text, named, texts_of
from workbench.formats.kit.folder import folder_of
from workbench.formats.kit.marks import MARK
from workbench.formats.kit.settle import as_user_text, settled
from workbench.formats.loss import Loss, Losses, LossKind, loss_of
from workbench.session.message import Message, Opaque, Role, Text, Thinking, ToolResult, ToolUse
from workbench.session.session import Session

_MARKS = ("# ", "> ", "#### ")


def write(session: Session, messages: Sequence[Message]) -> Written:
    """Write a history with one session. Kept messages are copied; calls and results of other formats become text."""
    losses: Losses = []
    native = session.format == ID
    data = session.records.data
    if native and list(messages) == list(session.context()):
        return addressed(session, data, "", losses)
    if not native:
        messages, more = settled(messages, None)
        losses.extend(more)
        if session.system:
            losses.append(Loss(LossKind.SYSTEM_PROMPT, details=("aider",)))
    heading = HEADING.match(data) if native else None
    lines = [heading[0] if heading else f"# aider chat started at {datetime.now():%Y-%m-%d %H:%M:%S}\n".encode(), b"\n"]
    before: Role | None = None
    for message in messages:
        if message.kind == "boundary":
            continue
        role: Role = "assistant" if message.role == "assistant" else "user"
        text = _text(message, losses)
        if not text.strip():
            continue
        if message.kind != kind_of(role, (Text(text),)) or (role == before == "assistant"):
            lines.append(f"> {MARK}: {message.kind}\n\n".encode())
        raw = session.records[message.source[0]] if native and message.source else _render(role, text, losses)
        lines.append(raw if raw.endswith(b"\n\n") else raw.rstrip(b"\n") + b"\n\n")
        before = role
    return addressed(session, b"".join(lines), "", losses)


def addressed(session: Session, data: bytes, id: str, losses: Sequence[Loss]) -> Written:
    """Add the command that resumes this file: aider appends to it, and does not touch the history in its folder."""
    own = session.path.absolute().parent if session.format == ID and session.path else None
    command = ("aider", "--chat-history-file", FILE, "--restore-chat-history")
    folder = str(own) if own else folder_of(session)
    return Written(data, ".aider.chat.history.md", id, folder=folder, commands=(command,), losses=losses)


def _text(message: Message, losses: Losses) -> str:
    if message.role == "system":
        return as_user_text(message)
    texts: list[str] = []
    for block in message.blocks:
        match block:
            case Text(text):
                texts.append(text)
            case ToolUse(_, name, input):
                losses.append(Loss(LossKind.CALLS_AS_TEXT, details=("aider",)))
                texts.append(f"[called {name}: {as_text(input)}]")
            case ToolResult():
                losses.append(Loss(LossKind.RESULTS_AS_TEXT, details=("aider",)))
                texts.append("\n".join(["[result]", *texts_of(block, losses)]))
            case Thinking() | Opaque():
                losses.append(loss_of(block))
            case _:
                texts.append(named(block, losses))
    return "\n".join(texts)


def _render(role: Role, text: str, losses: Losses) -> bytes:
    text = NEWLINE.sub("\n", text)
    if role == "user":
        quoted = "".join(f"#### {line}" for line in [*_split_lines(text)])
        return f"{quoted}\n".replace("\n", "  \n").encode(errors="replace")
    if text != text.strip("\n"):
        losses.append(Loss(LossKind.EDGE_LINES))
    lines = _split_lines(text)
    if any(line.startswith(_MARKS) for line in lines):
        losses.append(Loss(LossKind.MARKS_INDENTED))
    indented = "".join(f"{' ' if line.startswith(_MARKS) else ''}{line}" for line in lines)
    return f"{indented}\n".encode(errors="replace")


def _split_lines(text: str) -> list[str]:
    """Split a text into lines as aider does. All keep their line ends but the last, which is "" after a line end."""
    *lines, last = text.splitlines(keepends=True) or [""]
    return [*lines, last] if last.splitlines() in ([], [last]) else [*lines, last, ""]
