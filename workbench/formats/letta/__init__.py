"""Letta's agent files (`.af`): `{agents, blocks, tools, …}`, and in the first version the agent alone.

A file has all messages of an agent and lists those in its context. The others were removed, mostly for a summary, which
is a user message in the form of a system alert. The user's words are in a JSON envelope. Read only.

No usual place: the user chooses where an agent is exported to.
"""

from __future__ import annotations

from workbench.formats.format import Codec, Format
from workbench.formats.letta.signature import ID, KEYS, recognise


def _codec() -> Codec:
    from workbench.formats.letta.read import Reader

    return Codec(Reader.read, sessions_in=Reader.sessions_in, read_part=Reader.read_part)


FORMAT = Format(ID, "Letta agent file", recognise, _codec, keys=KEYS, preset="letta", suffixes=(".af",))
