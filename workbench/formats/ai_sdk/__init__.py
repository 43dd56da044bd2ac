"""Vercel's AI SDK: `UIMessage`s, which an application stores, and `ModelMessage`s, which it sends.

A stored answer (`UIMessage`) is one message with several steps. Each step becomes a response of the model, followed by
a message with its tool results (`convertToModelMessages`). Sources and the application's own data are not sent. Checked
against version 6; names of version 4 (`args`, `result`, `toolInvocations`) are read too.
https://ai-sdk.dev/docs/reference/ai-sdk-core

No usual place: the application stores it.
"""

from __future__ import annotations

from typing import Any

from workbench.formats.format import Codec, Format
from workbench.formats.kit.values import dict_of, list_of, text_of
from workbench.formats.look import Look

ID = "ai-sdk"
KEYS = frozenset(
    ["input", "mediaType", "output", "parts", "providerOptions", "toolCallId", "toolInvocations", "toolName"]
)

_ROLES = ("system", "user", "assistant", "tool")
_SENT = ("tool-call", "tool-result", "tool-approval-request", "tool-approval-response")
"""Part types that only a `ModelMessage` has."""


def recognise(look: Look) -> str:
    items = items_of(look.document) or []
    messages = [item for item in items if isinstance(item, dict) and item.get("role") in _ROLES]
    if not items or len(messages) < len(items):
        return ""
    if all(_is_stored(message) for message in messages):
        return "messages with a role and typed parts, as the AI SDK stores them"
    parts = [dict_of(part) for message in messages for part in list_of(message.get("content"))]
    sent = any(part.get("type") in _SENT and ("toolCallId" in part or "approvalId" in part) for part in parts)
    return "messages with tool calls as the AI SDK sends them" if sent else ""


def items_of(document: Any) -> list[Any] | None:
    """Return the list of messages of a document: itself, or the `messages` of a stored chat; None without one."""
    items = document if isinstance(document, list) else dict_of(document).get("messages")
    return items if isinstance(items, list) else None


def _is_stored(message: dict[str, Any]) -> bool:
    parts = message.get("parts")
    return isinstance(parts, list) and all(text_of(dict_of(part).get("type")) for part in parts)


def _codec() -> Codec:
    from workbench.formats.ai_sdk import read

    return Codec(read.Reader.read)


FORMAT = Format(ID, "AI SDK messages", recognise, _codec, keys=KEYS)
