"""Convert messages in any part of a log to our messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.formats.agent_texts import kind_of
from workbench.formats.kit.blocks import as_text, from_anthropic, in_result, input_of
from workbench.formats.kit.marks import marked
from workbench.formats.kit.values import dict_of, list_of, word_of
from workbench.session.images import media_of_url
from workbench.session.message import Block, Kind, Message, Opaque, Role, Text, Thinking, ToolResult, ToolUse
from workbench.session.session import LoadWarning

_ATTACHMENT = "attachment://"
_ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}


@dataclass(slots=True)
class MessageReader:
    """Reader of messages. `attachments` are long texts by the names that replace them."""

    attachments: Mapping[str, str]
    warnings: list[LoadWarning] = field(default_factory=list)

    def resolve(self, text: str) -> str:
        return self.attachments.get(text.removeprefix(_ATTACHMENT), text) if text.startswith(_ATTACHMENT) else text

    def message(self, item: Any, name: str, source: tuple[int, ...] = ()) -> Message:
        """Return a message. `name` identifies it in warnings, and is the id of a message without one."""
        if not isinstance(item, dict):
            self.warnings.append(LoadWarning(f"message {name} is not an object; shown unchanged"))
            return Message(f"m{name}", "user", (Opaque(type(item).__name__, item),), "meta", source=source)
        role = _ROLES.get(as_text(item.get("role")))
        if role is None:
            self.warnings.append(LoadWarning(f"message {name} has no known role; read as user"))
            role = "user"
        blocks = tuple(self._parts(item.get("content")))
        if role == "tool":
            blocks = (self._result(item, blocks),)
        for call in list_of(item.get("tool_calls")) if role == "assistant" else ():
            blocks = (*blocks, self._call(call))
        metadata = dict_of(item.get("metadata"))
        summary: Kind | None = "summary" if metadata.get("summary") is True else None
        kind = marked(metadata) or summary or kind_of(role, blocks)
        return Message(
            word_of(item.get("id")) or f"m{name}", role, blocks, kind, None, None, word_of(item.get("model")), source
        )

    def _result(self, item: dict[str, Any], blocks: tuple[Block, ...]) -> ToolResult:
        error = dict_of(item.get("error"))
        content = tuple(in_result(b, item.get("content")) for b in blocks)
        if error and not content:
            content = (Text(as_text(error.get("message") or "")),)
        return ToolResult(as_text(item.get("tool_call_id") or ""), content, bool(error))

    def _call(self, call: Any) -> Block:
        if not isinstance(call, dict) or not isinstance(call.get("function"), str):
            return Opaque("tool_call", call)
        arguments = call.get("arguments")
        if isinstance(arguments, dict):
            resolved = {
                key: self.resolve(value) if isinstance(value, str) else value for key, value in arguments.items()
            }
            return ToolUse(as_text(call.get("id") or ""), call["function"], resolved)
        return ToolUse(as_text(call.get("id") or ""), call["function"], input_of(arguments))

    def _reasoning(self, part: dict[str, Any]) -> Thinking:
        """Return reasoning. If `redacted`, `reasoning` holds the signed or encrypted form and `summary` the text."""
        reasoning = self.resolve(part["reasoning"])
        if part.get("redacted") is True:
            return Thinking(self.resolve(word_of(part.get("summary")) or ""), reasoning)
        return Thinking(reasoning, word_of(part.get("signature")) or "")

    def _parts(self, content: Any) -> Iterator[Block]:
        for part in list_of(content):
            kind = as_text(dict_of(part).get("type"))
            if kind == "reasoning" and isinstance(part.get("reasoning"), str):
                yield self._reasoning(part)
            elif kind in ("image", "audio", "video", "document") and isinstance(part.get(kind), str):
                yield media_of_url(self.resolve(part[kind]), kind)
            elif kind == "text" and isinstance(part.get("text"), str):
                yield Text(self.resolve(part["text"]))
            else:
                yield from_anthropic([part])[0] if isinstance(part, str) else Opaque(kind, part)
        if isinstance(content, str):
            yield from from_anthropic(self.resolve(content))
        elif not isinstance(content, list):
            yield from from_anthropic(content)
