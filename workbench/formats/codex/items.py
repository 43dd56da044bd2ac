"""Codex's response items and our blocks, there and back. Items join by `call_id`, never by `id`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from workbench.formats.agent_texts import kind_of, split_user_text
from workbench.formats.kit.blocks import arguments_of, as_text, in_result, named, parts_of, texts_of
from workbench.formats.kit.mark import MARK, marked
from workbench.formats.kit.user_text import is_injected
from workbench.formats.kit.values import dict_of, list_of, text_of
from workbench.formats.loss import Loss, Losses, LossKind, loss_of
from workbench.session import Block, Kind, Media, Message, Opaque, Role, Text, Thinking, ToolResult, ToolUse
from workbench.session.images import media_of

SUMMARY_PREFIX = "Another language model started to solve this problem and produced a summary of its thinking process"
"""How Codex's own summaries in clear begin."""

_TAGS = (
    "INSTRUCTIONS", "apps_instructions", "codex_internal_context", "goal_context", "hook_prompt", "model_switch",
    "multi_agent_mode", "multi_agent_role", "personality_spec", "realtime_conversation", "recommended_plugins", "skill",
    "subagent_notification", "user_action", "user_shell_command",
)  # fmt: skip
"""Tags in a user's message that Codex wrote and not the person, beside those of other tools, too."""

_AGENTS = "# AGENTS.md instructions"
_EDITORS = ("# Context from my IDE setup:", "# Files mentioned by the user:")
_REQUEST = re.compile(r"^## My request(?: for \w+)?:[ \t]*\n?", re.MULTILINE)
"""What an editor puts before the person's own words, and the line behind it."""

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "developer": "system", "system": "system"}
SUMMARIES = ("compaction", "compaction_summary", "context_compaction")
_UNSENT = ("ghost_snapshot", "compaction_trigger", "other")

Side = Literal["request", "response", "results", ""]
"""What an item is part of: a request of its own, a response, a batch of tool results, or nothing that is sent."""


def side_of(item: Mapping[str, Any]) -> Side:
    kind = item.get("type")
    if not isinstance(kind, str) or kind in _UNSENT:
        return ""
    if kind == "message":
        return "response" if item.get("role") == "assistant" else "request"
    if kind.endswith("_output"):
        return "results"
    return "response" if kind == "reasoning" or kind.endswith("_call") else "request"


def role_and_kind(item: Mapping[str, Any], blocks: tuple[Block, ...]) -> tuple[Role, Kind]:
    """Role and kind of a message that begins with `item`. A developer's message is the system's."""
    side = side_of(item)
    named = item.get("role")
    role = _ROLES.get(named, "user") if isinstance(named, str) else "user"
    role = {"response": "assistant", "results": "tool"}.get(side, role)  # type: ignore[assignment]
    if (kind := marked(item)) is not None:
        return role, kind
    if item.get("type") in SUMMARIES:
        return "user", "summary"
    if item.get("type") != "message" and side == "request":
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
    """The blocks of one item. What has no known shape becomes Opaque, whole."""
    kind = item["type"]
    if kind == "message":
        blocks = parts_of(item.get("content"), _part)
        return tuple(_own_and_injected(item, blocks)) if item.get("role") == "user" else blocks
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
        given = item.get("input")
        return (ToolUse(call_id, name, given if isinstance(given, str | dict) else as_text(given)),)
    if kind in ("tool_search_call", "local_shell_call"):
        given = item.get("arguments", item.get("action"))
        return (ToolUse(call_id, kind.removesuffix("_call"), given if isinstance(given, dict) else as_text(given)),)
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


def _own_and_injected(item: Mapping[str, Any], blocks: Sequence[Block]) -> Iterator[Block]:
    """A user's blocks with what Codex or an editor wrote told from the person's words: by where Codex says that a part
    comes from (0.169), else by how it begins."""
    about = dict_of(item.get("internal_chat_message_metadata_passthrough"))
    told = [
        dict_of(dict_of(part).get("provenance")).get("type") for part in list_of(about.get("content_item_metadata"))
    ]
    for place, block in enumerate(blocks):
        if not isinstance(block, Text) or _is_summary(block.text):
            yield block
        elif place < len(told) and told[place] not in (None, "user"):
            yield Text(block.text, injected=True)
        else:
            yield from _parted(block.text)


def _parted(text: str) -> Sequence[Text]:
    opening = text.lstrip()
    if opening.startswith(_AGENTS):
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
    """A call's output: text, a list of parts, or (before 0.40) an object that says whether the call went well."""
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


def rendered(message: Message, call_types: dict[str, str], losses: Losses, *, own: bool) -> list[dict[str, Any]]:
    """The items of a made message. `call_types` knows the item type of every call so far, and learns new ones.

    `own`: whether unknown blocks come from this format, and so may go back into it.
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
    given = call.input if isinstance(call.input, str) else json.dumps(call.input, ensure_ascii=False)
    return {"type": "function_call", "name": call.name, "arguments": given, "call_id": call.id}


def _output(result: ToolResult, call_types: dict[str, str], losses: Losses) -> dict[str, Any]:
    if result.is_error:
        losses.append(Loss(LossKind.ERROR_MARKS, details=("Codex",)))
    custom = call_types.get(result.call_id) == "custom_tool_call"
    texts = texts_of(result, losses)
    output: Any = texts[0] if len(texts) == 1 else [{"type": "input_text", "text": text} for text in texts if text]
    kind = "custom_tool_call_output" if custom else "function_call_output"
    return {"type": kind, "call_id": result.call_id, "output": output or ""}
