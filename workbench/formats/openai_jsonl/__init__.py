"""OpenAI JSONL: fine-tuning examples, and requests and results of batches (Anthropic's batches too).

Every line is a separate conversation: `{messages}`; `{input, preferred_output}` of preference data, read with the
preferred output; `{custom_id, body}` or `{custom_id, params}` of a request; `{custom_id, response}` or `{custom_id,
result}` of a result, which holds only the answer. Read only.

No usual place: the author of the examples or the batch chooses the file.
"""

from __future__ import annotations

from workbench.formats.format import Codec, Format
from workbench.formats.openai_jsonl.signature import ID, KEYS, recognise


def _codec() -> Codec:
    from workbench.formats.openai_jsonl.read import Reader

    return Codec(Reader.read, sessions_in=Reader.sessions_in, read_part=Reader.read_part)


FORMAT = Format(ID, "OpenAI JSONL", recognise, _codec, keys=KEYS)
