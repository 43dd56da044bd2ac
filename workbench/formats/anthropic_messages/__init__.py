"""Anthropic Messages API: a request body, or its bare list of messages.

No usual place: request bodies are stored wherever a proxy or program logs them.
"""

from __future__ import annotations

from workbench.formats.format import Codec, Format
from workbench.formats.kit.chat import dialect
from workbench.formats.look import Look

ID = "anthropic-messages"
KEYS = frozenset(["content", "max_tokens", "messages", "model", "role", "system", "tools"])


def recognise(look: Look) -> str:
    name, why = dialect(look.document)
    return why if name == "anthropic" else ""


def _codec() -> Codec:
    from workbench.formats.anthropic_messages import read, rules, write

    return Codec(read.Reader.read, write.write, rules.validate)


FORMAT = Format(ID, "Anthropic Messages body", recognise, _codec, api="anthropic-messages", keys=KEYS)
