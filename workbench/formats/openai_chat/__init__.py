"""OpenAI Chat Completions: a request body, a bare list of its messages, or a LiteLLM log of one call.

Call ids may repeat within one list (tau-bench), so pairs are matched in order. A LiteLLM log's `response` is the newest
answer, with its usage; an export has it among the messages if it is kept. A summary is marked by the `name` of its
message, the only field whose value the API leaves to its caller.

No usual place: request bodies are stored wherever a proxy or program logs them.
"""

from __future__ import annotations

from workbench.formats.format import Codec, Format
from workbench.formats.openai_chat.signature import ID, KEYS, recognise


def _codec() -> Codec:
    from workbench.formats.openai_chat import read, rules, write

    return Codec(read.Reader.read, write.write, rules.validate)


FORMAT = Format(ID, "OpenAI Chat body", recognise, _codec, api="openai-chat", keys=KEYS)
