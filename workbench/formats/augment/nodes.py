"""Convert between Augment's nodes and our blocks.

Type numbers differ between the two sides of an exchange: type 10 is a summary of older exchanges in a request, and
token usage in a response.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from workbench.formats.kit.blocks import SUMMARY_LABEL, arguments_of, as_text, named, texts_of
from workbench.formats.kit.values import list_of
from workbench.formats.loss import Losses, loss_of
from workbench.session import Block, Media, Message, Opaque, Text, Thinking, ToolResult, ToolUse, Usage
from workbench.session.images import pixels_of_encoded

Node = dict[str, Any]

STRAY = "entry"
"""Type of the Opaque block that holds an entry of the history that is no exchange."""

SUMMARY_NODE = 10
"""Type of a summary, in request nodes only."""

_USAGE_NODE = 10
"""Type of token usage, in response nodes only."""

_IMAGE_CONTENT = 2


def nodes_of(exchange: Any, key: str) -> list[Any]:
    """Return the list of nodes under a key, empty without one."""
    nodes = exchange.get(key) if isinstance(exchange, dict) else None
    return list_of(nodes)


def is_summary_node(node: Any) -> bool:
    """True for a request node that summarizes older exchanges."""
    return isinstance(node, dict) and node.get("type") == SUMMARY_NODE


def request_blocks(exchange: Node) -> tuple[Block, ...]:
    """Return a request's blocks without its summaries, results first. `request_message` repeats the text nodes, so it
    is read only if they have no text."""
    blocks = [_request_block(node) for node in nodes_of(exchange, "request_nodes") if not is_summary_node(node)]
    message = exchange.get("request_message")
    if isinstance(message, str) and message and not any(isinstance(block, Text) and block.text for block in blocks):
        blocks.append(Text(message))
    blocks = [block for block in blocks if not (isinstance(block, Text) and not block.text)]
    return tuple(sorted(blocks, key=lambda block: not isinstance(block, ToolResult)))


def summary_blocks(exchange: Node) -> tuple[Block, ...]:
    """Return the summary of older exchanges in a request, empty without one."""
    blocks: list[Block] = []
    for node in nodes_of(exchange, "request_nodes"):
        if not is_summary_node(node):
            continue
        inner = node.get("history_summary_node")
        if not isinstance(inner, dict):
            blocks.append(Opaque("history_summary_node", node))
            continue
        blocks.append(Text(_summary_text(inner)))
        if inner.get("history_end"):
            # The node also holds complete exchanges, which are sent with it.
            blocks.append(Opaque("history_end", {"history_end": inner["history_end"]}))
    return tuple(blocks)


def _summary_text(inner: Node) -> str:
    """Return a summary node as text for the model; auggie's exact template is not known."""
    lines = ["<supervisor>", f"<summary request_id={as_text(inner.get('summarization_request_id') or '')}>"]
    lines += [as_text(inner.get("summary_text") or ""), "</summary>"]
    if inner.get("history_middle_abridged_text"):
        middle = as_text(inner["history_middle_abridged_text"])
        lines += ["<middle_part_abridged>", middle, "</middle_part_abridged>"]
    return "\n".join([*lines, "</supervisor>"])


def response_blocks(exchange: Node) -> tuple[Block, ...]:
    """Return a response's blocks in the order shown to the user: thinking, text, calls.

    In the file, text comes after the calls. `response_text` repeats the text nodes, so it is read only without any.
    Token usage is no block.
    """
    all_blocks = [_response_block(node) for node in nodes_of(exchange, "response_nodes") if not _is_usage(node)]
    blocks = [block for block in all_blocks if not (isinstance(block, Text) and not block.text)]
    text = exchange.get("response_text")
    if isinstance(text, str) and text and not any(isinstance(block, Text) for block in blocks):
        blocks.append(Text(text))
    order = {Thinking: 0, Text: 1, ToolUse: 2}
    return tuple(sorted(blocks, key=lambda block: order.get(type(block), 3)))


def token_usage(exchange: Node) -> dict[str, int]:
    """Return the token counts that a response records, empty without any."""
    for node in reversed(nodes_of(exchange, "response_nodes")):
        counts = node.get("token_usage") if _is_usage(node) else None
        if isinstance(counts, dict):
            return {key: value for key, value in counts.items() if type(value) is int}
    return {}


def usage_of(counts: dict[str, int]) -> Usage | None:
    """Return recorded counts as usage, None without any."""
    if not counts:
        return None
    return Usage(
        input=counts.get("input_tokens", 0),
        output=counts.get("output_tokens", 0),
        cache_read=counts.get("cache_read_input_tokens", 0),
        cache_write=counts.get("cache_creation_input_tokens", 0),
    )


def add_label(text: str) -> str:
    """Put a label before a summary that does not open the context: in its usual form the client would drop all older
    exchanges."""
    return f"{SUMMARY_LABEL}\n{text}"


def remove_label(block: Block) -> Block:
    """Undo `add_label`; other blocks are returned unchanged."""
    return Text(block.text.removeprefix(f"{SUMMARY_LABEL}\n")) if isinstance(block, Text) else block


def _is_usage(node: Any) -> bool:
    return isinstance(node, dict) and node.get("type") == _USAGE_NODE


def _request_block(node: Any) -> Block:
    kind = node.get("type") if isinstance(node, dict) else None
    match kind:
        case 0 if (content := _content(node, "text_node")) is not None:
            return Text(content)
        case 1 if isinstance(result := node.get("tool_result_node"), dict):
            return ToolResult(as_text(result.get("tool_use_id", "")), _parts(result), result.get("is_error") is True)
        case 2:
            return _media(node.get("image_node"), "image")
        case 8:
            return _media(node.get("file_node"), "file")
    return Opaque("ide_state_node" if kind == 4 else f"request node {as_text(kind)}", node)


def _response_block(node: Any) -> Block:
    kind = node.get("type") if isinstance(node, dict) else None
    match kind:
        case 0 if (content := _content(node, "text_node")) is not None:
            return Text(content)
        case 5 if isinstance(call := node.get("tool_use"), dict) and isinstance(call.get("tool_name"), str):
            return ToolUse(
                as_text(call.get("tool_use_id", "")), call["tool_name"], arguments_of(call.get("input_json"))
            )
        case 8 if isinstance(thinking := node.get("thinking"), dict):
            text = thinking.get("content") or thinking.get("summary") or ""
            return Thinking(as_text(text), as_text(thinking.get("encrypted_content") or ""))
    return Opaque(f"response node {as_text(kind)}", node)


def _content(node: Node, inner: str) -> str | None:
    holder = node.get(inner)
    content = holder.get("content") if isinstance(holder, dict) else node.get("content")
    return content if isinstance(content, str) else None


def _parts(result: Node) -> tuple[Text | Media, ...]:
    """Return the parts of a result: its content nodes, or `content`, which repeats their text, if there are none."""
    parts: list[Text | Media] = []
    for node in nodes_of(result, "content_nodes"):
        if isinstance(node, dict) and node.get("type") == _IMAGE_CONTENT:
            parts.append(_media(node.get("image_content"), "image"))
        elif isinstance(node, dict) and isinstance(node.get("text_content"), str):
            parts.append(Text(node["text_content"]))
        else:
            parts.append(Text(as_text(node)))
    content = result.get("content")
    if parts or content in (None, ""):
        return tuple(part for part in parts if part != Text(""))
    return (Text(as_text(content)),)


def _media(holder: Any, kind: str) -> Media:
    """Return media sized by its strings: encoded data and a short name."""
    values = [value for value in holder.values() if isinstance(value, str)] if isinstance(holder, dict) else []
    return Media(kind, sum(map(len, values)), pixels_of_encoded(max(values, key=len, default="")))


def request_nodes(blocks: Iterable[Block], losses: Losses) -> list[Node]:
    """Render blocks as the nodes of a request, numbered from 1."""
    return _number_nodes([node for block in blocks for node in _as_request(block, losses)])


def response_nodes(blocks: Sequence[Block], losses: Losses) -> list[Node]:
    """Render blocks as the nodes of a response, numbered from 1."""
    return _number_nodes([node for block in blocks for node in _as_response(block, losses)])


def is_node(block: Opaque) -> bool:
    """True for an unknown block that is a node of this format and can be written again."""
    return isinstance(block.raw, dict) and type(block.raw.get("type")) is int


def _as_request(block: Block, losses: Losses) -> Iterable[Node]:
    match block:
        case Text(text):
            yield {"type": 0, "text_node": {"content": text}}
        case Media():
            yield {"type": 0, "text_node": {"content": named(block, losses)}}
        case ToolResult(call_id, _, is_error):
            texts = texts_of(block, losses)
            result: Node = {"tool_use_id": call_id, "content": "\n".join(texts), "is_error": is_error}
            if len(texts) > 1:
                result["content_nodes"] = [{"type": 1, "text_content": text} for text in texts]
            yield {"type": 1, "tool_result_node": result}
        case Opaque(_, raw) if is_node(block):
            yield raw


def _as_response(block: Block, losses: Losses) -> Iterable[Node]:
    match block:
        case Text(text):
            yield {"type": 0, "content": text}
        case Media():
            yield {"type": 0, "content": named(block, losses)}
        case Thinking(text, signature):
            yield {
                "type": 8,
                "content": "",
                "thinking": {"summary": "", "content": text, "encrypted_content": signature},
            }
        case ToolUse(id, name, input):
            as_json = input if isinstance(input, str) else as_text(input)
            call = {"tool_use_id": id, "tool_name": name, "input_json": as_json, "is_partial": False}
            yield {"type": 5, "content": "", "tool_use": call}
        case Opaque(_, raw) if is_node(block):
            yield raw


def _number_nodes(nodes: list[Node]) -> list[Node]:
    return [
        {"id": number, **{key: value for key, value in node.items() if key != "id"}}
        for number, node in enumerate(nodes, 1)
    ]


def without_model_data(message: Message, losses: Losses) -> Message:
    """Return a message of another format without thinking and unknown blocks, which only its own model accepts."""
    hidden = [block for block in message.blocks if isinstance(block, Thinking | Opaque)]
    losses += map(loss_of, hidden)
    return replace(message, blocks=tuple(block for block in message.blocks if block not in hidden))
