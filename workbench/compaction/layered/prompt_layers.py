"""What each layer weighs of a prompt as `layered` puts it together: system and tools, rules, history, the current
input, the todo recap."""

from __future__ import annotations

from workbench.compaction.context import Context
from workbench.compaction.layered.recap import recap_of
from workbench.compaction.layers import Layer, basis_of, by_fate, summaries_layer
from workbench.compaction.outcome import Outcome


def prompt_layers(context: Context, outcome: Outcome) -> tuple[Layer, ...]:
    """The layers that weigh something, in prompt order; history is told apart by fate as `L3 head` and so on.

    All but rules and recap add up to `context.total`; those two, which no session holds, are what this way of building
    a prompt would add to it, by the context's meter. O(fate spans and summaries) but for the recap, for which every
    message is read once per shape.
    """
    shape, sizes = context.shape, context.layout.sizes
    fixed, current = shape.lead, shape.rounds.current_input
    open_input = context.size(current.start, current.stop).tokens
    recap = recap_of(shape)
    found = [
        Layer("L1 system+tools", sizes.overhead + context.upto(fixed).tokens, sizes.overhead_basis, "▒"),
        Layer("L2 rules", sizes.meter.text_tokens(context.rules) if context.rules else 0, sizes.meter.basis, "▤"),
        *(
            Layer(f"L3 {part.name}", part.tokens, part.basis, part.glyph)
            for part in (summaries_layer(context), *by_fate(context, outcome, fixed, max(fixed, current.start)))
        ),
        Layer("current input", open_input, basis_of(context, open_input), "▷"),
        Layer("recap", sizes.meter.text_tokens(recap) if recap else 0, sizes.meter.basis, "◇"),
    ]
    return tuple(layer for layer in found if layer.tokens)
