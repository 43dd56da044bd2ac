"""Letta's agent files (`.af`): `{agents, blocks, tools, …}`, and in the first version the agent alone.

A file has all messages of an agent and lists those in its context. The others were removed, mostly for a summary, which
is a user message in the form of a system alert. The user's words are in a JSON envelope. Read only.

No usual place: the user chooses where an agent is exported to.
"""

from __future__ import annotations

from workbench.formats.format import Codec, Format
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


def _codec() -> Codec:
    from workbench.formats.letta.read import Reader

    return Codec(Reader.read, sessions_in=Reader.sessions_in, read_part=Reader.read_part)


FORMAT = Format(ID, "Letta agent file", recognise, _codec, keys=KEYS, preset="letta", suffixes=(".af",))
