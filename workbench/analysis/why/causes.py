"""What fills a context most, each part in a few words: what the verdict names, and what a finding then says of it."""

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
"""From this share of the context on, a part of it is named as a cause."""

CAUSES = 2
"""So many causes are named, the largest first."""

WORDS, SHARED = 40, 20
"""Characters of a round's request, and of each where two are named: two lines of 80 columns have room for both."""

ALL = 0.9
"""A round of at least this share is the whole context in other words: what fills it is the next cause."""


class Cause(Struct, frozen=True):
    """`words` say it without a full stop; `messages` are ids, none where what it speaks of is in no message."""

    kind: Literal["round", "tool", "results", "overhead"]
    tokens: int
    words: str
    messages: tuple[str, ...] = ()


def causes(context: Context) -> tuple[Cause, ...]:
    """At most `CAUSES`, the largest first. Shares are of the whole context. A tool is named only where no round is, or
    one is nearly all of it: the same tokens are in both. O(messages)."""
    whole = context.total.tokens
    if not whole:
        return ()
    found = [*_rounds(context, fillers.by_round(context), whole)]
    if not found or max(one.tokens for one in found) >= ALL * whole:
        found += [*_tool(context, whole)] or [*_results(context, whole)]
    found.append(_overhead(context, whole))
    ordered = sorted(found, key=lambda one: (one.tokens, one.words), reverse=True)
    return tuple(one for one in ordered[:CAUSES] if one.tokens >= NAMED * whole)


def _rounds(context: Context, rounds: Sequence[fillers.RoundShare], whole: int) -> Iterator[Cause]:
    spans = context.shape.rounds.rounds
    large = [one for one in rounds if one.tokens >= NAMED * whole]
    for one in large:
        span = spans[one.number - 1]
        calls = sum(span.start <= each.index < span.stop for each in calls_of(context.shape))
        said = clip_at_word(one_line(context.messages[span.start].said), SHARED if len(large) > 1 else WORDS)
        asked = f" “{said}”" if said else ""
        within = f" in {counted(calls, 'call')}" if calls else ""
        words = f"round {one.number}{asked}, {_share(one.tokens, whole)}{within}"
        yield Cause("round", one.tokens, words, (one.message,))


def _tool(context: Context, whole: int) -> Iterator[Cause]:
    for one in fillers.by_tool(context)[:1]:
        calls = counted(one.count, f"{one_line(one.name)} call")
        yield Cause("tool", one.tokens, f"{calls}, {_share(one.tokens, whole)}", one.messages)


def _results(context: Context, whole: int) -> Iterator[Cause]:
    """What commands said, where an agent's calls are texts: messages behind its own that no person wrote."""
    sizes, pairs = context.layout.sizes.tokens, pairwise(context.messages)
    behind = enumerate(((before.role, after.kind) for before, after in pairs), 1)
    if found := [at for at, pair in behind if pair == ("assistant", "meta")]:
        tokens = sum(sizes[at] for at in found)
        words = f"{counted(len(found), 'result')}, {_share(tokens, whole)}"
        yield Cause("results", tokens, words, tuple(context.messages[at].id for at in found))


def _overhead(context: Context, whole: int) -> Cause:
    """System prompt, tools, what the agent adds and does not write down."""
    tokens = whole - context.upto(len(context)).tokens
    return Cause("overhead", tokens, f"system + tools, {_share(tokens, whole)}")


def _share(tokens: int, whole: int) -> str:
    return f"{short(tokens)} ({percent(tokens / whole)})"
