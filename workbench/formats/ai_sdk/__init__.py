"""Vercel's AI SDK: `UIMessage`s, which an application stores, and `ModelMessage`s, which it sends.

An answer stored for the screen is one message of many steps; each step is an answer of the model, and what its tools
gave a message of its own (`convertToModelMessages`). Sources and the application's own data are not sent. Seen of
version 6; names of version 4 (`args`, `result`, `toolInvocations`) are read too.
https://ai-sdk.dev/docs/reference/ai-sdk-core

No usual place: the application stores it.
"""

from __future__ import annotations

from workbench.formats.ai_sdk.signature import ID, KEYS, recognise
from workbench.formats.format import Codec, Format


def _codec() -> Codec:
    from workbench.formats.ai_sdk import read

    return Codec(read.Reader.read)


FORMAT = Format(ID, "AI SDK messages", recognise, _codec, keys=KEYS)
