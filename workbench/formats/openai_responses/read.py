"""Read OpenAI Responses bodies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.base.text import counted
from workbench.formats.agent_texts import kind_of, with_user_text
from workbench.formats.kit.blocks import arguments_of, as_text, from_anthropic, in_result, input_of
from workbench.formats.kit.chat import tools_of
from workbench.formats.kit.conversation import Document
from workbench.formats.kit.document import Item
from workbench.formats.kit.usage import openai_usage
from workbench.formats.kit.values import dict_of, list_of, word_of
from workbench.formats.openai_responses import ID
from workbench.formats.openai_responses.kinds import kind_in, kinds_in
from workbench.session import (
    Block,
    Compaction,
    Epoch,
    Kind,
    LoadWarning,
    Message,
    Opaque,
    Role,
    Session,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Usage,
)
from workbench.session.images import media_of, media_of_url

_ROLES: dict[Any, Role] = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
COMPACTIONS = ("compaction", "compaction_summary")


class Reader(Document):
    """Reader of a body, a response or a list."""

    format = ID
    needs = "has neither input nor output items; open a Responses body"

    def session(self) -> Session:
        body = self.body
        input = self.document if isinstance(self.document, list) else body.get("input", body.get("output"))
        items = self.items([{"role": "user", "content": input}] if isinstance(input, str) else input)
        self.warnings += map(LoadWarning, _server_side_warnings(body, items))
        messages = with_user_text(group.message for group in self._groups(items, kinds_in(body)))
        usage = openai_usage(body.get("usage")) if body.get("object") == "response" else None
        if usage and messages and messages[-1].role == "assistant":
            messages = (*messages[:-1], _with_usage(messages[-1], usage, seconds_of(body.get("created_at"))))
        return self._session(
            messages,
            epochs=_epochs(messages),
            id=word_of(body.get("id")) or "",
            model=word_of(body.get("model")),
            system=word_of(body.get("instructions")) or "",
            tools=tools_of(body.get("tools")),
        )

    def _groups(self, items: Sequence[Any], kinds: Mapping[int, Kind]) -> Iterator[_Group]:
        open_group: _Group | None = None
        for index, item in enumerate(items):
            group = self._group(index, item, kinds.get(index))
            same = open_group is not None and open_group.phase is not None and group.phase is not None
            if open_group is not None and same and _follows(open_group, group):
                open_group.blocks += group.blocks
                open_group.source.append(index)
                open_group.phase = group.phase
                continue
            if open_group is not None:
                yield open_group
            open_group = group
        if open_group is not None:
            yield open_group

    def _group(self, index: int, item: Any, kind_in_metadata: Kind | None) -> _Group:
        id = f"m{index + 1}"
        if not isinstance(item, dict):
            placeholder = self.not_an_object(index, item, "item")
            return _Group(id, "user", None, placeholder.kind, [*placeholder.blocks], [index])
        kind = as_text(item.get("type", "message"))
        role = _ROLES.get(item.get("role")) if isinstance(item.get("role"), str) else None
        content: tuple[Role, int | None, Sequence[Block]]
        recorded_kind: Kind | None = None
        if kind == "message":
            if role is None:
                self.warn(f"item {index + 1} has no known role; read as user")
                role = "user"
            content = (role, 1 if role == "assistant" else None, _parts(item.get("content")))
            recorded_kind = kind_in(item) or kind_in_metadata
        elif kind == "reasoning":
            content = ("assistant", 0, [_reasoning(item)])
        elif kind.endswith("_call_output"):
            content = ("tool", None, [_result(item)])
        elif kind.endswith("_call") and isinstance(item.get("call_id"), str):
            content = ("assistant", 2, [_call(kind, item)])
        elif kind in COMPACTIONS:
            content, recorded_kind = ("assistant", None, [Opaque(kind, item)]), "summary"
        elif kind.endswith("_call") or kind.startswith("mcp_"):
            content = ("assistant", 2, [Opaque(kind, item)])
        else:
            content = (role or "user", None, [Opaque(kind, item)])
            recorded_kind = None if role == "system" else "meta"
        return _Group(id, content[0], content[1], recorded_kind, list(content[2]), [index])


def _server_side_warnings(body: Item, items: Sequence[Any]) -> Iterator[str]:
    """Yield warnings about content that only the server has, or that the API may omit."""
    conversation = body.get("conversation")
    if word_of(body.get("previous_response_id")):
        yield "continues a response that only the server knows: older items are not in the file"
    if word_of(conversation) or dict_of(conversation):
        yield "is part of a conversation that only the server knows: older items are not in the file"
    if dict_of(body.get("prompt")):
        yield "takes its instructions from a prompt that only the server knows"
    if body.get("truncation") == "auto":
        yield "lets the API drop items from its middle or start (truncation: auto); the file does not say which"
    called: set[Any] = set()
    orphans = references = 0
    for item in map(dict_of, items):
        kind, id = as_text(item.get("type") or ""), word_of(item.get("call_id"))
        references += kind == "item_reference"
        if kind.endswith("_call"):
            called.add(id)
        elif kind.endswith("_call_output"):
            orphans += id not in called
    if orphans:
        yield f"{counted(orphans, 'result')} of calls that are not in the file"
    if references:
        yield f"{counted(references, 'item')} only referenced: their content is not in the file"


def _with_usage(message: Message, usage: Usage, time: float | None) -> Message:
    return Message(message.id, message.role, message.blocks, message.kind, time, usage, message.model, message.source)


def _epochs(messages: Sequence[Message]) -> tuple[Epoch, ...]:
    """Return the epochs: each compaction item after messages of the agent ends one and begins the next."""
    epochs: list[Epoch] = []
    start = 0
    for index, message in enumerate(messages):
        before = messages[start:index]
        compacts = any(isinstance(block, Opaque) and block.type in COMPACTIONS for block in message.blocks)
        if compacts and any(older.role in ("assistant", "tool") for older in before):
            epochs.append(Epoch(len(epochs) + 1, range(start, index), Compaction(summary=message.id)))
            start = index
    return (*epochs, Epoch(len(epochs) + 1, range(start, len(messages))))


@dataclass(slots=True)
class _Group:
    """Items of one message. `phase` is the progress of a response: reasoning 0, text 1, calls 2; None: other items."""

    id: str
    role: Role
    phase: int | None
    kind: Kind | None = None
    blocks: list[Block] = field(default_factory=list)
    source: list[int] = field(default_factory=list)

    @property
    def message(self) -> Message:
        blocks = tuple(self.blocks)
        return Message(self.id, self.role, blocks, self.kind or kind_of(self.role, blocks), source=tuple(self.source))


def _follows(before: _Group, after: _Group) -> bool:
    """Return True if an item continues the response; a second text, or an earlier phase, begins a new one."""
    if before.phase is None or after.phase is None or after.kind:
        return False
    return after.phase > before.phase or (after.phase == before.phase and after.phase != 1)


def _parts(content: Any) -> list[Block]:
    return [_part(part) for part in content] if isinstance(content, list) else list(from_anthropic(content))


def _part(part: Any) -> Block:
    kind = as_text(dict_of(part).get("type"))
    if kind in ("input_text", "output_text", "text") and isinstance(part.get("text"), str):
        return Text(part["text"])
    if kind == "input_image":
        return media_of_url(as_text(part.get("image_url") or ""), "image")
    if kind == "input_file":
        return media_of("file", as_text(part.get("file_data") or ""))
    if kind == "input_audio":
        return media_of("audio", as_text(dict_of(part.get("input_audio")).get("data") or ""))
    return Text(part) if isinstance(part, str) else Opaque(kind, part)


def _reasoning(item: Item) -> Thinking:
    texts = [
        as_text(dict_of(part).get("text") or "")
        for key in ("summary", "content")
        for part in list_of(item.get(key))
        if dict_of(part).get("text")
    ]
    return Thinking("\n".join(texts), word_of(item.get("encrypted_content")) or "")


def _call(kind: str, item: Item) -> ToolUse:
    arguments = item.get("arguments", item.get("input", item.get("action")))
    name = word_of(item.get("name")) or kind.removesuffix("_call")
    return ToolUse(item["call_id"], name, arguments_of(arguments) if kind == "function_call" else input_of(arguments))


def _result(item: Item) -> ToolResult:
    output = item.get("output")
    parts = _parts(output) if isinstance(output, list | str) else [Text(as_text(output))] if output is not None else []
    raws = output if isinstance(output, list) else [output]
    content = tuple(in_result(part, raw) for part, raw in zip(parts, raws, strict=False))
    return ToolResult(as_text(item.get("call_id") or ""), content)
