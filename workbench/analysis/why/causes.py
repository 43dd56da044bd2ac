"""Largest parts of a context in a few words, for the verdict and the findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from workbench.analysis.why import fillers
from workbench.base.figures import percent, short
from workbench.base.printable import one_line
from workbench.base.text import clip_at_word, counted
from workbench.compaction.context import Context
from workbench.compaction.shape_calls import calls_of

NAMED = 0.15
"""Least share of the context that is named as a cause."""

CAUSES = 2
"""Most causes that are named, largest first."""

WORDS, SHARED = 40, 20
"""Characters quoted of a round's request if one round is named, and if several are. The result fits two lines of 80
columns."""

ALL = 0.9
"""Share of the context above which a tool is named next to a round, because the round is nearly the whole context."""


class SizeCause(Struct, frozen=True):
    """Part of a context. `words` describe it, without a full stop. `messages` are ids, () for the overhead."""

    kind: Literal["round", "tool", "results", "overhead"]
    tokens: int
    words: str
    messages: tuple[str, ...] = ()


def causes(context: Context) -> tuple[SizeCause, ...]:
    """Return at most `CAUSES` parts, largest first. O(messages).

    Rounds and tools count the same tokens, so a tool is named only if no round is large, or if one is nearly the whole
    context.
    """
    whole = context.total.tokens
    if not whole:
        return ()
    found = [*_rounds(context, fillers.by_round(context), whole)]
    if not found or max(one.tokens for one in found) >= ALL * whole:
        found += [*_tool(context, whole)] or [*_results(context, whole)]
    found.append(_overhead(context, whole))
    ordered = sorted(found, key=lambda one: (one.tokens, one.words), reverse=True)
    return tuple(one for one in ordered[:CAUSES] if one.tokens >= NAMED * whole)


def _rounds(context: Context, rounds: Sequence[fillers.RoundShare], whole: int) -> Iterator[SizeCause]:
    spans = context.shape.rounds.rounds
    large = [one for one in rounds if one.tokens >= NAMED * whole]
    for one in large:
        span = spans[one.number - 1]
        calls = sum(span.start <= each.index < span.stop for each in calls_of(context.shape))
        said = clip_at_word(one_line(context.messages[span.start].said), SHARED if len(large) > 1 else WORDS)
        asked = f" “{said}”" if said else ""
        within = f" in {counted(calls, 'call')}" if calls else ""
        words = f"round {one.number}{asked}, {_share(one.tokens, whole)}{within}"
        yield SizeCause("round", one.tokens, words, (one.message,))


def _tool(context: Context, whole: int) -> Iterator[SizeCause]:
    for one in fillers.by_tool(context)[:1]:
        calls = counted(one.count, f"{one_line(one.name)} call")
        yield SizeCause("tool", one.tokens, f"{calls}, {_share(one.tokens, whole)}", one.messages)


def _results(context: Context, whole: int) -> Iterator[SizeCause]:
    """Yield the command output of agents that write their calls as text: the injected messages that follow messages of
    the agent."""
    sizes, pairs = context.layout.sizes.tokens, pairwise(context.messages)
    behind = enumerate(((before.role, after.kind) for before, after in pairs), 1)
    if found := [at for at, pair in behind if pair == ("assistant", "meta")]:
        tokens = sum(sizes[at] for at in found)
        words = f"{counted(len(found), 'result')}, {_share(tokens, whole)}"
        yield SizeCause("results", tokens, words, tuple(context.messages[at].id for at in found))


def _overhead(context: Context, whole: int) -> SizeCause:
    """Return the size of system prompt, tools and unrecorded additions of the agent."""
    tokens = whole - context.upto(len(context)).tokens
    return SizeCause("overhead", tokens, f"system + tools, {_share(tokens, whole)}")


def _share(tokens: int, whole: int) -> str:
    return f"{short(tokens)} ({percent(tokens / whole)})"
