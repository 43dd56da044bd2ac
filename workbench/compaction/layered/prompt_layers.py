"""The order in which `layered` puts a prompt together, and what each layer weighs (spec/strategies.md §3, Layers)."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.compaction.context import Context
from workbench.compaction.layered.recap import recap_of


@dataclass(frozen=True, slots=True)
class PromptLayer:
    """`tokens` on the basis of the context's sizes; L2 and the recap, which no session records as such, by its
    meter."""

    name: str
    tokens: int


def prompt_layers(context: Context) -> tuple[PromptLayer, ...]:
    """The five layers, in prompt order, empty ones included.

    L1 (system prompt, tool definitions, leading system messages), L3 (history with its summaries) and the current input
    add up to `context.total`; the rules file and the recap are what this way of building a prompt would add to it. For
    the layers after a compaction give `context.from_outcome(outcome)`. O(1) but for the recap, for which every message
    is read once per layout.
    """
    layout = context.layout
    fixed, current = layout.lead, layout.rounds.current_input
    history = context.size(fixed, max(fixed, current.start)).tokens
    recap = recap_of(layout)
    return (
        PromptLayer("L1 system and tools", layout.sizes.overhead + context.upto(fixed).tokens),
        PromptLayer("L2 rules", layout.sizes.meter.text_tokens(context.rules) if context.rules else 0),
        PromptLayer("L3 history", history),
        PromptLayer("current input", context.size(current.start, current.stop).tokens),
        PromptLayer("todo recap", layout.sizes.meter.text_tokens(recap) if recap else 0),
    )
