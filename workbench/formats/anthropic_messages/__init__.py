"""Anthropic Messages API: a request body, or its bare list of messages.

No usual place: request bodies are stored wherever a proxy or program logs them.
"""

from __future__ import annotations

from workbench.formats.anthropic_messages.signature import ID, KEYS, recognise
from workbench.formats.format import Codec, Format


def _codec() -> Codec:
    from workbench.formats.anthropic_messages import read, rules, write

    return Codec(read.Reader.read, write.write, rules.validate)


FORMAT = Format(ID, "Anthropic Messages body", recognise, _codec, api="anthropic-messages", keys=KEYS)
