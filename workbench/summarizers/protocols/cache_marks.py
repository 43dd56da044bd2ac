"""Marks at which the Messages API reads and writes its cache of prompts.

The cache holds beginnings: tools, system prompt, messages. A request that goes on with the agent's own conversation
begins as the agent's last call did, so that what the server still has of it costs a tenth; the next request of the same
conversation, with another prompt, finds what this one left. Everywhere else a mark would only cost.
"""

from __future__ import annotations

from typing import Any

from workbench.compaction.conversation import MessagesBody
from workbench.compaction.summary_request import SummaryRequest

MARK = {"type": "ephemeral"}

_MARKABLE = frozenset(["text", "image", "document", "tool_use", "tool_result"])
"""Blocks that may bear a mark: none that thinks does."""

Fields = dict[str, Any]


def continues_conversation(request: SummaryRequest) -> bool:
    """Whether a request is the agent's own conversation with an instruction at its end."""
    return isinstance(request.body, MessagesBody) and request.body.shape == "messages"


def with_cache_marks(body: Fields) -> Fields:
    """`tools`, `system` and `messages` of a body with a mark each at the end of what the agent itself had sent: of the
    system prompt, which comes after the tools, and of the last message before the instruction. Marks that stood there
    go, for the API takes four at most.
    """
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
    """A block, or a tool, and what a tool's result holds."""
    if not isinstance(block, dict):
        return block
    bare = {name: value for name, value in block.items() if name != "cache_control"}
    return _without_marks(bare) if block.get("type") == "tool_result" and "content" in block else bare


def _blocks(content: Any) -> list[Any]:
    """What a system prompt or a message holds; a bare text is a block of its own."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content.strip() else []
    return [_unmarked(block) for block in content or ()]


def _takes_mark(block: Any) -> bool:
    if not isinstance(block, dict) or block.get("type") not in _MARKABLE:
        return False
    return block["type"] != "text" or bool(str(block.get("text", "")).strip())


def _with_mark(blocks: list[Any]) -> list[Any]:
    """The last block that may bear a mark bears one."""
    at = next((at for at in range(len(blocks) - 1, -1, -1) if _takes_mark(blocks[at])), None)
    return [{**block, "cache_control": dict(MARK)} if place == at else block for place, block in enumerate(blocks)]
