"""Read captures of `codex exec --json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base.figures import grouped
from workbench.formats.codex_exec import ID
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.names import shortened
from workbench.formats.kit.transcript import Transcript
from workbench.formats.kit.usage import usage_of_prompt
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of
from workbench.session.api_errors import ApiError, Cause
from workbench.session.message import Block, Message, Opaque, Role, Text, Thinking, ToolResult, ToolUse
from workbench.session.session import LoadWarning, Records, Session, SessionFacts


class Reader(Transcript):
    """Reader of events. `blocks` belong to the newest message, which is still open; `call_ids` are the calls so far;
    `turn` is the index of the turn's first message."""

    empty = "a capture of codex exec without items; open the session's rollout instead"

    def __init__(self, path: Path, records: Records) -> None:
        super().__init__(path, records)
        self.role: Role = "assistant"
        self.blocks: list[Block] = []
        self.source: list[int] = []
        self.call_ids: set[str] = set()
        self.thread = ""
        self.turn = 0

    def take(self, event: Mapping[str, Any], index: int, line: int) -> None:
        kind = event.get("type")
        item = dict_of(event.get("item"))
        if kind == "thread.started":
            self.thread = text_of(event.get("thread_id"))
        elif kind == "turn.started":
            self._close()
            self.turn = len(self.messages)
        elif kind == "turn.completed":
            self._close()
            self._set_usage(dict_of(event.get("usage")), line)
        elif kind in ("turn.failed", "error"):
            self._record_error(
                dict_of(event.get("error", event)).get("message"), index, line, ended_turn=kind == "turn.failed"
            )
        elif kind in ("item.started", "item.completed") and isinstance(item.get("type"), str):
            self._item(item, index, line, done=kind == "item.completed")

    def finish(self) -> None:
        self._close()
        note = "a capture of codex exec has neither the prompt nor the instructions; the session's rollout has both"
        self.warnings.insert(0, LoadWarning(note))

    def session(self) -> Session:
        title = shortened(next((m.text for m in self.messages if m.text), ""))
        facts = SessionFacts(api_errors=tuple(self.errors))
        return self._session(ID, tuple(self.messages), id=self.thread, title=title, facts=facts)

    def _item(self, item: dict[str, Any], index: int, line: int, *, done: bool) -> None:
        id, kind = text_of(item.get("id")) or f"line-{line}", item["type"]
        if (call := _call(kind, id, item)) is not None:
            if id not in self.call_ids:
                self.call_ids.add(id)
                self._add("assistant", call, index)
            if done:
                self._add("tool", _result(kind, id, item), index)
        elif not done:
            pass
        elif kind in ("agent_message", "plan"):
            self._add("assistant", Text(text_of(item.get("text"))), index)
        elif kind == "reasoning":
            self._add("assistant", Thinking(text_of(item.get("text"))), index)
        elif kind == "error":
            self._record_error(item.get("message"), index, line)
        else:
            self._add("assistant", Opaque(kind, item), index)

    def _add(self, role: Role, block: Block, index: int) -> None:
        """Add a block: a response ends at a result, results end at the next response."""
        if self.role != role:
            self._close()
            self.role = role
        self.blocks.append(block)
        if index not in self.source:
            self.source.append(index)

    def _close(self) -> None:
        if self.blocks:
            id = f"event-{self.source[0] + 1}-{self.role}"
            source = tuple(self.source)
            self.messages.append(Message(id, self.role, tuple(self.blocks), source=source))
        self.blocks, self.source = [], []

    def _set_usage(self, usage: Mapping[str, Any], line: int) -> None:
        """Set a turn's usage on its only response; warn where it is a sum over several."""
        responses = [n for n in range(self.turn, len(self.messages)) if self.messages[n].role == "assistant"]
        prompt, cached, written, output = (
            count_of(usage.get(f"{name}_tokens")) for name in ("input", "cached_input", "cache_write_input", "output")
        )
        total = usage_of_prompt(prompt, output, cached, written)
        if total and len(responses) == 1:
            self.messages[responses[0]] = replace(self.messages[responses[0]], usage=total)
        elif total:
            sums = f"{grouped(prompt)} tokens in, {grouped(output)} out"
            text = f"a turn's usage is a sum over its calls ({sums}), not the usage of one call"
            self.warn(text, line)

    def _record_error(self, message: Any, index: int, line: int, *, ended_turn: bool = False) -> None:
        """Record an API error or warn. `ended_turn`: it ended the turn, and may repeat the error before it."""
        text = as_text(message or "an error without a message")
        error = ApiError(f"event-{index + 1}", text, line=line)
        if ended_turn or error.cause is not Cause.OTHER:
            if not any(one.text == text for one in self.errors[-1:]):
                self.errors.append(error)
        elif all(text not in one.text for one in self.warnings):
            self.warn(f"Codex says: {text}", line)


def _call(kind: str, id: str, item: Mapping[str, Any]) -> ToolUse | None:
    """Return the call of an item, None for other items; its name is the tool's where the item has one."""
    if kind == "command_execution":
        return ToolUse(id, kind, {"command": as_text(item.get("command", ""))})
    if kind == "file_change":
        return ToolUse(id, kind, {"changes": list_of(item.get("changes"))})
    if kind == "mcp_tool_call":
        arguments = item.get("arguments")
        name = f"{as_text(item.get('server', ''))}.{as_text(item.get('tool', ''))}"
        return ToolUse(id, name, arguments if isinstance(arguments, dict) else as_text(arguments or ""))
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
