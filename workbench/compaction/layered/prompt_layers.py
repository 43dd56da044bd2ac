"""Size of each layer of the prompt that `layered` assembles: system and tools, rules, history, the current input (an
open round), the todo recap."""

from __future__ import annotations

from workbench.compaction.assembled.prompt import CURRENT, L1, L2, RECAP, open_from
from workbench.compaction.assembled.recap import recap_of
from workbench.compaction.context import Context
from workbench.compaction.layers import Layer, basis_of, by_fate, summaries_layer
from workbench.compaction.outcome import Outcome


def prompt_layers(context: Context, outcome: Outcome) -> tuple[Layer, ...]:
    """Layers with any tokens, in prompt order; history is divided by fate into `L3 head` and so on.

    All but rules and recap add up to `context.total`. Those two, which no session contains, are what the assembled
    prompt would add, by the context's meter. O(fate spans and summaries), except for the recap, for which every message
    is read once per shape.
    """
    shape, sizes = context.shape, context.layout.sizes
    fixed, opened = shape.lead, max(shape.lead, open_from(shape))
    open_input = context.size(opened, len(context)).tokens
    recap = recap_of(context)
    found = [
        Layer(L1, sizes.overhead + context.upto(fixed).tokens, sizes.overhead_basis, "▒"),
        Layer(L2, sizes.meter.text_tokens(context.rules) if context.rules else 0, sizes.meter.basis, "▤"),
        *(
            Layer(f"L3 {part.name}", part.tokens, part.basis, part.glyph)
            for part in (summaries_layer(context), *by_fate(context, outcome, fixed, opened))
        ),
        Layer(CURRENT, open_input, basis_of(context, open_input), "▷"),
        Layer(RECAP, sizes.meter.text_tokens(recap) if recap else 0, sizes.meter.basis, "◇"),
    ]
    return tuple(layer for layer in found if layer.tokens)
