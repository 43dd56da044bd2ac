"""Bills that cannot be those of the context they stand in."""

from __future__ import annotations

from dataclasses import replace

from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.session import LoadWarning, Message, Session, Text, ToolResult

CHARACTERS_PER_TOKEN = 16
"""More text than this no tokenizer puts into a token, on average: four characters are usual, six are many."""


def judged(session: Session) -> Session:
    """The session with its absurd bills marked and one warning that names them: placeholders of a test, figures without
    what the cache held, a context that was cut and is shown whole. A call is judged in its first epoch."""
    absurd: dict[int, int] = {}
    seen: set[int] = set()
    calls = 0
    for epoch in session.epochs:
        characters = len(session.system)
        for member in epoch.members:
            message = session.messages[member]
            if message.role == "assistant" and message.bill and member not in seen:
                calls += 1
                if characters > message.bill * CHARACTERS_PER_TOKEN:
                    absurd[member] = characters
            characters += _characters(message)
        seen.update(epoch.members)
    if not absurd:
        return session
    first, before = next(iter(absurd.items()))
    message = session.messages[first]
    text = (
        f"{grouped(len(absurd))} of {counted(calls, 'call')} cannot have been billed for what stands before them, "
        f"the first with {grouped(message.bill)} tokens for {grouped(before)} characters; "
        "no figure stands on such a bill"
    )
    place = message.source[0] if message.source else len(session.records)
    warning = LoadWarning(text, session.records.lines[place] if place < len(session.records) else None)
    messages = tuple(_marked(one) if i in absurd else one for i, one in enumerate(session.messages))
    return replace(session, messages=messages, warnings=(*session.warnings, warning))


def _marked(message: Message) -> Message:
    return replace(message, usage=replace(message.usage, absurd=True)) if message.usage else message


def _characters(message: Message) -> int:
    """Characters of the message's texts and results: what is sent in any case."""
    total = 0
    for block in message.blocks:
        if isinstance(block, Text):
            total += len(block.text)
        elif isinstance(block, ToolResult):
            for part in block.content:
                total += len(part.text) if isinstance(part, Text) else 0
    return total
