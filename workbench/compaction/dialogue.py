"""A message as labelled lines, `[user]: …`, each part cut to its limit (document 003 §2.2).

The plainer of two ways to show messages to a summarizer; the other, with tags and nothing cut, is `render.transcript`.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.session import Media, Message, Opaque, Text
from workbench.tokens.sizes import visible_chars
from workbench.tokens.visible import json_text


@dataclass(frozen=True, slots=True)
class Labels:
    user: str
    agent: str
    calls: str
    result: str


LABELS = {
    "en": Labels("user", "assistant", "tool calls", "tool result"),
    "zh": Labels("用户", "助手", "工具调用", "工具结果"),
}


@dataclass(frozen=True, slots=True)
class Limits:
    """Characters shown of a text, of a call's input (0: the call's name alone) and of a result."""

    text: int
    call_input: int
    result: int


WHOLE = Limits(100_000_000, 100_000_000, 100_000_000)
"""For strategies that bound the whole text and not its parts."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A message's lines, and how many of its characters they show: `seen` of `of`. `text` may be empty."""

    text: str
    seen: int
    of: int


def entry(message: Message, labels: Labels, limits: Limits) -> Entry:
    """Texts, then calls on one line; of a message with results these first. Thinking is not shown."""
    lines: list[str] = []
    seen = 0
    for result in message.results:
        shown = _cut(result.text, limits.result)
        seen += min(len(result.text), limits.result)
        lines.append(f"[{labels.result}]: {shown}")
    if text := _text(message):
        label = labels.agent if message.role == "assistant" else labels.user
        seen += min(len(text), limits.text)
        lines.append(f"[{label}]: {_cut(text, limits.text)}")
    if message.calls:
        calls = []
        for call in message.calls:
            given = call.input if isinstance(call.input, str) else json_text(call.input)
            seen += len(call.name) + min(len(given), limits.call_input)
            calls.append(f"{call.name}({_cut(given, limits.call_input)})" if limits.call_input else call.name)
        lines.append(f"[{labels.calls}]: {', '.join(calls)}")
    of = visible_chars(message)
    return Entry("\n".join(lines), min(seen, of), of)


def _text(message: Message) -> str:
    """Texts, media as their placeholder, unknown blocks as their type."""
    parts = []
    for block in message.blocks:
        match block:
            case Text(text):
                parts.append(text)
            case Media():
                parts.append(block.placeholder)
            case Opaque(type, _):
                parts.append(f"[{type}]")
            case _:
                pass
    return "\n".join(filter(None, parts))


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + "..."
