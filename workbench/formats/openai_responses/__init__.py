"""OpenAI Responses: a request body with `input`, a response with `output`, or a bare list of items.

Adjacent items of one response (reasoning, then text, then calls) are one message. A compaction item is encrypted: it is
kept unchanged, in a message of kind summary, and replaces the agent's messages before it. User messages before it were
kept by `/responses/compact`, and are part of the context. A kind that does not follow from an item's role is stored in
the item's id, the only free field.

No usual place: request bodies are stored wherever a proxy or program logs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.formats.format import Codec, Format
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.values import dict_of, list_of
from workbench.formats.look import Look

ID = "openai-responses"
KEYS = frozenset(["input", "instructions", "model", "object", "output", "previous_response_id", "tools"])

_ITEMS = (
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "web_search_call",
    "reasoning",
    "compaction",
)


def recognise(look: Look) -> str:
    document = look.document
    if isinstance(document, list):
        known = any(_is_item(item) for item in document)
        return "a bare list of Responses items" if known and _all_items(document) else ""
    body = dict_of(document)
    if "messages" in body:
        return ""
    if str(body.get("object")) in ("response", "response.compaction"):
        return f"an object {body['object']}"
    input = body.get("input")
    if isinstance(input, list) and _all_items(input) and ("model" in body or "previous_response_id" in body):
        return "input items with a model"
    if isinstance(input, str) and isinstance(body.get("model"), str):
        return "input with a model"
    return ""


def _all_items(items: Sequence[Any]) -> bool:
    return all(isinstance(item, dict) and ("role" in item or "type" in item) for item in items)


def _is_item(item: Any) -> bool:
    """Return True for an item that only the Responses API has."""
    kind = as_text(dict_of(item).get("type"))
    parts = list_of(dict_of(item).get("content"))
    return kind in _ITEMS or any(dict_of(part).get("type") in ("input_text", "output_text") for part in parts)


def _codec() -> Codec:
    from workbench.formats.kit.marks import EXPORT_NOTE, in_document
    from workbench.formats.openai_responses import read, rules, write

    return Codec(
        read.Reader.read, write.write, rules.validate, note=in_document(EXPORT_NOTE, ("metadata",), as_text=True)
    )


FORMAT = Format(ID, "OpenAI Responses body", recognise, _codec, api="openai-responses", keys=KEYS)
