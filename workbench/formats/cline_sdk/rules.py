"""Loader rules of the Cline SDK, checked on the JSON alone: https://github.com/cline/cline."""

from __future__ import annotations

from typing import Any

from workbench.formats.faults import Faults, Item, StopValidation, document, inner, objects, require_list, validator


@validator
def validate(data: bytes) -> Faults:
    """Check fields, content and pairs. The provider requires all results directly after their calls: in one message, or
    in one message per result, as the SDK writes those of parallel calls. The SDK's next compaction drops everything
    before the newest summary. Calls of the last response may be open."""
    body = document(data)
    if not isinstance(body, dict):
        raise StopValidation("The document is not an object.")
    if body.get("version") != 1:
        yield f"The version is {body.get('version')}, not 1."
    yield from (f"It has no {key}." for key in ("sessionId", "agent", "updated_at") if not body.get(key))
    messages = require_list(body.get("messages"), "messages")
    if inner(messages[0], "role", str) == "assistant":
        yield "Message 1 is an assistant message; the first must be a user message."
    ids: set[str] = set()
    open_calls: dict[str, int] = {}
    for number, message in enumerate(messages, 1):
        where = f"Message {number}"
        if inner(message, "role", str) not in ("user", "assistant"):
            yield f"{where} is neither a user nor an assistant message."
            continue
        if not isinstance(message.get("id"), str) or message["id"] in ids:
            yield f"{where} has no id of its own."
        ids.add(str(message.get("id")))
        yield from _content_faults(where, message.get("content"))
        results = _ids(message, "tool_result", "tool_use_id")
        for id in results:
            if open_calls.pop(id, None) is None:
                yield f"{where} has the result {id}, which answers no call of the response before it."
        if not results or len(results) < len(objects(message.get("content"))):
            yield from (f"{where} has no result for the call {id} of message {at}." for id, at in open_calls.items())
            open_calls = dict.fromkeys(_ids(message, "tool_use", "id"), number)
        if number > 1 and inner(message, "metadata", dict).get("kind") == "compaction_summary":
            yield f"{where} is a summary, so the next compaction drops the messages before it."


def _ids(message: Item, kind: str, key: str) -> list[str]:
    return [str(block.get(key)) for block in objects(message.get("content")) if block.get("type") == kind]


def _content_faults(where: str, content: Any) -> Faults:
    if isinstance(content, str) and content:
        return
    if not isinstance(content, list) or not content:
        yield f"{where} has no content, or one that is neither text nor a list of blocks."
        return
    for block in content:
        kind = inner(block, "type", str)
        if not kind:
            yield f"{where} has a block without a type."
        elif kind == "text" and not isinstance(block.get("text"), str):
            yield f"{where} has a text block without text."
        elif kind == "tool_result" and not inner(block, "name", str):
            yield f"{where} has the result {block.get('tool_use_id')}, which does not name its tool."
        elif kind == "tool_use" and not isinstance(block.get("input"), dict):
            yield f"{where} has the call {block.get('id')}, whose input is not an object."
