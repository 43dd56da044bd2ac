"""A conversation in ReAct form: text that needs no native tool calls.

[user] …
[assistant] Thought: …
Action: Tool[{…}]
[tool] {"status":"success","data":…}
[assistant] Action: Finish[…]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.base.values import json_text
from workbench.compaction.assembled.mentions import with_reminder
from workbench.compaction.assembled.notes import notes_at
from workbench.compaction.assembled.tool_results import ResultLimits, reduced_envelope
from workbench.compaction.shape import Shape
from workbench.facts.envelope import result_envelope
from workbench.session import Media, Message, Opaque, Text, Thinking, ToolUse


def react(
    shape: Shape, start: int = 0, stop: int | None = None, limits: ResultLimits | None = None, *, reminded: bool = False
) -> Iterator[str]:
    """One text for each of the messages `start`..`stop`, to be joined by blank lines. A summary stays unchanged, a
    boundary is omitted. Secrets are masked before texts become JSON, whose escapes would hide them.

    Each call of an answer is an action, each result a `[tool]` line. Results are compressed to `limits` (None: not at
    all); one that shows a changed file has a note. An answer without a call is `Finish` if it is the last before the
    user's turn, else a thought. `reminded`: requests get the reminder of the files that they mention.
    """
    messages = shape.messages
    for index in range(start, len(messages) if stop is None else stop):
        message = shape.masked_at(index)
        if message.kind == "boundary":
            continue
        if message.is_summary:
            text = message.text
        elif message.role == "assistant":
            after = messages[index + 1] if index + 1 < len(messages) else None
            text = _answer(message, goes_on=after is not None and after.role in ("assistant", "tool"))
        else:
            text = "\n".join(
                [*_results(shape, index, limits), *_other_content(message, reminded and message.starts_round)]
            )
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


def _results(shape: Shape, index: int, limits: ResultLimits | None) -> Iterator[str]:
    """Each result, then the placeholders of images."""
    results = shape.masked_at(index).results
    notes = {noted.call_id: noted.text for noted in notes_at(shape, index)} if results else {}
    for result in results:
        call = shape.call_of(index, result.call_id)
        whole = result_envelope(result) if limits is None else reduced_envelope(call, result, limits)
        yield f"[tool] {json_text(_with_note(whole, notes.get(result.call_id, '')))}"
    yield from (f"[tool] {part.placeholder}" for r in results for part in r.content if isinstance(part, Media))


def _with_note(whole: dict[str, Any], note: str) -> dict[str, Any]:
    """Add a note to the data of a result."""
    if not note:
        return whole
    data = whole["data"]
    return {**whole, "data": {**(data if isinstance(data, dict) else {"content": data}), "note": note}}


def _other_content(message: Message, reminded: bool) -> Iterator[str]:
    """Content of a user or tool message apart from results."""
    words = [_words(block) for block in message.blocks if isinstance(block, Text | Media | Opaque)]
    if words:
        text = "\n".join(words)
        yield f"[{message.role}] {with_reminder(text, message.said) if reminded else text}"


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
