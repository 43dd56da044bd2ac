"""Chat JSONL: one message per line, in the form of OpenAI Chat or Anthropic Messages.

Programs log requests and responses in this form. The file holds nothing else, so there is one epoch. Read only.

No usual place: the program that logs its messages chooses the file.
"""

from __future__ import annotations

from workbench.formats.chat_jsonl.signature import ID, KEYS, recognise
from workbench.formats.format import Codec, Format


def _codec() -> Codec:
    from workbench.formats.chat_jsonl import read

    return Codec(read.read)


FORMAT = Format(ID, "Chat JSONL", recognise, _codec, keys=KEYS)
