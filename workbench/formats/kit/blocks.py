"""Conversion between Anthropic content blocks and ours, for all formats that contain them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from sys import intern
from typing import Any

from workbench.base.values import is_too_deep
from workbench.formats.kit.jsonl import loads_text
from workbench.formats.kit.values import text_of
from workbench.formats.loss import Loss, Losses, LossKind, loss_of
from workbench.session import Block, Media, Opaque, Text, Thinking, ToolResult, ToolUse
from workbench.session.images import media_of

SUMMARY_LABEL = "[Summary of the conversation so far]"
"""Prefix of a system summary for formats whose messages cannot have the system role."""


def from_anthropic(content: Any) -> tuple[Block, ...]:
    """Return the blocks of a message's `content`: a string, a list of blocks, nothing, or any other value.

    Never raises. An empty string or None gives no block; values of unknown shape become Opaque.
    """
    if isinstance(content, list):
        return tuple(map(_block, content))
    if content is None or content == "":
        return ()
    return (_block(content),)


def content_of(result: ToolResult, losses: Losses, type: str = "text") -> str | list[dict[str, Any]]:
    """Return a result's content for an OpenAI API: one text as a string, several as parts of `type`."""
    texts = texts_of(result, losses)
    return texts[0] if len(texts) == 1 else [{"type": type, "text": text} for text in texts if text] or ""


def named(media: Media, losses: Losses) -> str:
    """Return the line that names an image or document, because its bytes are not stored; records a loss."""
    losses.append(Loss(LossKind.MEDIA))
    return media.placeholder


def texts_of(result: ToolResult, losses: Losses) -> list[str]:
    """Return the parts of a result as texts; images and documents become lines that name them."""
    return [part.text if isinstance(part, Text) else named(part, losses) for part in result.content]


def writable(
    blocks: Iterable[Block], losses: Losses, keeps: Callable[[Thinking | Opaque], bool] = lambda block: False
) -> Iterator[Block]:
    """Yield the blocks that a format can hold: media as lines that name them, no empty texts, and reasoning and unknown
    blocks only if `keeps` returns True; the others are losses."""
    for block in blocks:
        if isinstance(block, Thinking | Opaque) and not keeps(block):
            losses.append(loss_of(block))
        elif isinstance(block, Media):
            yield Text(named(block, losses))
        elif not isinstance(block, Text) or block.text:
            yield block


def to_anthropic(block: Block, losses: Losses) -> dict[str, Any]:
    """Return a block in the Messages API's form; media become lines that name them."""
    match block:
        case Text(text):
            return {"type": "text", "text": text}
        case Thinking(text, signature):
            return {"type": "thinking", "thinking": text, "signature": signature}
        case ToolUse(id, name, arguments):
            return {
                "type": "tool_use",
                "id": id,
                "name": name,
                "input": as_object(arguments),
            }
        case ToolResult(call_id, _, is_error):
            result = {"type": "tool_result", "tool_use_id": call_id, "content": _result_content(block, losses)}
            return {**result, "is_error": True} if is_error else result
        case Media():
            return {"type": "text", "text": named(block, losses)}
        case Opaque(_, raw):
            return raw if isinstance(raw, dict) else {"type": "text", "text": as_text(raw)}


def is_compaction(raw: Any) -> bool:
    """Return True for an API's own compaction block. One without content failed, and has no effect."""
    if not isinstance(raw, dict) or raw.get("type") != "compaction":
        return False
    return bool(raw.get("content") or raw.get("encrypted_content"))


def holds_compaction(raw: Any) -> bool:
    """Return True for a compaction block, or for a list of items from an API with one among them."""
    return any(map(is_compaction, raw)) if isinstance(raw, list) else is_compaction(raw)


def compacted(raw: dict[str, Any]) -> Block:
    """Return a compaction block's text, or the block as Opaque if only the API can read it."""
    content = raw.get("content")
    return Text(content) if isinstance(content, str) and content else Opaque("compaction", raw)


def as_text(value: Any) -> str:
    """Return any decoded JSON value as text for a model; a note for values nested too deeply."""
    if isinstance(value, str):
        return value
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    except RecursionError:
        return "[nested too deeply]"
    return "[nested too deeply]" if is_too_deep(value, text) else text  # Python 3.12 and later write any depth


def as_object(arguments: dict[str, Any] | str) -> dict[str, Any]:
    """Return a call's arguments for APIs that accept only objects; undecodable text goes under the key `raw`."""
    return arguments if isinstance(arguments, dict) else {"raw": arguments}


def input_of(value: Any) -> dict[str, Any] | str:
    """Return a call's arguments from an API that sends objects; any other value as text."""
    return value if isinstance(value, dict) else "" if value is None else as_text(value)


def arguments_of(value: Any) -> dict[str, Any] | str:
    """Return a call's arguments from an API that sends JSON text: decoded, or the text itself if it is no object."""
    if not isinstance(value, str):
        return input_of(value)
    try:
        decoded = loads_text(value)
    except ValueError:
        return value
    return decoded if isinstance(decoded, dict) else value


def parts_of(content: Any, part: Callable[[Any], Block]) -> tuple[Block, ...]:
    """Return the blocks of a message's content: a text, a list whose items `part` reads, or any other value."""
    if isinstance(content, str):
        return (Text(content),) if content else ()
    if not isinstance(content, list):
        return () if content is None else (Opaque("content", content),)
    return tuple(map(part, content))


def result_parts(content: Any) -> tuple[Text | Media, ...]:
    """Return the content of an Anthropic `tool_result`: nothing, a text, or a list of blocks."""
    if isinstance(content, list):
        return tuple(in_result(_block(item), item) for item in content)
    if content is None or content == "":
        return ()
    return (Text(as_text(content)),)


def in_result(block: Block | None, raw: Any) -> Text | Media:
    """Return a block as part of a tool result. Blocks other than text and media become the JSON of `raw`."""
    return block if isinstance(block, Text | Media) else Text(as_text(raw))


def _block(item: Any) -> Block:
    if not isinstance(item, dict):
        return Text(item) if isinstance(item, str) else Opaque(type(item).__name__, item)
    kind = item.get("type")
    if kind == "tool_result":
        if isinstance(id := item.get("tool_use_id"), str):
            return ToolResult(id, result_parts(item.get("content")), item.get("is_error") is True)
    elif kind == "tool_use":
        if isinstance(id := item.get("id"), str) and isinstance(name := item.get("name"), str):
            return ToolUse(id, intern(name), input_of(item.get("input")))
    elif kind == "text":
        if isinstance(text := item.get("text"), str):
            return Text(text)
    elif kind == "thinking":
        if isinstance(text := item.get("thinking"), str):
            return Thinking(text, text_of(item.get("signature")))
    elif kind in ("image", "document"):
        return _media(kind, item)
    return Opaque(text_of(kind), item)


def _media(kind: str, item: dict[str, Any]) -> Media:
    source = item.get("source")
    if not isinstance(source, dict):
        return Media(kind, 0)
    media_type, data = source.get("media_type"), source.get("data")
    return media_of(media_type if isinstance(media_type, str) else kind, text_of(data))


def _result_content(result: ToolResult, losses: Losses) -> str | list[dict[str, Any]]:
    if not result.content:
        return ""
    if len(result.content) == 1 and isinstance(result.content[0], Text):
        return result.content[0].text
    return [to_anthropic(part, losses) for part in result.content if not isinstance(part, Text) or part.text]
