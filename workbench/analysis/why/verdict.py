"""Why a context is as large as it is, in one sentence: how it stands to its limit, and what fills it most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from workbench.analysis.transcript import one_line
from workbench.analysis.why import fillers
from workbench.analysis.why.findings import Limit
from workbench.base.figures import short
from workbench.base.text import clip_at_word, counted
from workbench.compaction.context import Context
from workbench.compaction.shape_facts import calls_of

NAMED = 0.15
"""From this share of the context on, a part of it is named as a cause."""

CAUSES = 2
"""So many causes are named, the largest first."""

WORDS = 40
"""Characters of a round's request."""

ALL = 0.9
"""A round of at least this share is the whole context in other words: what fills it is the next cause."""


def verdict(context: Context, limit: Limit | None) -> str:
    """`Compacted at 155k: round 10, “add a multi step …”, took 63k (40 %) in 48 calls; 58k (37 %) are …`

    Shares are of the whole context. A tool is named only where no round is, or one is nearly all of it: the same tokens
    are in both. O(messages).
    """
    whole = context.total.tokens
    if not whole:
        return "Empty: there is nothing in this context."
    return f"{_state(whole, limit)}: {'; '.join(_causes(context, whole))}."


def _state(whole: int, limit: Limit | None) -> str:
    if limit is None:
        return f"{short(whole)} tokens, the window is not known"
    if limit.ended:
        return f"Compacted at {short(limit.tokens)}"
    if limit.by == "refusal":
        return f"Refused after {short(limit.tokens)}"
    share = f"{short(whole)} of {short(limit.tokens)}"
    return f"Over the window, {share}" if whole >= limit.tokens else f"{100 * whole / limit.tokens:.0f} % full, {share}"


def _causes(context: Context, whole: int) -> list[str]:
    rounds = fillers.by_round(context)
    named = [*_rounds(context, rounds, whole)]
    if not named or max(named)[0] >= ALL * whole:
        named += [*_tool(context, whole)] or [*_results(context, whole)]
    named.append(_overhead(context, whole))
    found = [text for tokens, text in sorted(named, reverse=True)[:CAUSES] if tokens >= NAMED * whole]
    if found or not rounds:
        return found or ["no part of it stands out"]
    mean = sum(one.tokens for one in rounds) // len(rounds)
    return [f"it grew evenly, {counted(len(rounds), 'round')} of {short(mean)} on average"]


def _rounds(context: Context, rounds: Sequence[fillers.RoundShare], whole: int) -> Iterator[tuple[int, str]]:
    spans = context.shape.rounds.rounds
    for one in rounds:
        if one.tokens >= NAMED * whole:
            span = spans[one.number - 1]
            calls = sum(span.start <= each.index < span.stop for each in calls_of(context.shape))
            words = clip_at_word(one_line(context.messages[span.start].said), WORDS)
            asked = f", “{words}”," if words else ""
            within = f" in {counted(calls, 'call')}" if calls else ""
            yield one.tokens, f"round {one.number}{asked} took {_share(one.tokens, whole)}{within}"


def _tool(context: Context, whole: int) -> Iterator[tuple[int, str]]:
    for one in fillers.by_tool(context)[:1]:
        yield (
            one.tokens,
            f"{counted(one.count, 'call')} of {one_line(one.name)} {_take(one.count)} {_share(one.tokens, whole)}",
        )


def _results(context: Context, whole: int) -> Iterator[tuple[int, str]]:
    """What commands said, where an agent's calls are texts: messages behind its own that no person wrote."""
    tokens, pairs = context.layout.sizes.tokens, pairwise(context.messages)
    behind = enumerate(((before.role, after.kind) for before, after in pairs), 1)
    if found := [tokens[at] for at, pair in behind if pair == ("assistant", "meta")]:
        yield sum(found), f"{counted(len(found), 'result')} {_take(len(found))} {_share(sum(found), whole)}"


def _overhead(context: Context, whole: int) -> tuple[int, str]:
    """System prompt, tools, what the agent adds and does not write down."""
    tokens = whole - context.upto(len(context)).tokens
    return tokens, f"{_share(tokens, whole)} are system prompt and tools, in no message"


def _share(tokens: int, whole: int) -> str:
    return f"{short(tokens)} ({100 * tokens / whole:.0f} %)"


def _take(count: int) -> str:
    return "takes" if count == 1 else "take"
