"""AutoGen AgentChat (0.4 and later): the state of an agent or team (`save_state`), or a list of messages.

A state holds each agent's context without the system prompt. A list of messages (a task's result, a team's thread)
holds the texts of a team; each agent is sent its own messages, and the others' texts as the user's. Each agent can be
read; the default is the one that spoke last. Read only.

No usual place: the program that saves its state chooses the file.
"""

from __future__ import annotations

from typing import Any

from workbench.formats.format import Codec, Format
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


def _codec() -> Codec:
    from workbench.formats.autogen.read import Reader

    return Codec(Reader.read, sessions_in=Reader.sessions_in, read_part=Reader.read_part)


FORMAT = Format(ID, "AutoGen state or messages", recognise, _codec, keys=KEYS)
