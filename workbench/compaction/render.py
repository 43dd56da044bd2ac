"""Messages as the text of a summary request, with the place of every message in it."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from workbench.session import Block, Media, Message, Opaque, Text, Thinking, ToolUse

_TAGS = {"user": "user", "assistant": "agent", "tool": "tool_results", "system": "system"}


def transcript(messages: Sequence[Message]) -> list[str]:
    """One text per message, to be joined by newlines. Open calls are said to be open, so that the text is whole."""
    answered = {result.call_id for message in messages for result in message.results}
    return [_render(message, answered) for message in messages]


def _render(message: Message, answered: set[str]) -> str:
    tag = "earlier_summary" if message.kind == "summary" else _TAGS[message.role]
    parts = [part for block in message.blocks if (part := _block(block, answered))]
    return f"<{tag}>\n" + "\n".join(parts) + f"\n</{tag}>"


def _block(block: Block, answered: set[str]) -> str:
    match block:
        case Text(text):
            return text
        case Thinking(text):
            return f"<thinking>\n{text}\n</thinking>" if text else ""
        case ToolUse(id, name, given):
            still_open = "" if id in answered else ' result="not in this part"'
            return f'<tool_call name="{name}"{still_open}>{_json(given)}</tool_call>'
        case Media():
            return block.placeholder
        case Opaque(type, _):
            return f"[{type}]"
        case _:
            error = ' error="true"' if block.is_error else ""
            return f"<tool_result{error}>\n{block.text}\n</tool_result>"


def _json(value: object) -> str:
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value).decode()
    except (TypeError, orjson.JSONEncodeError):
        import json

        return json.dumps(value, ensure_ascii=False, default=str)
