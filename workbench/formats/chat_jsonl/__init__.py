"""Chat JSONL: one message per line, in the form of OpenAI Chat or Anthropic Messages.

Programs log requests and responses in this form. The file holds nothing else, so there is one epoch. Read only.

No usual place: the program that logs its messages chooses the file.
"""

from __future__ import annotations

from workbench.formats.format import Codec, Format
from workbench.formats.kit.chat import dialect
from workbench.formats.look import Look

ID = "chat-jsonl"
KEYS = frozenset(["content", "role", "tool_call_id", "tool_calls"])


def recognise(look: Look) -> str:
    """Recognise at least two lines that are all messages of one of the two chat APIs."""
    values = look.values
    if len(values) < 2 or not all(isinstance(value, dict) for value in values):
        return ""
    return "lines with role and content, one message each" if dialect(values)[0] else ""


def _codec() -> Codec:
    from workbench.formats.chat_jsonl import read

    return Codec(read.read)


FORMAT = Format(ID, "Chat JSONL", recognise, _codec, keys=KEYS)
