"""Reading: Anthropic Messages body."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.formats.anthropic_messages.signature import ID
from workbench.formats.format import Progress
from workbench.formats.kit.blocks import as_text, from_anthropic, kind_of, with_summary_answers
from workbench.formats.kit.chat import tools_of
from workbench.formats.kit.document import parse
from workbench.formats.kit.values import dict_of
from workbench.session import LoadWarning, Message, Opaque, Records, Role, Session, Text, ToolResult


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """One epoch: a body is a context already. Ids are `m1`, `m2`, … by position in the list."""
    progress(0, len(data))
    document, warnings = parse(path, data)
    body: dict[str, Any] = dict_of(document)
    items = body.get("messages") if body else document
    if not isinstance(items, list):
        raise BadInput(f"{path}: has no list of messages; open an Anthropic Messages request body or its message list.")
    messages = with_summary_answers(_message(index, item, warnings) for index, item in enumerate(items))
    progress(len(data), len(data))
    model = body.get("model")
    return Session(
        format=ID,
        path=path,
        messages=messages,
        records=Records(data),
        model=model if isinstance(model, str) else None,
        system=_system(body.get("system")),
        tools=tools_of(body.get("tools")),
        warnings=tuple(warnings),
    )


def _message(index: int, item: Any, warnings: list[LoadWarning]) -> Message:
    id, source = f"m{index + 1}", (index,)
    if not isinstance(item, dict):
        warnings.append(LoadWarning(f"message {index + 1} is not an object; it is shown as it is"))
        return Message(id, "user", (Opaque(type(item).__name__, item),), "meta", source=source)
    blocks = from_anthropic(item.get("content"))
    named = item.get("role")
    if named not in ("user", "assistant", "system"):
        warnings.append(
            LoadWarning(f"message {index + 1} has the role {as_text(named)[:40]}; it is read as the user's")
        )
    if not isinstance(item.get("content"), str | list):
        warnings.append(LoadWarning(f"message {index + 1} has no content of a known shape"))
    role: Role = named if named in ("assistant", "system") else "user"
    if role == "user" and any(isinstance(block, ToolResult) for block in blocks):
        role = "tool"
    return Message(id, role, blocks, kind_of(role, blocks), source=source)


def _system(value: Any) -> str:
    texts = (block.text for block in from_anthropic(value) if isinstance(block, Text))
    return "\n\n".join(texts)
