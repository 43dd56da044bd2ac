"""Reading: codex exec --json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.formats.codex_exec.signature import ID
from workbench.formats.format import Progress
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.jsonl import objects_of, records_of
from workbench.formats.kit.titles import shortened
from workbench.formats.kit.usage import usage_of_prompt
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of
from workbench.session.api_errors import ApiError, Cause
from workbench.session.message import Block, Message, Opaque, Role, Text, Thinking, ToolResult, ToolUse
from workbench.session.session import LoadWarning, Records, Session, SessionFacts

"""In what Codex says where a prompt was too long."""


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read a capture. Raises BadInput when it has no item."""
    reading = _Reading(Records(data))
    for value, index, line in objects_of(records_of(data), len(data), reading.records, reading.warnings, progress):
        _take(reading, value, index, line)
    _close(reading)
    if not reading.messages:
        raise BadInput(f"{path} is a capture of codex exec without items; open the session's rollout instead.")
    note = "a capture of codex exec has neither the prompt nor the instructions; the session's rollout has both"
    return Session(
        format=ID,
        path=path,
        messages=tuple(reading.messages),
        records=reading.records,
        id=reading.thread,
        title=shortened(next((m.text for m in reading.messages if m.text), "")),
        warnings=(LoadWarning(note), *reading.warnings),
        facts=SessionFacts(api_errors=tuple(reading.errors)),
    )


@dataclass(slots=True)
class _Reading:
    """What has been read so far. `blocks` are those of the newest message, which is still open; `asked` the ids of the
    calls so far; `turn` the number of the turn's first message."""

    records: Records
    messages: list[Message] = field(default_factory=list)
    role: Role = "assistant"
    blocks: list[Block] = field(default_factory=list)
    source: list[int] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    warnings: list[LoadWarning] = field(default_factory=list)
    errors: list[ApiError] = field(default_factory=list)
    thread: str = ""
    turn: int = 0


def _take(reading: _Reading, event: Mapping[str, Any], index: int, line: int) -> None:
    kind = event.get("type")
    item = dict_of(event.get("item"))
    if kind == "thread.started":
        reading.thread = text_of(event.get("thread_id"))
    elif kind == "turn.started":
        _close(reading)
        reading.turn = len(reading.messages)
    elif kind == "turn.completed":
        _close(reading)
        _bill(reading, dict_of(event.get("usage")), line)
    elif kind in ("turn.failed", "error"):
        _failed(reading, dict_of(event.get("error", event)).get("message"), index, line, ended=kind == "turn.failed")
    elif kind in ("item.started", "item.completed") and isinstance(item.get("type"), str):
        _item(reading, item, index, line, done=kind == "item.completed")


def _item(reading: _Reading, item: dict[str, Any], index: int, line: int, *, done: bool) -> None:
    id, kind = text_of(item.get("id")) or f"line-{line}", item["type"]
    if (call := _call(kind, id, item)) is not None:
        if id not in reading.asked:
            reading.asked.add(id)
            _add(reading, "assistant", call, index)
        if done:
            _add(reading, "tool", _result(kind, id, item), index)
    elif not done:
        pass
    elif kind in ("agent_message", "plan"):
        _add(reading, "assistant", Text(text_of(item.get("text"))), index)
    elif kind == "reasoning":
        _add(reading, "assistant", Thinking(text_of(item.get("text"))), index)
    elif kind == "error":
        _failed(reading, item.get("message"), index, line)
    else:
        _add(reading, "assistant", Opaque(kind, item), index)


def _call(kind: str, id: str, item: Mapping[str, Any]) -> ToolUse | None:
    """The call that an item stands for, under the name of the tool where the item has one."""
    if kind == "command_execution":
        return ToolUse(id, kind, {"command": as_text(item.get("command", ""))})
    if kind == "file_change":
        return ToolUse(id, kind, {"changes": list_of(item.get("changes"))})
    if kind == "mcp_tool_call":
        given = item.get("arguments")
        name = f"{as_text(item.get('server', ''))}.{as_text(item.get('tool', ''))}"
        return ToolUse(id, name, given if isinstance(given, dict) else as_text(given or ""))
    if kind == "collab_tool_call":
        return ToolUse(id, as_text(item.get("tool", kind)), {"prompt": as_text(item.get("prompt") or "")})
    return None


def _result(kind: str, id: str, item: Mapping[str, Any]) -> ToolResult:
    failed = item.get("status") in ("failed", "declined")
    if kind == "command_execution":
        text = as_text(item.get("aggregated_output") or "")
    elif kind == "mcp_tool_call":
        parts = [dict_of(part) for part in list_of(dict_of(item.get("result")).get("content"))]
        texts = [text_of(part.get("text")) or as_text(part) for part in parts]
        text = "\n".join([*texts, *filter(None, [text_of(dict_of(item.get("error")).get("message"))])])
    elif kind == "collab_tool_call":
        text = as_text(item.get("agents_states") or "")
    else:
        text = text_of(item.get("status"))
    return ToolResult(id, (Text(text),) if text else (), failed)


def _add(reading: _Reading, role: Role, block: Block, index: int) -> None:
    """One more block: a response goes on until a result, results until the next response."""
    if reading.role != role:
        _close(reading)
        reading.role = role
    reading.blocks.append(block)
    if index not in reading.source:
        reading.source.append(index)


def _close(reading: _Reading) -> None:
    if reading.blocks:
        id = f"event-{reading.source[0] + 1}-{reading.role}"
        source = tuple(reading.source)
        reading.messages.append(Message(id, reading.role, tuple(reading.blocks), source=source))
    reading.blocks, reading.source = [], []


def _bill(reading: _Reading, usage: Mapping[str, Any], line: int) -> None:
    """A turn's usage: of its one response, or a sum that is no response's."""
    made = [n for n in range(reading.turn, len(reading.messages)) if reading.messages[n].role == "assistant"]
    sent, cached, written, output = (
        count_of(usage.get(f"{name}_tokens")) for name in ("input", "cached_input", "cache_write_input", "output")
    )
    bill = usage_of_prompt(sent, output, cached, written)
    if bill and len(made) == 1:
        reading.messages[made[0]] = replace(reading.messages[made[0]], usage=bill)
    elif bill:
        told = f"{grouped(sent)} tokens in, {grouped(output)} out"
        text = f"a turn's usage is a sum over its calls ({told}), not the usage of one call"
        reading.warnings.append(LoadWarning(text, line))


def _failed(reading: _Reading, message: Any, index: int, line: int, *, ended: bool = False) -> None:
    """An error; `ended`: it ended the turn, and may repeat the error before it."""
    text = as_text(message or "an error without a message")
    error = ApiError(f"event-{index + 1}", text, line=line)
    if ended or error.cause is not Cause.OTHER:
        if not any(one.text == text for one in reading.errors[-1:]):
            reading.errors.append(error)
    elif all(text not in one.text for one in reading.warnings):
        reading.warnings.append(LoadWarning(f"Codex says: {text}", line))
