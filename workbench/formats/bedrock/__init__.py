"""Amazon Bedrock's Converse API: a request body, its bare list of messages, or the log of an invocation.

A block has no type field: its only key is its type. The log of an invocation holds the request body
(`input.inputBodyJson`) and the response (`output.outputBodyJson`), whose `usage` counts cached tokens separately.
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html

No usual place: the program that calls the API stores it.
"""

from __future__ import annotations

from typing import Any

from workbench.formats.format import Codec, Format
from workbench.formats.kit.values import dict_of, list_of
from workbench.formats.look import Look

ID = "bedrock"
KEYS = frozenset(["additionalModelRequestFields", "inferenceConfig", "modelId", "system", "toolConfig"])

_BLOCKS = frozenset(
    ["audio", "cachePoint", "citationsContent", "document", "guardContent", "image", "reasoningContent", "text",
     "toolResult", "toolUse", "video"]
)  # fmt: skip


def recognise(look: Look) -> str:
    log = dict_of(look.document)
    if log.get("schemaType") == "ModelInvocationLog":
        return "an invocation log of Converse" if _is_converse(body_of(log)) else ""
    return "messages with untyped blocks, as in Bedrock's Converse" if _is_converse(look.document) else ""


def body_of(document: Any) -> Any:
    """Return the request body in the log of an invocation; any other document unchanged."""
    log = dict_of(document)
    return dict_of(log.get("input")).get("inputBodyJson") if log.get("schemaType") else document


def _is_converse(document: Any) -> bool:
    items = document if isinstance(document, list) else list_of(dict_of(document).get("messages"))
    messages = [dict_of(item) for item in items]
    blocks = [block for message in messages for block in list_of(message.get("content"))]
    return (
        bool(blocks)
        and all(message.get("role") in ("user", "assistant") for message in messages)
        and all(isinstance(block, dict) and len(block) == 1 and block.keys() <= _BLOCKS for block in blocks)
    )


def _codec() -> Codec:
    from workbench.formats.bedrock import read

    return Codec(read.Reader.read)


FORMAT = Format(ID, "Bedrock Converse body", recognise, _codec, keys=KEYS)
