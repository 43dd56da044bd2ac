"""The content of Cline's and Roo's messages and our blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from workbench.formats.kit.blocks import as_text, from_anthropic, is_summary
from workbench.session import Block, Kind, Media, Opaque, Text, Thinking, ToolResult, ToolUse

_RESULT = re.compile(r"\[(\w+)(?: for [^\n]{0,4000}?)?\] Result:")
_DETAILS = "<environment_details>"
_TYPED = re.compile(r".{0,200}?^<(?:task|feedback|answer|user_message)>", re.DOTALL | re.MULTILINE)
_OWN = re.compile(
    r"\s*(?:\[\w+(?: for .{0,4000}?)?\] Result:|\[ERROR\]|\[TASK RESUMPTION\]|<environment_details>)", re.DOTALL
)


def blocks_of(item: dict[str, Any], waiting: Sequence[str]) -> tuple[Block, ...]:
    """The blocks of a message. `waiting`: calls of the message before, which texts may answer in order."""
    if item.get("type") == "reasoning" and "content" not in item:
        return (_reasoning(item),)
    blocks = tuple(_own(block) for block in from_anthropic(item.get("content")))
    blocks = tuple(block for block in blocks if not (isinstance(block, Text) and not block.text))
    if waiting and not any(isinstance(block, ToolResult) for block in blocks):
        return _paired(blocks, waiting)
    return blocks


def _own(block: Block) -> Block:
    """A block, of which Roo's reasoning has a shape of its own."""
    if isinstance(block, Opaque) and block.type == "reasoning" and isinstance(block.raw, dict):
        return _reasoning(block.raw)
    return block


def _reasoning(raw: dict[str, Any]) -> Thinking:
    said = raw.get("text", raw.get("summary"))
    if isinstance(said, list):
        said = "\n".join(as_text(part.get("text", "")) for part in said if isinstance(part, dict))
    return Thinking(as_text(said or ""), as_text(raw.get("encrypted_content") or ""))


def _paired(blocks: tuple[Block, ...], waiting: Sequence[str]) -> tuple[Block, ...]:
    """The blocks with each run of texts headed as a result made the result of the next waiting call; results first."""
    results: list[ToolResult] = []
    rest: list[Block] = []
    content: list[Text | Media] | None = None
    for block in blocks:
        headed = isinstance(block, Text) and _RESULT.match(block.text) is not None
        if headed and len(results) < len(waiting):
            content = []
            results.append(ToolResult(waiting[len(results)], ()))
        elif headed or (isinstance(block, Text) and block.text.startswith(_DETAILS)):
            content = None
        if content is None or not isinstance(block, Text | Media):
            rest.append(block)
        else:
            content.append(block)
            results[-1] = ToolResult(results[-1].call_id, tuple(content))
    return (*results, *rest)


def kind_of(role: str, blocks: Sequence[Block]) -> Kind:
    """Kind of a message that no flag tells: the extension's own words, the user's, or a summary by its beginning."""
    if role != "user" or not blocks or any(isinstance(block, ToolUse | ToolResult | Opaque) for block in blocks):
        return "normal"
    texts = [block.text for block in blocks if isinstance(block, Text)]
    if texts and is_summary(texts[0]):
        return "summary"
    if not texts or any(_TYPED.match(text) for text in texts):
        return "normal"
    return "meta" if _OWN.match(texts[0]) else "normal"
