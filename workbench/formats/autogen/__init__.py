"""AutoGen AgentChat (0.4 and later): the state of an agent or team (`save_state`), or a list of messages.

A state has of each agent the context that its model is sent, but for the system prompt. A list of messages (a task's
result, a team's thread) is what a team said; each agent is sent of it what it did itself, and what the others said as
the user's. Each agent can be read; without a choice it is the one that spoke last. Read only.

No usual place: the program that saves its state chooses the file.
"""

from __future__ import annotations

from workbench.formats.autogen.signature import ID, KEYS, recognise
from workbench.formats.format import Codec, Format


def _codec() -> Codec:
    from workbench.formats.autogen.read import Reader

    return Codec(Reader.read, sessions_in=Reader.sessions_in, read_part=Reader.read_part)


FORMAT = Format(ID, "AutoGen state or messages", recognise, _codec, keys=KEYS)
