"""pydantic-ai: the messages of a run as `ModelMessagesTypeAdapter` writes them.

A request holds parts of several sides: a system prompt, what the person says, what tools gave. Its `instructions` are
sent before all of them and are not kept by later requests. A provider's compaction in a response ends an epoch, and
system prompts outlast it, for providers take them beside the messages; a summary of the application's stands in a
request, in place of what it dropped. Seen of version 2.62.
https://ai.pydantic.dev/message-history

No usual place: the program that runs the agent stores it.
"""

from __future__ import annotations

from workbench.formats.format import Codec, Format
from workbench.formats.pydantic_ai.signature import ID, KEYS, recognise


def _codec() -> Codec:
    from workbench.formats.pydantic_ai import read

    return Codec(read.Reader.read)


FORMAT = Format(ID, "pydantic-ai messages", recognise, _codec, keys=KEYS)
