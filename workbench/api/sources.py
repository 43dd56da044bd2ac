"""Input of the library: a session, or an agent's messages in its own objects; and its output, in the same objects.

No library is imported: objects are recognised by their classes, and new ones are made of classes of the same module.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from workbench.base.errors import BadInput
from workbench.formats import files, registry
from workbench.formats.kit.blocks import as_object
from workbench.formats.kit.chat import tools_of
from workbench.formats.kit.document import Item, parse
from workbench.formats.kit.document import pieces as pieces_of
from workbench.formats.kit.jsonl import loads
from workbench.formats.loss import Losses
from workbench.session import Block, Message, Opaque, Session, Text, Thinking, Tool, ToolResult, ToolUse

Messages = Sequence[Any] | Mapping[str, Any]
"""Messages in order, each a dict or an object of a library (Anthropic's and OpenAI's SDKs, LangChain, pydantic-ai), or
a dict that holds such objects; or the body of a whole request, with its model, system prompt and tools."""

STYLES = {
    "anthropic-messages": "messages",
    "openai-chat": "messages",
    "openai-responses": "input",
    "langchain": "messages",
}
"""Formats in which an agent can send the messages unchanged, and the key of the messages in a request body."""

_PATH = Path("messages")


@dataclass(frozen=True)
class SourceSession:
    """A session, and the caller's objects from which its messages were read, in order; None for a session from a file
    and for a format that is only read."""

    session: Session
    objects: tuple[Any, ...] | None = None

    def object_of(self, message: Message) -> Any:
        """Return the source object that holds the message."""
        return message if self.objects is None or not message.source else self.objects[message.source[0]]


def read_source(
    source: Session | Messages, *, model: str | None = None, system: Any = None, tools: Iterable[Any] | None = None
) -> SourceSession:
    """Return the source as a session, with the model, system prompt and tools that are sent with its messages. Raises
    BadInput for a source that is neither a session nor messages."""
    found = SourceSession(source) if isinstance(source, Session) else _from_objects(source)
    fields: dict[str, Any] = {}
    if model is not None:
        if not isinstance(model, str):
            raise BadInput(f"model is the name of a model, not {type(model).__name__}.")
        fields["model"] = model
    if system is not None:
        fields["system"] = system if isinstance(system, str) else "\n".join(_texts(system))
    if tools is not None:
        fields["tools"] = _tools(tools)
    return replace(found, session=replace(found.session, **fields)) if fields else found


def _from_objects(source: Messages) -> SourceSession:
    items = source if isinstance(source, Mapping) else list_of(source, "the source", "a session, or a list of messages")
    if isinstance(items, list) and items and all(map(_is_pydantic_ai, items)):
        return SourceSession(files.load_bytes(_PATH, _adapter().dump_json(items)), tuple(items))
    session = files.load_bytes(_PATH, _json(items))
    key = STYLES.get(session.format)
    if key is None:
        return SourceSession(session)
    objects = items if isinstance(items, list) else items.get(key)
    return SourceSession(session, tuple(objects) if isinstance(objects, Sequence) else None)


def list_of(values: Any, name: str, what: str) -> list[Any]:
    """Return the values as a list. Raises BadInput for a value that is not iterable."""
    if not isinstance(values, Iterable):
        raise BadInput(f"{name} is {what}, not {type(values).__name__}.")
    return list(values)


def return_messages(source: SourceSession, messages: Sequence[Message]) -> list[Any]:
    """Return messages of the source's kind: kept ones as the same objects, new ones as objects of the same library, or
    as dicts if it accepts those. For a session, and a format that is only read, all are dicts of Anthropic's
    Messages API."""
    session, objects = source.session, source.objects
    if objects is None:
        return _written(session, "anthropic-messages", messages)
    if session.format == "pydantic-ai":
        return _as_pydantic_ai(session, objects, messages)
    written = _written(session, session.format, messages)
    found = _match_items(session, messages, written)
    if any(map(_is_langchain, objects)):
        return [_as_langchain(item, objects) if at is None else objects[at] for at, item in found]
    return [item if at is None else objects[at] for at, item in found]


def positions(source: SourceSession, back: Sequence[Any], ids: Iterable[str]) -> frozenset[str]:
    """Return the ids that the messages `ids` of the source have in the returned list `back`."""
    if source.objects is None:
        return frozenset(ids)
    place = {id(one): at for at, one in enumerate(back)}
    now: set[str] = set()
    wanted = frozenset(ids)
    for message in source.session.messages:
        if message.id in wanted and message.source:
            at, name = place.get(id(source.objects[message.source[0]])), f"m{message.source[0] + 1}"
            if at is not None:
                own = message.id == name or message.id.startswith(f"{name}.")
                now.add(f"m{at + 1}{message.id.removeprefix(name)}" if own else message.id)
    return frozenset(now)


def _match_items(
    session: Session, messages: Sequence[Message], written: Sequence[Any]
) -> Iterable[tuple[int | None, Any]]:
    """Yield each written item with the index of the source item that it is, None for a new one."""
    before = _source_items(session)
    sources = {index for message in messages for index in message.source}
    waiting = sorted(sources.union(session.facts.unread))
    start = 0
    for item in written:
        at = next((at for at in range(start, len(waiting)) if before[waiting[at]] == item), None)
        start = start if at is None else at + 1
        yield (None if at is None else waiting[at]), item


def _source_items(session: Session) -> list[Any]:
    document, _ = parse(_PATH, session.records.data)
    return list(document if isinstance(document, list) else document[STYLES[session.format]])


def _written(session: Session, style: str, messages: Sequence[Message]) -> list[Any]:
    body, _ = parse(_PATH, registry.target(style).write(session, messages).data)
    return list(body if isinstance(body, list) else body[STYLES[style]])


# --- objects as JSON ------------------------------------------------------------------------------------------------


def _json(items: Any) -> bytes:
    try:
        try:
            return orjson.dumps(items, default=_as_sent)
        except orjson.JSONEncodeError:  # lone surrogates, integers beyond 64 bits: the standard encoder takes both
            return json.dumps(items, default=_as_sent).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(
            f"The messages are no plain JSON values: {error}; give dicts of strings, numbers, lists, or SDK objects."
        ) from None


def _as_sent(value: Any) -> Any:
    """Return the JSON value of an SDK's object (pydantic models of Anthropic, OpenAI, LangChain), without unset
    fields."""
    if isinstance(value, Mapping):
        return dict(value)
    if callable(dump := getattr(value, "model_dump", None)):
        return dump(mode="json", exclude_none=True)
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON serializable")


def _texts(blocks: Iterable[Any]) -> Iterable[str]:
    """Yield the texts of a system prompt in blocks."""
    for block in loads(_json(list_of(blocks, "system", "a text or a list of blocks"))):
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            yield block["text"]


def _tools(tools: Iterable[Any]) -> tuple[Tool, ...]:
    return tools_of(loads(_json(list_of(tools, "tools", "a list of definitions"))))


# --- LangChain ------------------------------------------------------------------------------------------------------

_LANGCHAIN = "langchain_core.messages"
_CLASSES = {"human": "HumanMessage", "ai": "AIMessage", "system": "SystemMessage", "tool": "ToolMessage"}


def _is_langchain(value: Any) -> bool:
    return any(one.__module__.startswith(_LANGCHAIN) for one in type(value).__mro__)


def _as_langchain(item: Any, objects: Sequence[Any]) -> Any:
    """Return a LangChain message from its flat JSON. A shortened tool result is a copy of the caller's object, with its
    other fields."""
    for one in objects if item["type"] == "tool" else ():
        if getattr(one, "tool_call_id", None) == item["tool_call_id"]:
            return one.model_copy(update={"content": item["content"]})
    message_class = getattr(sys.modules[_LANGCHAIN], _CLASSES[item["type"]])
    return message_class(**{name: value for name, value in item.items() if name != "type"})


# --- pydantic-ai ----------------------------------------------------------------------------------------------------

_PYDANTIC_AI = "pydantic_ai.messages"


def _is_pydantic_ai(value: Any) -> bool:
    return type(value).__module__ == _PYDANTIC_AI


def _adapter() -> Any:
    return sys.modules[_PYDANTIC_AI].ModelMessagesTypeAdapter


def _as_pydantic_ai(session: Session, objects: Sequence[Any], messages: Sequence[Message]) -> list[Any]:
    pieces = _pydantic_ai_pieces(session, _source_items(session), messages)
    return [objects[one] if isinstance(one, int) else _adapter().validate_json(b"[%b]" % one)[0] for one in pieces]


def _pydantic_ai_pieces(session: Session, items: Sequence[Item], messages: Sequence[Message]) -> list[int | bytes]:
    """Return the indexes of the items that are kept whole, and the JSON of new ones. A request that is kept in part, or
    shortened, keeps its other fields: its instructions go to the model."""
    names = {call.id: call.name for message in session.messages for call in message.calls}
    before = {message.id: items[message.source[0]] for message in session.messages if message.source}

    def rendered(message: Message, losses: Losses) -> list[Item]:
        answers = message.role == "assistant"
        parts = [part for block in message.blocks for part in _pydantic_ai_parts(block, message, names)]
        fields = {name: value for name, value in before.get(message.id, {}).items() if name in _LASTING}
        return [{**fields, "kind": "response" if answers else "request", "parts": parts}] if parts else []

    return pieces_of(session.messages, messages, rendered, [])


_LASTING = ("instructions", "timestamp", "run_id", "conversation_id", "model_name", "metadata")


def _pydantic_ai_parts(block: Block, message: Message, names: Mapping[str, str]) -> Iterator[Item]:
    part_kind = {"assistant": "text", "system": "system-prompt"}.get(message.role, "user-prompt")
    match block:
        case Text(text) if text:
            yield {"part_kind": part_kind, "content": text}
        case Thinking(text, signature):
            yield {"part_kind": "thinking", "content": text, "signature": signature or None}
        case ToolUse(id, name, arguments):
            yield {"part_kind": "tool-call", "tool_name": name, "args": as_object(arguments), "tool_call_id": id}
        case ToolResult(of, _, is_error):
            outcome: dict[str, Any] = {"outcome": "failed"} if is_error else {}
            part = {"part_kind": "tool-return", "tool_name": names.get(of, ""), "tool_call_id": of}
            yield {**part, "content": block.text, **outcome}
        case Opaque(_, raw) if isinstance(raw, dict):
            yield raw
