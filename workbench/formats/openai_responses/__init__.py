"""OpenAI Responses: a request body with `input`, a response with `output`, or a bare list of items.

Adjacent items of one response (reasoning, then text, then calls) are one message. A compaction item is encrypted: it is
kept unchanged, in a message of kind summary, and replaces the agent's messages before it. User messages before one were
kept by `/responses/compact`, and are part of the context. A kind that does not follow from an item's role is stored in
the item's id, the only free field.

No usual place: request bodies are stored wherever a proxy or program logs them.
"""

from __future__ import annotations

from workbench.formats.format import Codec, Format
from workbench.formats.openai_responses.signature import ID, KEYS, recognise


def _codec() -> Codec:
    from workbench.formats.kit.mark import EXPORT_NOTE
    from workbench.formats.kit.note import in_document
    from workbench.formats.openai_responses import read, rules, write

    return Codec(
        read.Reader.read, write.write, rules.validate, note=in_document(EXPORT_NOTE, ("metadata",), as_text=True)
    )


FORMAT = Format(ID, "OpenAI Responses body", recognise, _codec, api="openai-responses", keys=KEYS)
