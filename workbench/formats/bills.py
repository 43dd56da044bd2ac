"""Bills that cannot be those of the context they stand in."""

from __future__ import annotations

from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.session import LoadWarning, Message, Session, Text, ToolResult

CHARACTERS_PER_TOKEN = 16
"""More text than this no tokenizer puts into a token, on average: four characters are usual, six are many."""


def absurd_bills(session: Session) -> tuple[LoadWarning, ...]:
    """One warning where calls were billed for less than the text before them can be: placeholders of a test, figures
    without what the cache held, a context that was cut and is shown whole. A call is judged in its first epoch."""
    absurd: list[tuple[Message, int]] = []
    seen: set[int] = set()
    calls = 0
    for epoch in session.epochs:
        characters = len(session.system)
        for member in epoch.members:
            message = session.messages[member]
            if message.role == "assistant" and message.usage and message.usage.context and member not in seen:
                calls += 1
                if characters > message.usage.context * CHARACTERS_PER_TOKEN:
                    absurd.append((message, characters))
            characters += _characters(message)
        seen.update(epoch.members)
    if not absurd:
        return ()
    first, before = absurd[0]
    billed = first.usage.context if first.usage else 0
    place = first.source[0] if first.source else len(session.records)
    text = (
        f"{grouped(len(absurd))} of {counted(calls, 'call')} cannot have been billed for what stands before them, "
        f"the first with {grouped(billed)} tokens for {grouped(before)} characters; "
        "figures that stand on such a bill are too small"
    )
    return (LoadWarning(text, session.records.lines[place] if place < len(session.records) else None),)


def _characters(message: Message) -> int:
    """Characters of the message's texts and results: what is sent in any case."""
    total = 0
    for block in message.blocks:
        if isinstance(block, Text):
            total += len(block.text)
        elif isinstance(block, ToolResult):
            total += sum(len(part.text) for part in block.content if isinstance(part, Text))
    return total
