"""Recognise Letta agent files."""

from __future__ import annotations

from workbench.formats.kit.values import dict_of, list_of
from workbench.formats.look import Look

ID = "letta"
KEYS = frozenset(["agents", "blocks", "groups", "tools", "mcp_servers", "core_memory", "in_context_message_indices"])


def recognise(look: Look) -> str:
    body = dict_of(look.document)
    agents = list_of(body.get("agents"))
    first = dict_of(agents[0]) if agents else {}
    if "blocks" in body and isinstance(first.get("messages"), list):
        return "agents with messages, blocks and tools"
    if "core_memory" in body and isinstance(body.get("messages"), list) and "agent_type" in body:
        return "an agent with core_memory and messages"
    return ""
