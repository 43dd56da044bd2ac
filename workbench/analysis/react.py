"""A conversation in ReAct form: text that needs no native tool calls.

[user] …
[assistant] Thought: …
Action: Tool[{…}]
[tool] {"status":"success","data":…}
[assistant] Action: Finish[…]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.facts.envelope import envelope
from workbench.session import Media, Message, Opaque, Text, Thinking, ToolUse
from workbench.tokens.visible import json_text


def react(messages: Sequence[Message]) -> Iterator[str]:
    """One text per message, to be joined by blank lines; a summary stands there as it is, a boundary not at all.

    Several calls of one answer are several actions, several results several `[tool]` lines. An answer without a call
    is a thought while the agent goes on, and `Finish` when it is the last before the user's turn.
    """
    for index, message in enumerate(messages):
        if message.kind == "boundary":
            continue
        if message.kind == "summary" and not message.calls:
            text = message.text
        elif message.role == "assistant":
            after = messages[index + 1] if index + 1 < len(messages) else None
            text = _answer(message, goes_on=after is not None and after.role in ("assistant", "tool"))
        else:
            text = _said(message)
        if text:
            yield text


def _answer(message: Message, *, goes_on: bool) -> str:
    thoughts = [block.text for block in message.blocks if isinstance(block, Thinking) and block.text]
    words = [_words(block) for block in message.blocks if isinstance(block, Text | Media | Opaque)]
    actions = [f"Action: {call.name}[{_arguments(call)}]" for call in message.calls]
    if actions or goes_on:
        thoughts += words
    elif words:
        actions = ["Action: Finish[" + "\n".join(words) + "]"]
    lines = ["Thought: " + "\n".join(thoughts)] if thoughts else []
    lines += actions
    return "[assistant] " + "\n".join(lines) if lines else ""


def _said(message: Message) -> str:
    """Results first and each by itself; then what else a user or tool message holds."""
    lines = [f"[tool] {json_text(envelope(result))}" for result in message.results]
    lines += [f"[tool] {part.placeholder}" for r in message.results for part in r.content if isinstance(part, Media)]
    words = [_words(block) for block in message.blocks if isinstance(block, Text | Media | Opaque)]
    if words:
        lines.append(f"[{message.role}] " + "\n".join(words))
    return "\n".join(lines)


def _words(block: Text | Media | Opaque) -> str:
    match block:
        case Text(text):
            return text
        case Media():
            return block.placeholder
        case Opaque(type, _):
            return f"[{type}]"


def _arguments(call: ToolUse) -> str:
    return call.input if isinstance(call.input, str) else json_text(call.input)
