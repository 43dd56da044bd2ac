"""Convert Codex's response items to blocks and back. `call_id` links a call with its output, never `id`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from workbench.formats.agent_texts import kind_of, split_user_text
from workbench.formats.kit.blocks import arguments_of, as_text, in_result, named, parts_of, texts_of
from workbench.formats.kit.marks import MARK, marked
from workbench.formats.kit.user_text import is_injected
from workbench.formats.kit.values import dict_of, list_of, text_of
from workbench.formats.loss import Loss, Losses, LossKind, loss_of
from workbench.session import Block, Kind, Media, Message, Opaque, Role, Text, Thinking, ToolResult, ToolUse
from workbench.session.images import media_of

SUMMARY_PREFIX = "Another language model started to solve this problem and produced a summary of its thinking process"
"""Prefix of a readable summary that Codex wrote."""

_TAGS = (
    "INSTRUCTIONS", "apps_instructions", "codex_internal_context", "goal_context", "hook_prompt", "model_switch",
    "multi_agent_mode", "multi_agent_role", "personality_spec", "realtime_conversation", "recommended_plugins", "skill",
    "subagent_notification", "user_action", "user_shell_command",
)  # fmt: skip
"""Tags of text that Codex adds to a user message, in addition to those that other agents use too."""

_AGENTS_FILE = "# AGENTS.md instructions"
_EDITORS = ("# Context from my IDE setup:", "# Files mentioned by the user:")
_REQUEST = re.compile(r"^## My request(?: for \w+)?:[ \t]*\n?", re.MULTILINE)
"""The heading between an editor's text and the user's request."""

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "developer": "system", "system": "system"}
SUMMARIES = ("compaction", "compaction_summary", "context_compaction")
_UNSENT = ("ghost_snapshot", "compaction_trigger", "other")

ItemGroup = Literal["request", "response", "results", ""]
"""The message an item belongs to: a request (one item), a response, a batch of tool results; "" for an unsent item."""


def group_of(item: Mapping[str, Any]) -> ItemGroup:
    """Return the kind of message that an item is part of."""
    kind = item.get("type")
    if not isinstance(kind, str) or kind in _UNSENT:
        return ""
    if kind == "message":
        return "response" if item.get("role") == "assistant" else "request"
    if kind.endswith("_output"):
        return "results"
    return "response" if kind == "reasoning" or kind.endswith("_call") else "request"


def role_and_kind(item: Mapping[str, Any], blocks: tuple[Block, ...]) -> tuple[Role, Kind]:
    """Return role and kind of a message whose first item is `item`. The developer role becomes system."""
    group = group_of(item)
    role_name = item.get("role")
    role = _ROLES.get(role_name, "user") if isinstance(role_name, str) else "user"
    role = {"response": "assistant", "results": "tool"}.get(group, role)  # type: ignore[assignment]
    if (kind := marked(item)) is not None:
        return role, kind
    if item.get("type") in SUMMARIES:
        return "user", "summary"
    if item.get("type") != "message" and group == "request":
        return "user", "meta"
    if role != "user":
        return role, "normal"
    first = next((block.text for block in blocks if isinstance(block, Text)), "")
    if _is_summary(first):
        return role, "summary"
    return role, "meta" if is_injected(blocks) else kind_of(role, blocks)


def _is_summary(text: str) -> bool:
    return text.lstrip().startswith(SUMMARY_PREFIX)


def blocks_of(item: dict[str, Any]) -> tuple[Block, ...]:
    """Return the blocks of one item. An item of unknown shape becomes one Opaque."""
    kind = item["type"]
    if kind == "message":
        blocks = parts_of(item.get("content"), _part)
        return tuple(_user_and_injected(item, blocks)) if item.get("role") == "user" else blocks
    if kind == "reasoning":
        signature = item.get("encrypted_content")
        texts = [*_texts(item.get("summary")), *_texts(item.get("content"))]
        return (Thinking("\n".join(texts), text_of(signature)),)
    call_id = item.get("call_id")
    if not isinstance(call_id, str):
        return (Opaque(kind, item),)
    if kind.endswith("_output"):
        return (_result(call_id, item),)
    name = item.get("name")
    if kind == "function_call" and isinstance(name, str):
        return (ToolUse(call_id, name, arguments_of(item.get("arguments"))),)
    if kind == "custom_tool_call" and isinstance(name, str):
        arguments = item.get("input")
        return (ToolUse(call_id, name, arguments if isinstance(arguments, str | dict) else as_text(arguments)),)
    if kind in ("tool_search_call", "local_shell_call"):
        arguments = item.get("arguments", item.get("action"))
        input = arguments if isinstance(arguments, dict) else as_text(arguments)
        return (ToolUse(call_id, kind.removesuffix("_call"), input),)
    return (Opaque(kind, item),)


def _part(part: Any) -> Block:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind in ("input_text", "output_text", "text") and isinstance(part.get("text"), str):
        return Text(part["text"])
    if kind == "input_image":
        url = part.get("image_url")
        if isinstance(url, str) and url.startswith("data:"):
            media_type, _, encoded = url[len("data:") :].partition(",")
            return media_of(media_type.split(";")[0] or "image", encoded)
        return Media("image", 0)
    return Opaque(text_of(kind), part)


def _user_and_injected(item: Mapping[str, Any], blocks: Sequence[Block]) -> Iterator[Block]:
    """Split a user message into the user's words and injected text, by the recorded provenance (0.169) or else by known
    prefixes."""
    metadata = dict_of(item.get("internal_chat_message_metadata_passthrough"))
    sources = [
        dict_of(dict_of(part).get("provenance")).get("type") for part in list_of(metadata.get("content_item_metadata"))
    ]
    for place, block in enumerate(blocks):
        if not isinstance(block, Text) or _is_summary(block.text):
            yield block
        elif place < len(sources) and sources[place] not in (None, "user"):
            yield Text(block.text, injected=True)
        else:
            yield from _split_text(block.text)


def _split_text(text: str) -> Sequence[Text]:
    opening = text.lstrip()
    if opening.startswith(_AGENTS_FILE):
        return [Text(text, injected=True)]
    if not opening.startswith(_EDITORS):
        return split_user_text(text, _TAGS)
    request = _REQUEST.search(text)
    own = text[request.end() :] if request else ""
    before = Text(text[: len(text) - len(own)], injected=True)
    return [before, *split_user_text(own, _TAGS)] if own else [before]


def _texts(parts: Any) -> list[str]:
    return [part["text"] for part in list_of(parts) if isinstance(part, dict) and isinstance(part.get("text"), str)]


def _result(call_id: str, item: dict[str, Any]) -> ToolResult:
    """Convert a call's output: a text, a list of parts, or (before 0.40) an object with `success`."""
    output = item.get("output", item.get("tools"))
    if item["type"] == "tool_search_output" or (isinstance(output, dict) and "content" not in output):
        return ToolResult(call_id, (Text(as_text(output)),))
    failed = isinstance(output, dict) and output.get("success") is False
    parts = parts_of(output["content"] if isinstance(output, dict) else output, _part)
    return ToolResult(
        call_id,
        tuple(in_result(part, part.raw if isinstance(part, Opaque) else "") for part in parts),
        failed,
    )


def render_items(message: Message, call_types: dict[str, str], losses: Losses, *, own: bool) -> list[dict[str, Any]]:
    """Render a message that has no records as items. `call_types`: item type by call id; new calls are added.

    `own`: the session is a Codex session, so its opaque blocks are written back unchanged.
    """
    items: list[dict[str, Any]] = []
    parts: list[dict[str, Any]] = []
    role = {"system": "developer", "tool": "user"}.get(message.role, message.role)
    text_type = "output_text" if role == "assistant" else "input_text"

    def close() -> None:
        if parts:
            items.append({"type": "message", "role": role, "content": parts.copy()})
            parts.clear()

    for block in message.blocks:
        match block:
            case Text(text) if text:
                parts.append({"type": text_type, "text": text})
            case Media():
                parts.append({"type": text_type, "text": named(block, losses)})
            case ToolUse():
                close()
                items.append(_call(block, call_types))
            case ToolResult():
                close()
                items.append(_output(block, call_types, losses))
            case Thinking():
                losses.append(loss_of(block))
            case Opaque(_, raw) if own and isinstance(raw, dict) and isinstance(raw.get("type"), str):
                if raw["type"] in SUMMARIES or raw["type"].endswith(("_call", "_output")):
                    close()
                    items.append(raw)
                else:
                    parts.append(raw)
            case Opaque():
                losses.append(loss_of(block))
            case _:
                pass
    close()
    if items and items[0]["type"] == "message":
        first = items[0]
        if role_and_kind(first, blocks_of(first))[1] != message.kind:
            first[MARK] = message.kind
    return items


def _call(call: ToolUse, call_types: dict[str, str]) -> dict[str, Any]:
    if isinstance(call.input, str) and call_types.get(call.id) != "function_call":
        call_types[call.id] = "custom_tool_call"
        item = {"type": "custom_tool_call", "status": "completed", "call_id": call.id, "name": call.name}
        return {**item, "input": call.input}
    call_types[call.id] = "function_call"
    arguments = call.input if isinstance(call.input, str) else json.dumps(call.input, ensure_ascii=False)
    return {"type": "function_call", "name": call.name, "arguments": arguments, "call_id": call.id}


def _output(result: ToolResult, call_types: dict[str, str], losses: Losses) -> dict[str, Any]:
    if result.is_error:
        losses.append(Loss(LossKind.ERROR_MARKS, details=("Codex",)))
    custom = call_types.get(result.call_id) == "custom_tool_call"
    texts = texts_of(result, losses)
    output: Any = texts[0] if len(texts) == 1 else [{"type": "input_text", "text": text} for text in texts if text]
    kind = "custom_tool_call_output" if custom else "function_call_output"
    return {"type": kind, "call_id": result.call_id, "output": output or ""}
