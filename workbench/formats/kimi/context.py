"""Read the context file of Kimi CLI, one message per line, and the files of its earlier epochs; convert Kimi's content
parts and results to blocks.

The file is the current context. Before a compaction it is renamed to `context_<n>.jsonl`, and a new one begins with the
summary.
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
from workbench.formats.kimi import ID
from workbench.formats.kit.blocks import arguments_of, in_result, parts_of
from workbench.formats.kit.jsonl import objects_of, records_of
from workbench.formats.kit.user_text import is_injected
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of
from workbench.session import (
    Block,
    Compaction,
    Epoch,
    LoadWarning,
    Media,
    Message,
    Opaque,
    Records,
    Session,
    SessionFacts,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Usage,
)
from workbench.session.images import media_of

_SUMMARY = "<system>Previous context has been compacted."
_SYSTEM = re.compile(r"\s*<system>.*</system>\s*", re.DOTALL)
_EARLIER_FILE = re.compile(r"context_(\d{1,9})\.jsonl")


@dataclass(slots=True)
class _ContextFile:
    """One context file. `tokens` is its last recorded size."""

    records: Records
    messages: list[Message] = field(default_factory=list)
    warnings: list[LoadWarning] = field(default_factory=list)
    system: str = ""
    tokens: int | None = None

    @property
    def is_compacted(self) -> bool:
        return any(message.kind == "summary" for message in self.messages)


def read_context(path: Path, data: bytes, progress: Progress) -> Session:
    """Read a `context.jsonl` and the earlier files next to it. Raises BadInput when it holds no message."""
    newest = _read_file(data, progress)
    if not newest.messages:
        raise BadInput(f"{path} is a context of Kimi CLI without messages; open another session's context.jsonl.")
    files = [newest]
    for file in _earlier_files(path):
        if not files[0].is_compacted:
            break
        files.insert(0, _read_file(read_file(file), no_progress))
    messages: list[Message] = []
    epochs: list[Epoch] = []
    for number, one in enumerate(files, 1):
        is_newest = one is newest
        members = array("q", range(len(messages), len(messages) + len(one.messages)))
        messages += [m if is_newest else replace(m, id=f"{number}:{m.id}", source=()) for m in one.messages]
        ended_by = None
        if not is_newest:
            summary = next((m.id for m in files[number].messages if m.kind == "summary"), None)
            last = files[number] is newest
            ended_by = Compaction("", one.tokens, summary if last or summary is None else f"{number + 1}:{summary}")
        epochs.append(Epoch(number, members, ended_by))
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


def _earlier_files(path: Path) -> list[Path]:
    """Return the files of earlier epochs next to `context.jsonl`, newest first; none for any other file name."""
    if path.name != "context.jsonl":
        return []
    try:
        files = [
            (int(number[1]), file) for file in path.parent.iterdir() if (number := _EARLIER_FILE.fullmatch(file.name))
        ]
    except OSError:
        return []
    return [file for _, file in sorted(files, reverse=True)]


def _read_file(data: bytes, progress: Progress) -> _ContextFile:
    """Read one file. A `_usage` line before an answer is its prompt's size, the one after it includes the answer."""
    file = _ContextFile(Records(data))
    before = ""
    for value, index, _ in objects_of(records_of(data), len(data), file.records, file.warnings, progress):
        role = text_of(value.get("role"))
        if role == "_system_prompt":
            file.system = text_of(value.get("content"))
        elif role == "_usage":
            last, size = file.messages[-1] if file.messages else None, count_of(value.get("token_count"))
            if before == "assistant" and last is not None and last.usage is not None:
                file.messages[-1] = replace(last, usage=replace(last.usage, output=max(0, size - last.usage.input)))
            file.tokens = size or file.tokens
        elif role in ("system", "user", "assistant", "tool"):
            message = _message(value, role, index)
            if role == "assistant" and before == "_usage" and file.tokens:
                message = replace(message, usage=Usage(file.tokens))
            file.messages.append(message)
        before = role
    return file


def _message(value: dict[str, Any], role: Any, index: int) -> Message:
    blocks: tuple[Block, ...] = blocks_of(value.get("content"))
    id = f"record-{index + 1}"
    if role == "tool":
        content = tuple(block for block in blocks if isinstance(block, Text))
        result = ToolResult(text_of(value.get("tool_call_id")), content, _has_failed(content))
        return Message(id, "tool", (result,), source=(index,))
    for call in list_of(value.get("tool_calls")):
        function = dict_of(dict_of(call).get("function"))
        arguments = arguments_of(function.get("arguments"))
        blocks = (*blocks, ToolUse(text_of(dict_of(call).get("id")), text_of(function.get("name")), arguments))
    first = blocks[0].text if blocks and isinstance(blocks[0], Text) else ""
    if role == "user" and first.startswith(_SUMMARY):
        return Message(id, "user", blocks, "summary", source=(index,))
    if role == "user":
        blocks = tuple(_mark_system_text(block) for block in blocks)
    return Message(id, role, blocks, "meta" if is_injected(blocks) else "normal", source=(index,))


def _mark_system_text(block: Block) -> Block:
    """Mark a part in `<system>` as injected: Kimi CLI wrote it."""
    return replace(block, injected=True) if isinstance(block, Text) and _SYSTEM.fullmatch(block.text) else block


def _has_failed(content: tuple[Text, ...]) -> bool:
    return bool(content) and content[0].text.startswith("<system>ERROR")


_FAILED = "<system>ERROR: Tool execution failed.</system>"
_EMPTY = "<system>Tool output is empty.</system>"
_FAILED_EMPTY = "<system>ERROR: Tool execution failed. Tool output is empty.</system>"

_TIMED = frozenset(("Agent", "AgentSwarm", "Bash", "FetchURL", "Glob", "Grep", "WebSearch"))
"""Tools whose results include their duration for the model; those of MCP servers do as well."""

_MEDIA = {"image_url": "image", "audio_url": "audio", "video_url": "video"}


def blocks_of(content: Any) -> tuple[Block, ...]:
    """Return the blocks of a message's content."""
    return parts_of(content, _part)


def _part(part: Any) -> Block:
    body = dict_of(part)
    kind = text_of(body.get("type"))
    if kind == "text" and isinstance(body.get("text"), str):
        return Text(body["text"])
    if kind == "think" and isinstance(body.get("think"), str):
        return Thinking(body["think"], text_of(body.get("encrypted")))
    if kind in _MEDIA:
        value = body.get(kind)
        url = value if isinstance(value, str) else text_of(dict_of(value).get("url"))
        declared = url[5:].partition(";")[0] if url.startswith("data:") else ""
        return media_of(declared or _MEDIA[kind], url.partition(",")[2] if declared else "")
    return Opaque(kind, part)


def result_of(call: str, tool: str, recorded: dict[str, Any]) -> ToolResult:
    """Return a recorded result as it is sent to the model: with texts for failure and emptiness, duration and note."""
    failed = recorded.get("isError") is True
    blocks = blocks_of(recorded.get("output"))
    parts = [in_result(part, part.raw if isinstance(part, Opaque) else "") for part in blocks]
    if not any(isinstance(part, Media) or part.text.strip() for part in parts):
        parts = [Text(_FAILED_EMPTY if failed else _EMPTY)]
    elif failed:
        parts = _add_words(parts, f"{_FAILED}\n", before=True)
    duration = recorded.get("durationMs")
    if isinstance(duration, int | float) and (tool in _TIMED or tool.startswith("mcp__")):
        parts = _add_words(parts, f"Wall time: {duration / 1000:.3f} seconds\n", before=True)
    if note := text_of(recorded.get("note")):
        parts = _add_words(parts, f"\n{note}", before=False)
    return ToolResult(call, tuple(parts), failed)


def _add_words(parts: list[Text | Media], words: str, *, before: bool) -> list[Text | Media]:
    """Add words at one end of the parts: in the text if it is the only part, else as a separate part."""
    only = parts[0]
    if len(parts) == 1 and isinstance(only, Text):
        return [Text(words + only.text if before else only.text + words)]
    return [Text(words.strip()), *parts] if before else [*parts, Text(words.strip())]
