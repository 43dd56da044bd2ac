"""Render a message as text for a summarizer, in one of two styles.

tagged    <user>…</user>, <agent>…<tool_call name="…">{…}</tool_call></agent>: nothing is cut
labelled  [user]: …, [tool calls]: …: each part cut to its limit

Text that an agent put into a user's message is marked as injected; the user's answers through a tool are not.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from workbench.base.values import json_text
from workbench.session import Block, Media, Message, Opaque, Text, Thinking, ToolUse

_TAGS = {"user": "user", "assistant": "agent", "tool": "tool_results", "system": "system"}


def tagged(message: Message, answered: Collection[str]) -> str:
    """Whole message in tags. A call whose id is not in `answered` is marked open."""
    tag = "earlier_summary" if message.kind == "summary" else _TAGS[message.role]
    parts = [part for block in blocks_to_render(message) if (part := _tagged_block(block, answered))]
    return f"<{tag}>\n" + "\n".join(parts) + f"\n</{tag}>"


def blocks_to_render(message: Message) -> tuple[Block, ...]:
    """Blocks of a message; all texts of a message that nobody typed are marked as injected."""
    if message.kind != "meta" or message.role != "user":
        return message.blocks
    return tuple(Text(block.text, injected=True) if isinstance(block, Text) else block for block in message.blocks)


def _tagged_block(block: Block, answered: Collection[str]) -> str:
    match block:
        case Text(text, injected):
            return f"<injected>\n{words}\n</injected>" if injected and (words := text.strip()) else text
        case Thinking(text):
            return f"<thinking>\n{text}\n</thinking>" if text else ""
        case ToolUse(id, name, input):
            still_open = "" if id in answered else ' result="not in this part"'
            return f'<tool_call name="{name}"{still_open}>{_input_text(input)}</tool_call>'
        case Media() | Opaque():
            return _placeholder(block)
        case _:
            error = ' error="true"' if block.is_error else ""
            user = f"\n<user>\n{block.user_text}\n</user>" if block.user_text else ""
            return f"<tool_result{error}>\n{block.text}\n</tool_result>{user}"


class RoleLabels(Struct, frozen=True):
    """Labels of the parts of a message in one language."""

    user: str
    agent: str
    thinking: str
    calls: str
    result: str
    injected: str


LABELS = {
    "en": RoleLabels("user", "assistant", "assistant thinking", "tool calls", "tool result", "injected"),
    "zh": RoleLabels("用户", "助手", "助手思考", "工具调用", "工具结果", "注入"),
}


class PartLimits(Struct, frozen=True):
    """Characters shown of a text, of a call's input (0: only the call's name), of a result, and of thinking."""

    text: int
    call_input: int
    result: int
    thinking: int = 0


WHOLE = PartLimits(100_000_000, 100_000_000, 100_000_000)
"""Limits for strategies that limit the whole text and not its parts."""


class RenderedMessage(Struct, frozen=True):
    """Text of a message, possibly empty, and the number of its characters that are shown: `seen` of `of`."""

    text: str
    seen: int
    of: int


def labelled(message: Message, labels: RoleLabels, limits: PartLimits, of: int) -> RenderedMessage:
    """Render thinking, texts, then calls on one line; results come first. `of`: the message's visible characters."""
    lines: list[str] = []
    seen = 0
    for result in message.results:
        text = result.text
        seen += min(len(text), limits.result)
        lines.append(f"[{labels.result}]: {_cut_end(text, limits.result)}")
        if result.user_text:
            lines.append(f"[{labels.user}]: {_cut_end(result.user_text, limits.text)}")
    if limits.thinking and (text := "\n".join(b.text for b in message.blocks if isinstance(b, Thinking) and b.text)):
        seen += min(len(text), limits.thinking)
        lines.append(f"[{labels.thinking}]: {_cut_end(text, limits.thinking)}")
    for label, injected in ((labels.injected, True), (_speaker(message, labels), False)):
        if text := _text_content(message, injected=injected):
            seen += min(len(text), limits.text)
            lines.append(f"[{label}]: {_cut_end(text, limits.text)}")
    calls = []
    for call in message.calls:
        input = _input_text(call.input)
        seen += len(call.name) + min(len(input), limits.call_input)
        calls.append(f"{call.name}({_cut_end(input, limits.call_input)})" if limits.call_input else call.name)
    if calls:
        lines.append(f"[{labels.calls}]: {', '.join(calls)}")
    return RenderedMessage("\n".join(lines), min(seen, of), of)


def _speaker(message: Message, labels: RoleLabels) -> str:
    return labels.agent if message.role == "assistant" else labels.user


def _text_content(message: Message, *, injected: bool) -> str:
    """Injected texts; or the other texts, with media as their placeholder and unknown blocks as their type."""
    parts = [
        block.text if isinstance(block, Text) else _placeholder(block)
        for block in blocks_to_render(message)
        if isinstance(block, Text | Media | Opaque) and (isinstance(block, Text) and block.injected) is injected
    ]
    return "\n".join(filter(None, parts))


def _placeholder(block: Media | Opaque) -> str:
    return block.placeholder if isinstance(block, Media) else f"[{block.type}]"


def _input_text(input: object) -> str:
    return input if isinstance(input, str) else json_text(input)


def _cut_end(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + "..."
