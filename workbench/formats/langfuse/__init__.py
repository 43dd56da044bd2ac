"""Langfuse traces from its API or its pages: a trace with observations, several traces, or observations alone, as one
document or JSON lines.

A generation holds request and response in the form of the calling library, its tokens in `usageDetails` (older:
`usage`), its dollars in `costDetails`. A session of several traces is one conversation.
https://langfuse.com/docs/observability/data-model

No usual place: a trace is fetched from the server.
"""

from __future__ import annotations

from workbench.formats.format import Codec, Format
from workbench.formats.langfuse.signature import ID, KEYS, recognise


def _codec() -> Codec:
    from workbench.formats.kit.traced import codec
    from workbench.formats.langfuse.read import spans

    return codec(ID, spans)


FORMAT = Format(ID, "Langfuse trace", recognise, _codec, keys=KEYS)
