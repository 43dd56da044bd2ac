"""OpenAI Chat Completions: a request body, a bare list of its messages, or a LiteLLM log of one call.

Call ids may repeat within one list (tau-bench), so pairs are matched in order. A LiteLLM log's `response` is the newest
answer, with its usage; an export has it among the messages if it is kept. A summary is marked by the `name` of its
message, the only field whose value the API leaves to its caller.

No usual place: request bodies are stored wherever a proxy or program logs them.
"""

from __future__ import annotations

from workbench.formats.format import Codec, Format
from workbench.formats.kit.chat import dialect
from workbench.formats.look import Look

ID = "openai-chat"
KEYS = frozenset(["content", "messages", "model", "name", "role", "temperature", "tool_call_id", "tool_calls", "tools"])


def recognise(look: Look) -> str:
    name, why = dialect(look.document)
    return why if name == "openai" else ""


def _codec() -> Codec:
    from workbench.formats.openai_chat import read, rules, write

    return Codec(read.Reader.read, write.write, rules.validate)


FORMAT = Format(ID, "OpenAI Chat body", recognise, _codec, api="openai-chat", keys=KEYS)
