"""Where a context's tokens are: the segments of the budget bar, and `layers` of `cwb inspect --json`."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.compaction.context import Context
from workbench.compaction.outcome import Fate, Outcome
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
    found = list(_prompt(context))
    tokens = context.layout.tokens
    summaries = sum(tokens[i + 1] - tokens[i] for i in context.layout.summaries)
    found.append(Layer("summaries", summaries, _basis(context, summaries), "◆"))
    if outcome is None:
        history = context.upto(len(context)).tokens - summaries
        found.append(Layer("history", history, _basis(context, history), "█"))
        return tuple(layer for layer in found if layer.tokens or layer.name == "history")
    by_fate = dict.fromkeys(Fate, 0)
    for span in outcome.fates:
        by_fate[span.fate] += tokens[span.stop] - tokens[span.start]
    for index in context.layout.summaries:
        by_fate[outcome.fate_at(index).fate] -= tokens[index + 1] - tokens[index]
    head = by_fate[Fate.SUMMARIZED] + by_fate[Fate.ABRIDGED] + by_fate[Fate.DROPPED]
    for name, amount, glyph in (
        ("head", head, Fate.SUMMARIZED.glyph),
        ("pins", by_fate[Fate.PINNED], Fate.PINNED.glyph),
        ("tail", by_fate[Fate.KEPT] + by_fate[Fate.COMPRESSED], Fate.KEPT.glyph),
    ):
        found.append(Layer(name, amount, _basis(context, amount), glyph))
    return tuple(layer for layer in found if layer.tokens)


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
