"""pydantic-ai: the messages of a run as `ModelMessagesTypeAdapter` writes them.

A request holds parts of several roles: a system prompt, the user's words, tool results. Its `instructions` are sent
before all of them, and not kept by later requests. A provider's compaction in a response ends an epoch; system prompts
stay, because providers take them outside the messages. A summary by the application is in a request, in place of the
messages it removed. Checked with version 2.62. https://ai.pydantic.dev/message-history

No usual place: the program that runs the agent stores it.
"""

from __future__ import annotations

from workbench.formats.format import Codec, Format
from workbench.formats.pydantic_ai.signature import ID, KEYS, recognise


def _codec() -> Codec:
    from workbench.formats.pydantic_ai import read

    return Codec(read.Reader.read)


FORMAT = Format(ID, "pydantic-ai messages", recognise, _codec, keys=KEYS)
