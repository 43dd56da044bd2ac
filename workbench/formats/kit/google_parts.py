"""Conversion of Google content parts to blocks, for Gemini CLI and the agents derived from it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.formats.kit.blocks import as_text, in_result, input_of
from workbench.formats.kit.values import list_of
from workbench.session import Block, Media, Opaque, Text, ToolResult, ToolUse
from workbench.session.images import media_of

_REJECTED = re.compile(r"Plan rejected\. User feedback: (.*?)(?:\n\nThe plan is stored at|\Z)", re.DOTALL)
"""Text of a plan that the user rejected with feedback."""


@dataclass(slots=True)
class Calls:
    """Ids made for calls that were recorded without one, by the name of the tool. Each waits for the next response of
    that name."""

    waiting: dict[str, list[str]] = field(default_factory=dict)


def parts_of(content: Any) -> list[Any]:
    if content is None or content == "":
        return []
    return content if isinstance(content, list) else [content]


def model_block(part: Any, id: str, place: int, calls: Calls) -> Block:
    if isinstance(part, dict) and isinstance(call := part.get("functionCall"), dict):
        name, args = name_and_args(call)
        call_id = call.get("id")
        if not isinstance(call_id, str) or not call_id:
            call_id = f"{name}-{id}-{place}"
            calls.waiting.setdefault(name, []).append(call_id)
        return ToolUse(call_id, name, args)
    return content_block(part)


def user_block(part: Any, calls: Calls) -> Block:
    if isinstance(part, dict) and isinstance(response := part.get("functionResponse"), dict):
        id, name = response.get("id"), response.get("name")
        if not isinstance(id, str) or not id:
            waiting = calls.waiting.get(name) if isinstance(name, str) else None
            id = waiting.pop(0) if waiting else as_text(name)
        return tool_result(id, [part], failed=False)
    return content_block(part)


def content_block(part: Any) -> Block:
    if isinstance(part, str):
        return Text(part)
    if isinstance(part, dict):
        if isinstance(part.get("text"), str):
            return Text(part["text"])
        for key in ("inlineData", "fileData"):
            if isinstance(inner := part.get(key), dict):
                return media_of(as_text(inner.get("mimeType") or "file"), as_text(inner.get("data", "")))
        return Opaque(next(iter(part), ""), part)
    return Opaque(type(part).__name__, part)


def name_and_args(call: Mapping[str, Any]) -> tuple[str, dict[str, Any] | str]:
    return as_text(call.get("name", "")), input_of(call.get("args"))


def tool_result(call_id: str, parts: Sequence[Any], *, failed: bool) -> ToolResult:
    content: list[Text | Media] = []
    user_words = ""
    for part in parts:
        response = part.get("functionResponse") if isinstance(part, dict) else None
        if not isinstance(response, dict):
            block = content_block(part)
            content.append(in_result(block, part))
            continue
        output = response.get("response")
        key = next((key for key in ("output", "error") if isinstance(output, dict) and output.keys() == {key}), None)
        failed = failed or key == "error"
        text = as_text(output[key]) if key and isinstance(output, dict) else "" if output is None else as_text(output)
        content += [Text(text)] if text else []
        if response.get("name") == "exit_plan_mode" and (rejected := _REJECTED.match(text)):
            user_words = rejected[1].strip()
        for inner in list_of(response.get("parts")):
            block = content_block(inner)
            content.append(in_result(block, inner))
    return ToolResult(call_id, tuple(content), failed, user_words)
