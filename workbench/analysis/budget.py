"""Where a context's tokens are: the segments of the budget bar, and `layers` of `cwb inspect --json`."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.compaction.context import Context
from workbench.compaction.layered.prompt_layers import prompt_layers
from workbench.compaction.outcome import Fate, Outcome
from workbench.session import leading_system
from workbench.tokens.sizes import Basis


@dataclass(frozen=True, slots=True)
class Layer:
    """One part of the context. `glyph` draws it in the bar and, for a fate, in the rows: the bar is the legend."""

    name: str
    tokens: int
    basis: Basis
    glyph: str


def layers(context: Context, outcome: Outcome | None = None) -> tuple[Layer, ...]:
    """The context's tokens by layer, in the order of the prompt; they add up to `context.total`.

    With an outcome, messages are told apart by fate (head, pins, tail); without one they are all `history`.
    O(number of fate spans and summaries).
    """
    found = [*_prompt(context), _summaries(context)]
    if outcome is None:
        history = context.upto(len(context)).tokens - found[-1].tokens
        found.append(Layer("history", history, _basis(context, history), "█"))
        return tuple(layer for layer in found if layer.tokens or layer.name == "history")
    found += _by_fate(context, outcome, 0, len(context))
    return tuple(layer for layer in found if layer.tokens)


def built_layers(context: Context, outcome: Outcome) -> tuple[Layer, ...]:
    """The context's tokens as `layered` puts a prompt together: L1 system and tools, L2 rules, L3 history, the current
    input, the todo recap (spec/strategies.md §3, Layers).

    History is told apart by fate like in `layers`; its parts are called `L3 head` and so on. Rules and recap, which the
    session does not hold, come on top of `context.total`.
    """
    first, rules, _, current, recap = prompt_layers(context)
    fixed = leading_system(context.messages)
    stop = max(fixed, context.layout.rounds.current_input.start)
    meter = context.layout.sizes.meter.basis
    found = [
        Layer("L1 system+tools", first.tokens, context.layout.sizes.overhead_basis, "▒"),
        Layer("L2 rules", rules.tokens, meter, "▤"),
        *(
            Layer(f"L3 {part.name}", part.tokens, part.basis, part.glyph)
            for part in (_summaries(context), *_by_fate(context, outcome, fixed, stop))
        ),
        Layer("current input", current.tokens, _basis(context, current.tokens), "▷"),
        Layer("recap", recap.tokens, meter, "◇"),
    ]
    return tuple(layer for layer in found if layer.tokens)


def _summaries(context: Context) -> Layer:
    """Earlier summaries that stand in the context."""
    tokens = context.layout.tokens
    amount = sum(tokens[i + 1] - tokens[i] for i in context.layout.summaries)
    return Layer("summaries", amount, _basis(context, amount), "◆")


def _by_fate(context: Context, outcome: Outcome, start: int, stop: int) -> tuple[Layer, ...]:
    """Messages `start`..`stop` by what becomes of them, earlier summaries left out."""
    tokens = context.layout.tokens
    by_fate = dict.fromkeys(Fate, 0)
    for span in outcome.fates:
        first, last = max(start, span.start), min(stop, span.stop)
        if first < last:
            by_fate[span.fate] += tokens[last] - tokens[first]
    for index in context.layout.summaries:
        if start <= index < stop:
            by_fate[outcome.fate_at(index).fate] -= tokens[index + 1] - tokens[index]
    head = by_fate[Fate.SUMMARIZED] + by_fate[Fate.ABRIDGED] + by_fate[Fate.DROPPED]
    parts = (
        ("head", head, Fate.SUMMARIZED.glyph),
        ("pins", by_fate[Fate.PINNED], Fate.PINNED.glyph),
        ("tail", by_fate[Fate.KEPT] + by_fate[Fate.COMPRESSED], Fate.KEPT.glyph),
    )
    return tuple(Layer(name, amount, _basis(context, amount), glyph) for name, amount, glyph in parts)


def _prompt(context: Context) -> tuple[Layer, ...]:
    """What the model is sent before the messages. What the file does not record, but the provider billed, is a layer of
    its own: for Claude Code that is system prompt, tools and whatever the agent injected."""
    sizes = context.layout.sizes
    system = min(context.prompt_tokens, sizes.overhead)
    tools = min(context.tool_tokens, sizes.overhead - system)
    parts = (("system", system), ("tools", tools), ("not in file", sizes.overhead - system - tools))
    return tuple(Layer(name, tokens, sizes.overhead_basis, "▒") for name, tokens in parts)


def _basis(context: Context, amount: int) -> Basis:
    return context.upto(len(context)).basis if amount else Basis.EXACT
