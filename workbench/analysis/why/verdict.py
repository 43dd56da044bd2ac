"""Verdict on a context in one sentence: its size, its limit, and its largest parts."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.analysis.why import fillers
from workbench.analysis.why.causes import SizeCause
from workbench.analysis.why.findings import OverflowLimit
from workbench.base.figures import percent, short
from workbench.base.text import counted, plural
from workbench.compaction.context import Context


def verdict(context: Context, limit: OverflowLimit | None, causes: Sequence[SizeCause]) -> str:
    """`The agent compacted at 155k. Largest causes: round 10 “add a multi step …”, 63k (40 %); 82 Read calls, …`"""
    whole = context.total.tokens
    if not whole:
        return "This context is empty."
    named = "; ".join(one.words for one in causes)
    why = f"Largest {plural(len(causes), 'cause')}: {named}" if named else _evenly(context)
    return f"{_state(whole, limit)}. {why}."


def _state(whole: int, limit: OverflowLimit | None) -> str:
    if limit is None:
        return f"{short(whole)} tokens, window unknown"
    if limit.context is not None:
        return f"{'The agent compacted' if limit.ended else 'API rejected the request'} at {short(limit.context)}"
    share = f"{short(whole)} of {short(limit.tokens)}"
    return f"Over the window: {share}" if whole >= limit.tokens else f"{percent(whole / limit.tokens)} full: {share}"


def _evenly(context: Context) -> str:
    rounds = fillers.by_round(context)
    if not rounds:
        return "No single cause"
    mean = sum(one.tokens for one in rounds) // len(rounds)
    return f"It grew evenly over {counted(len(rounds), 'round')}, {short(mean)} each on average"
