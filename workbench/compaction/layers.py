"""Divide a context's tokens into layers: the segments of the budget bar, and `layers` of `cwb inspect --json`.

A strategy that assembles the prompt itself has its own layers (`StrategyView.layers`).
"""

from __future__ import annotations

from msgspec import Struct

from workbench.compaction.context import Context
from workbench.compaction.outcome import Fate, NewMessage, Outcome
from workbench.tokens.sizes import Basis


class Layer(Struct, frozen=True):
    """One part of the context. `glyph` draws it in the bar and, if it is a fate, in the rows, so that the bar is the
    rows' legend."""

    name: str
    tokens: int
    basis: Basis
    glyph: str


def layers(context: Context, outcome: Outcome | None = None) -> tuple[Layer, ...]:
    """The context's tokens by layer, in the order of the prompt; they add up to `context.total`.

    With an outcome, messages are divided by fate (head, pins, tail); without one they are all `history`. O(number of
    fate spans and summaries).
    """
    found = [*_prompt(context), summaries_layer(context)]
    if outcome is None:
        history = context.upto(len(context)).tokens - found[-1].tokens
        found.append(Layer("history", history, basis_of(context, history), "█"))
        return tuple(layer for layer in found if layer.tokens or layer.name == "history")
    found += by_fate(context, outcome, 0, len(context))
    return tuple(layer for layer in found if layer.tokens)


def summaries_layer(context: Context) -> Layer:
    """Layer of earlier summaries in the context."""
    tokens = context.layout.tokens
    amount = sum(tokens[i + 1] - tokens[i] for i in context.shape.summaries)
    return Layer("summaries", amount, basis_of(context, amount), "◆")


def by_fate(context: Context, outcome: Outcome, start: int, stop: int) -> tuple[Layer, ...]:
    """Layers of messages `start`..`stop` by fate, without earlier summaries."""
    tokens = context.layout.tokens
    amounts = dict.fromkeys(Fate, 0)
    for span in outcome.fates:
        first, last = max(start, span.start), min(stop, span.stop)
        if first < last:
            amounts[span.fate] += tokens[last] - tokens[first]
    for index in context.shape.summaries:
        if start <= index < stop:
            amounts[outcome.fate_at(index).fate] -= tokens[index + 1] - tokens[index]
    head = amounts[Fate.SUMMARIZED] + amounts[Fate.ABRIDGED] + amounts[Fate.DROPPED]
    parts = (
        ("head", head, Fate.SUMMARIZED.glyph),
        ("pins", amounts[Fate.PINNED], Fate.PINNED.glyph),
        ("tail", amounts[Fate.KEPT] + amounts[Fate.COMPRESSED], Fate.KEPT.glyph),
    )
    return tuple(Layer(name, amount, basis_of(context, amount), glyph) for name, amount, glyph in parts)


def layers_after(context: Context, outcome: Outcome) -> tuple[Layer, ...]:
    """Layers after an outcome; they add up to `context.outcome_size(outcome)`. Shortened messages count as tail."""
    new = context.measure(
        tuple(
            piece.message
            for piece in outcome.pieces
            if isinstance(piece, NewMessage)
            and not any(outcome.fate_at(span.start).fate is Fate.COMPRESSED for span in piece.replaces)
        )
    )
    tokens = context.layout.tokens
    kept = {Fate.KEPT, Fate.PINNED, Fate.COMPRESSED}
    earlier = (i for i in context.shape.summaries if outcome.fate_at(i).fate in kept)
    summaries = new.tokens + sum(tokens[i + 1] - tokens[i] for i in earlier)
    pins = next(layer.tokens for layer in by_fate(context, outcome, 0, len(context)) if layer.name == "pins")
    prompt, whole = _prompt(context), context.outcome_size(outcome)
    tail = whole.tokens - sum(layer.tokens for layer in prompt) - summaries - pins
    parts = (
        ("summaries", summaries, "◆"),
        ("pins", pins, Fate.PINNED.glyph),
        ("tail", max(0, tail), Fate.KEPT.glyph),
    )
    found = (*prompt, *(Layer(name, amount, whole.basis, glyph) for name, amount, glyph in parts))
    return tuple(layer for layer in found if layer.tokens)


def _prompt(context: Context) -> tuple[Layer, ...]:
    """Layers before the messages. Tokens that the provider billed but the file does not record are a layer of their
    own: in Claude Code sessions these are system prompt, tools and texts that the agent injected."""
    sizes = context.layout.sizes
    system = min(context.prompt_tokens, sizes.overhead)
    tools = min(context.tool_tokens, sizes.overhead - system)
    parts = (("system", system), ("tools", tools), ("system + tools (not recorded)", sizes.overhead - system - tools))
    return tuple(Layer(name, tokens, sizes.overhead_basis, "▒") for name, tokens in parts)


def basis_of(context: Context, amount: int) -> Basis:
    """Basis of an amount of the context's tokens; an amount of 0 is exact."""
    return context.upto(len(context)).basis if amount else Basis.EXACT
