"""Amazon Bedrock's Converse API: a request body, its bare list of messages, or the log of an invocation.

A block has no type field: its only key is its type. The log of an invocation holds the request body
(`input.inputBodyJson`) and the response (`output.outputBodyJson`), whose `usage` counts cached tokens separately.
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html

No usual place: the program that calls the API stores it.
"""

from __future__ import annotations

from workbench.formats.bedrock.signature import ID, KEYS, recognise
from workbench.formats.format import Codec, Format


def _codec() -> Codec:
    from workbench.formats.bedrock import read

    return Codec(read.Reader.read)


FORMAT = Format(ID, "Bedrock Converse body", recognise, _codec, keys=KEYS)
