"""Recognise AutoGen states and messages."""

from __future__ import annotations

from typing import Any

from workbench.formats.kit.values import dict_of, list_of, text_of
from workbench.formats.look import Look

ID = "autogen"
KEYS = frozenset(["agent_states", "agent_state", "llm_context", "message_thread", "stop_reason", "messages"])

_STATES = ("TeamState", "AssistantAgentState", "ChatAgentContainerState")
_MESSAGES = (
    "TextMessage",
    "MultiModalMessage",
    "StopMessage",
    "HandoffMessage",
    "ToolCallRequestEvent",
    "ToolCallExecutionEvent",
    "ToolCallSummaryMessage",
    "ThoughtEvent",
    "MemoryQueryEvent",
    "UserInputRequestedEvent",
    "ModelClientStreamingChunkEvent",
    "StructuredMessage",
)


def recognise(look: Look) -> str:
    body = dict_of(look.document)
    if isinstance(body.get("agent_states"), dict) or "llm_context" in body:
        return f"a saved state: {text_of(body.get('type')) or 'agent_states'}"
    messages = thread_of(look.document)
    if messages and all(map(is_message, messages[:5])):
        return "a list of messages with source and type, as AgentChat returns them"
    return ""


def thread_of(document: Any) -> list[Any]:
    """Return the messages of a team: a list, or those of a task's result."""
    return document if isinstance(document, list) else list_of(dict_of(document).get("messages"))


def is_message(item: Any) -> bool:
    kind = dict_of(item).get("type")
    return isinstance(kind, str) and "source" in item and kind.split("[")[0] in _MESSAGES
