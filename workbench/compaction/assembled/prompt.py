"""Layers of an assembled prompt as text: system and tools (L1), the project's rules (L2), history (L3), the current
input, the recap of the to-do list."""

from __future__ import annotations

from workbench.base.text import counted
from workbench.compaction.assembled.react import react
from workbench.compaction.assembled.recap import recap_of
from workbench.compaction.assembled.tool_results import ResultLimits, compressor, saved_in_words
from workbench.compaction.context import Context
from workbench.compaction.prompt_parts import PromptPart, system_and_tools
from workbench.compaction.shape import Shape

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
