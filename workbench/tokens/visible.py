"""Parts of a message that a model reads; characters, tokens and estimates all come from here."""

from __future__ import annotations

from workbench.base.values import json_text
from workbench.session import Media, Message, Opaque, Text, Thinking, ToolUse


def visible_parts(message: Message) -> list[str | Media]:
    """Return the parts of a message that a model reads, in order: texts, thinking, call names, inputs of calls (as
    compact JSON if not text), results, unknown blocks as compact JSON; media unchanged. A boundary is never sent and
    has no parts."""
    parts: list[str | Media] = []
    if message.kind == "boundary":
        return parts
    # The most frequent types come first, because this runs for every block of up to 60 000 messages.
    for block in message.blocks:
        if isinstance(block, Text):
            parts.append(block.text)
        elif isinstance(block, ToolUse):
            parts.append(block.name)
            parts.append(block.input if isinstance(block.input, str) else json_text(block.input))
        elif isinstance(block, Thinking):
            parts.append(block.text)
        elif isinstance(block, Media):
            parts.append(block)
        elif isinstance(block, Opaque):
            parts.append(json_text(block.raw))
        else:
            parts.extend(part.text if isinstance(part, Text) else part for part in block.content)
    return parts
