"""Vercel's AI SDK: `UIMessage`s, which an application stores, and `ModelMessage`s, which it sends.

A stored answer (`UIMessage`) is one message with several steps. Each step becomes a response of the model, followed by
a message with its tool results (`convertToModelMessages`). Sources and the application's own data are not sent. Checked
against version 6; names of version 4 (`args`, `result`, `toolInvocations`) are read too.
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
