"""Cache marks of the Messages API, at which it reads and writes its prompt cache.

The cache holds prefixes: tools, system prompt, messages. A request that continues the agent's own conversation begins
like the agent's last call, so the cached part costs a tenth, and the next request of the same conversation with another
prompt finds what this one cached. Elsewhere a mark would only cost.
"""

from __future__ import annotations

from typing import Any

from workbench.compaction.summary_request import MessagesBody, SummaryRequest

MARK = {"type": "ephemeral"}

_MARKABLE = frozenset(["text", "image", "document", "tool_use", "tool_result"])
"""Block types that may have a mark; thinking may not."""

Fields = dict[str, Any]


def continues_conversation(request: SummaryRequest) -> bool:
    """Return whether a request is the agent's own conversation followed by an instruction."""
    return isinstance(request.body, MessagesBody) and request.body.shape == "messages"


def with_cache_marks(body: Fields) -> Fields:
    """Return `tools`, `system` and `messages` of a body with a mark at the end of the system prompt (which follows the
    tools) and of the last message before the instruction that may have one. Existing marks are removed, because the API
    accepts at most four."""
    *conversation, instruction = [_without_marks(message) for message in body["messages"]]
    system = _blocks(body.get("system"))
    fields: Fields = {"tools": list(map(_unmarked, body["tools"]))} if body.get("tools") else {}
    if system:
        fields["system"] = _with_mark(system)
    for at in range(len(conversation) - 1, -1, -1):
        blocks = _blocks(conversation[at]["content"])
        if any(map(_takes_mark, blocks)):
            conversation[at] = {**conversation[at], "content": _with_mark(blocks)}
            break
    return {**fields, "messages": [*conversation, instruction]}


def _without_marks(message: Fields) -> Fields:
    content = message["content"]
    return {**message, "content": list(map(_unmarked, content))} if isinstance(content, list) else message


def _unmarked(block: Any) -> Any:
    """Return a block, tool or tool result without marks."""
    if not isinstance(block, dict):
        return block
    bare = {name: value for name, value in block.items() if name != "cache_control"}
    return _without_marks(bare) if block.get("type") == "tool_result" and "content" in block else bare


def _blocks(content: Any) -> list[Any]:
    """Return the blocks of a system prompt or message; plain text is one block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content.strip() else []
    return [_unmarked(block) for block in content or ()]


def _takes_mark(block: Any) -> bool:
    if not isinstance(block, dict) or block.get("type") not in _MARKABLE:
        return False
    return block["type"] != "text" or bool(str(block.get("text", "")).strip())


def _with_mark(blocks: list[Any]) -> list[Any]:
    """Return the blocks with a mark on the last one that may have it."""
    at = next((at for at in range(len(blocks) - 1, -1, -1) if _takes_mark(blocks[at])), None)
    return [{**block, "cache_control": dict(MARK)} if place == at else block for place, block in enumerate(blocks)]
