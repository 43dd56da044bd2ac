"""AutoGen AgentChat (0.4 and later): the state of an agent or team (`save_state`), or a list of messages.

A state holds each agent's context without the system prompt. A list of messages (a task's result, a team's thread)
holds the texts of a team; each agent is sent its own messages, and the others' texts as the user's. Each agent can be
read; the default is the one that spoke last. Read only.

No usual place: the program that saves its state chooses the file.
"""

from __future__ import annotations

from workbench.formats.autogen.signature import ID, KEYS, recognise
from workbench.formats.format import Codec, Format


def _codec() -> Codec:
    from workbench.formats.autogen.read import Reader

    return Codec(Reader.read, sessions_in=Reader.sessions_in, read_part=Reader.read_part)


FORMAT = Format(ID, "AutoGen state or messages", recognise, _codec, keys=KEYS)
