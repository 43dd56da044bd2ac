"""What the Cline SDK demands of a session's messages, judged on the JSON alone (formats.md §2.9)."""

from __future__ import annotations

import json
from typing import Any


def validate(data: bytes) -> list[str]:
    """What is wrong, one sentence each, naming messages by their place from 1.

    The provider wants every call answered in the message after it, and the SDK's next compaction forgets what stands
    before the newest summary. Calls of the last message may be open.
    """
    try:
        document = json.loads(data.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError) as error:
        return [f"not a JSON document: {error}"]
    if not isinstance(document, dict):
        return ["the document is no object"]
    faults = [] if document.get("version") == 1 else [f"the version is {document.get('version')}, not 1"]
    faults += [f"{key} is missing" for key in ("sessionId", "agent", "updated_at") if not document.get(key)]
    messages = document.get("messages")
    if not isinstance(messages, list) or not messages:
        return [*faults, "there are no messages"]
    ids: set[str] = set()
    open_calls: dict[str, int] = {}
    for number, message in enumerate(messages, 1):
        if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
            faults.append(f"message {number}: its role is neither user nor assistant")
            continue
        if not isinstance(message.get("id"), str) or message["id"] in ids:
            faults.append(f"message {number}: its id is missing or stands twice")
        ids.add(str(message.get("id")))
        faults += [f"message {number}: {fault}" for fault in _content_faults(message.get("content"))]
        results = _blocks(message, "tool_result", "tool_use_id")
        faults += [
            f"message {number}: answers {id}, which is not called before" for id in results if id not in open_calls
        ]
        faults += [
            f"message {number}: does not answer {id} of message {asked}"
            for id, asked in open_calls.items()
            if id not in results
        ]
        open_calls = dict.fromkeys(_blocks(message, "tool_use", "id"), number)
        about = message.get("metadata")
        if number > 1 and isinstance(about, dict) and about.get("kind") == "compaction_summary":
            faults.append(f"message {number}: is a summary, so the next compaction forgets what stands before it")
    first = messages[0]
    if isinstance(first, dict) and first.get("role") == "assistant":
        faults.append("message 1: is an assistant's, but the first message must be a user's")
    return faults


def _blocks(message: dict[str, Any], kind: str, key: str) -> list[str]:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return [str(block.get(key)) for block in blocks if isinstance(block, dict) and block.get("type") == kind]


def _content_faults(content: Any) -> list[str]:
    if isinstance(content, str) and content:
        return []
    if not isinstance(content, list) or not content:
        return ["its content is empty, or neither text nor a list of blocks"]
    faults: list[str] = []
    for block in content:
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            faults.append("a block has no type")
        elif block["type"] == "text" and not isinstance(block.get("text"), str):
            faults.append("a text block has no text")
        elif block["type"] == "tool_use" and not isinstance(block.get("input"), dict):
            faults.append(f"the input of call {block.get('id')} is no object")
    return faults
