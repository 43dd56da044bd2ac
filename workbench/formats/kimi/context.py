"""Reading: the context that Kimi CLI kept, a message a line, and those it set aside before a compaction.

The file is the context as it stands. Before a compaction it is renamed to `context_<n>.jsonl`, and a new one begins
with the summary: these are the epochs before.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.reading import read_file
from workbench.formats.agent_texts import with_user_text
from workbench.formats.format import Progress, no_progress
from workbench.formats.kimi.parts import blocks_of
from workbench.formats.kimi.signature import ID
from workbench.formats.kit.blocks import arguments_of
from workbench.formats.kit.jsonl import objects_of, records_of
from workbench.formats.kit.user_text import is_injected
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of
from workbench.session import (
    Block,
    Compaction,
    Epoch,
    LoadWarning,
    Message,
    Records,
    Session,
    SessionFacts,
    Text,
    ToolResult,
    ToolUse,
    Usage,
)

_SUMMARY = "<system>Previous context has been compacted."
_SYSTEM = re.compile(r"\s*<system>.*</system>\s*", re.DOTALL)
_ASIDE = re.compile(r"context_(\d{1,9})\.jsonl")


@dataclass(slots=True)
class _Kept:
    """One file of a context. `tokens` is its last recorded size."""

    records: Records
    messages: list[Message] = field(default_factory=list)
    warnings: list[LoadWarning] = field(default_factory=list)
    system: str = ""
    tokens: int | None = None

    @property
    def is_compacted(self) -> bool:
        return any(message.kind == "summary" for message in self.messages)


def read_context(path: Path, data: bytes, progress: Progress) -> Session:
    """Read a `context.jsonl` with the files that lie beside it. Raises BadInput when it holds no message."""
    newest = _kept(data, progress)
    if not newest.messages:
        raise BadInput(f"{path} is a context of Kimi CLI without messages; open another session's context.jsonl.")
    found = [newest]
    for file in _aside(path):
        if not found[0].is_compacted:
            break
        found.insert(0, _kept(read_file(file), no_progress))
    messages: list[Message] = []
    epochs: list[Epoch] = []
    for number, one in enumerate(found, 1):
        own = one is newest
        members = array("q", range(len(messages), len(messages) + len(one.messages)))
        messages += [m if own else replace(m, id=f"{number}:{m.id}", source=()) for m in one.messages]
        ended = None
        if not own:
            summary = next((m.id for m in found[number].messages if m.kind == "summary"), None)
            last = found[number] is newest
            ended = Compaction("", one.tokens, summary if last or summary is None else f"{number + 1}:{summary}")
        epochs.append(Epoch(number, members, ended))
    return Session(
        ID,
        path,
        with_user_text(messages),
        newest.records,
        epochs=tuple(epochs),
        id=path.absolute().parent.name,
        system=newest.system,
        warnings=tuple(newest.warnings),
        facts=SessionFacts(tokens_now=newest.tokens),
    )


def _aside(path: Path) -> list[Path]:
    """The contexts that were set aside, the newest first; only beside the one that goes on."""
    if path.name != "context.jsonl":
        return []
    try:
        files = [(int(found[1]), file) for file in path.parent.iterdir() if (found := _ASIDE.fullmatch(file.name))]
    except OSError:
        return []
    return [file for _, file in sorted(files, reverse=True)]


def _kept(data: bytes, progress: Progress) -> _Kept:
    """Before an answer the size of its prompt is recorded, and directly behind it the size with it."""
    kept = _Kept(Records(data))
    before = ""
    for value, index, _ in objects_of(records_of(data), len(data), kept.records, kept.warnings, progress):
        role = text_of(value.get("role"))
        if role == "_system_prompt":
            kept.system = text_of(value.get("content"))
        elif role == "_usage":
            last, size = kept.messages[-1] if kept.messages else None, count_of(value.get("token_count"))
            if before == "assistant" and last is not None and last.usage is not None:
                kept.messages[-1] = replace(last, usage=replace(last.usage, output=max(0, size - last.usage.input)))
            kept.tokens = size or kept.tokens
        elif role in ("system", "user", "assistant", "tool"):
            message = _message(value, role, index)
            if role == "assistant" and before == "_usage" and kept.tokens:
                message = replace(message, usage=Usage(kept.tokens))
            kept.messages.append(message)
        before = role
    return kept


def _message(value: dict[str, Any], role: Any, index: int) -> Message:
    blocks: tuple[Block, ...] = blocks_of(value.get("content"))
    id = f"record-{index + 1}"
    if role == "tool":
        content = tuple(block for block in blocks if isinstance(block, Text))
        result = ToolResult(text_of(value.get("tool_call_id")), content, _has_failed(content))
        return Message(id, "tool", (result,), source=(index,))
    for call in list_of(value.get("tool_calls")):
        function = dict_of(dict_of(call).get("function"))
        given = arguments_of(function.get("arguments"))
        blocks = (*blocks, ToolUse(text_of(dict_of(call).get("id")), text_of(function.get("name")), given))
    first = blocks[0].text if blocks and isinstance(blocks[0], Text) else ""
    if role == "user" and first.startswith(_SUMMARY):
        return Message(id, "user", blocks, "summary", source=(index,))
    if role == "user":
        blocks = tuple(_marked(block) for block in blocks)
    return Message(id, role, blocks, "meta" if is_injected(blocks) else "normal", source=(index,))


def _marked(block: Block) -> Block:
    """A text of the tool's stands in `<system>` and is a part of its own."""
    return replace(block, injected=True) if isinstance(block, Text) and _SYSTEM.fullmatch(block.text) else block


def _has_failed(content: tuple[Text, ...]) -> bool:
    return bool(content) and content[0].text.startswith("<system>ERROR")
