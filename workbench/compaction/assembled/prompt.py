"""Layers of an assembled prompt as text: system and tools (L1), the project's rules (L2), history (L3), the current
input, the recap of the to-do list.

History and current input are in ReAct form, text that needs no native tool calls:

    [user] …
    [assistant] Thought: …
    Action: Tool[{…}]
    [tool] {"status":"success","data":…}
    [assistant] Action: Finish[…]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.base.text import counted
from workbench.base.values import json_text
from workbench.compaction.assembled.notes import notes_at, recap_of, with_reminder
from workbench.compaction.assembled.tool_results import ResultLimits, compressor, reduced_envelope, saved_in_words
from workbench.compaction.context import Context
from workbench.compaction.prompt_parts import PromptPart, system_and_tools
from workbench.compaction.shape import Shape
from workbench.facts.envelope import result_envelope
from workbench.session import Media, Message, Opaque, Text, Thinking, ToolUse

L1, L2, L3, CURRENT, RECAP = "L1 system+tools", "L2 rules", "L3 history", "current input", "recap"


def assembled(context: Context, limits: ResultLimits | None) -> tuple[PromptPart, ...]:
    """The five layers in order, empty ones included.

    Results of finished rounds are compressed to `limits` (None: not at all). Results of the open round are not, because
    the model works with them. The open round's request gets the reminder of the files that it mentions.
    """
    shape, meter = context.shape, context.layout.sizes.meter
    lead, opened = shape.lead, max(shape.lead, open_from(shape))
    recap = recap_of(context)
    no_rules = "" if context.rules else "no CODE_LAW.md in the session's folder"
    return (
        system_and_tools(context, lead, L1),
        PromptPart(L2, meter.text_tokens(context.rules) if context.rules else 0, meter.basis, context.rules, no_rules),
        _history(context, lead, opened, limits),
        _current(context, opened),
        PromptPart(RECAP, meter.text_tokens(recap) if recap else 0, meter.basis, recap),
    )


def _history(context: Context, start: int, stop: int, limits: ResultLimits | None) -> PromptPart:
    messages, layout = context.messages, context.layout
    message_at = messages.__getitem__ if limits is None else compressor(context.shape, limits)
    shorter = {i: new for i in range(start, stop) if (new := message_at(i)) is not messages[i]}
    saved = sum(layout.sizes.tokens[i] - layout.measured(new).tokens for i, new in shorter.items())
    whole = context.size(start, stop)
    note = f"tool results of {counted(len(shorter), 'message')} compressed: {saved_in_words(saved)}" if shorter else ""
    text = "\n\n".join(react(context.shape, start, stop, limits))
    return PromptPart(L3, whole.tokens - saved, whole.basis, text, note)


def _current(context: Context, opened: int) -> PromptPart:
    size = context.size(opened, len(context))
    text = "\n\n".join(react(context.shape, opened, limits=None, reminded=True))
    return PromptPart(CURRENT, size.tokens, size.basis, text, "" if text else "the user's next request stands here")


def open_from(shape: Shape) -> int:
    """Index at which the open round begins: a round that ends without an answer, or with an answer that calls tools. If
    no round is open, index at which the current input begins. A context cut inside a round may have only the round's
    end."""
    rounds, current = shape.rounds.rounds, shape.rounds.current_input
    last = rounds[-1] if rounds else shape.rounds.preamble
    if len(current):
        return current.start
    for index in range(last.stop - 1, last.start - 1, -1):
        message = shape.messages[index]
        if message.role in ("assistant", "tool") and message.kind == "normal":
            return last.start if message.role == "tool" or message.calls else last.stop
    return last.stop


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
            text = _answer_text(message, goes_on=after is not None and after.role in ("assistant", "tool"))
        else:
            text = "\n".join(
                [*_result_texts(shape, index, limits), *_other_content(message, reminded and message.starts_round)]
            )
        if text:
            yield text


def _answer_text(message: Message, *, goes_on: bool) -> str:
    thoughts = [block.text for block in message.blocks if isinstance(block, Thinking) and block.text]
    words = [_block_text(block) for block in message.blocks if isinstance(block, Text | Media | Opaque)]
    actions = [f"Action: {call.name}[{_arguments(call)}]" for call in message.calls]
    if actions or goes_on:
        thoughts += words
    elif words:
        actions = ["Action: Finish[" + "\n".join(words) + "]"]
    lines = ["Thought: " + "\n".join(thoughts)] if thoughts else []
    lines += actions
    return "[assistant] " + "\n".join(lines) if lines else ""


def _result_texts(shape: Shape, index: int, limits: ResultLimits | None) -> Iterator[str]:
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
    words = [_block_text(block) for block in message.blocks if isinstance(block, Text | Media | Opaque)]
    if words:
        text = "\n".join(words)
        yield f"[{message.role}] {with_reminder(text, message.user_text) if reminded else text}"


def _block_text(block: Text | Media | Opaque) -> str:
    match block:
        case Text(text):
            return text
        case Media():
            return block.placeholder
        case Opaque(type, _):
            return f"[{type}]"


def _arguments(call: ToolUse) -> str:
    return call.input if isinstance(call.input, str) else json_text(call.input)
