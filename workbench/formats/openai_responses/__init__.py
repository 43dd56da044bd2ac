"""OpenAI Responses: a request body with `input`, a response with `output`, or a bare list of items.

Neighbouring items of one answer (reasoning, then text, then calls) are one message. A compaction item is encrypted: it
is kept as it is, in a message of kind summary, and replaces what an agent said and did before it. The user's messages
alone before one are what `/responses/compact` kept, and part of the context. A kind of which an item's role says
nothing is written into the item's id, the one field that is left to the caller.

No usual place: request bodies are stored wherever a proxy or program logs them.
"""

from __future__ import annotations

from workbench.formats.format import Codec, Format
from workbench.formats.openai_responses.signature import ID, KEYS, recognise


def _codec() -> Codec:
    from workbench.formats.kit.mark import CARRIED
    from workbench.formats.kit.note import in_document
    from workbench.formats.openai_responses import read, rules, write

    return Codec(read.Reader.read, write.write, rules.validate, note=in_document(CARRIED, ("metadata",), as_text=True))


FORMAT = Format(ID, "OpenAI Responses body", recognise, _codec, api="openai-responses", keys=KEYS)
