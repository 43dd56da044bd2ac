"""Why a context is as large as it is, in one sentence: how it stands to its limit, and what fills it most."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.analysis.why import fillers
from workbench.analysis.why.causes import Cause
from workbench.analysis.why.findings import Limit
from workbench.base.figures import percent, short
from workbench.base.text import counted
from workbench.compaction.context import Context


def verdict(context: Context, limit: Limit | None, causes: Sequence[Cause]) -> str:
    """`Compacted at 155k: round 10, “add a multi step …”, took 63k (40 %) in 48 calls; 58k (37 %) are …`"""
    whole = context.total.tokens
    if not whole:
        return "Empty: there is nothing in this context."
    named = [one.words for one in causes] or [_evenly(context)]
    return f"{_state(whole, limit)}: {'; '.join(named)}."


def _state(whole: int, limit: Limit | None) -> str:
    if limit is None:
        return f"{short(whole)} tokens, the window is not known"
    if limit.ended:
        return f"Compacted at {short(limit.tokens)}"
    if limit.by == "refusal":
        return f"Refused after {short(limit.tokens)}"
    share = f"{short(whole)} of {short(limit.tokens)}"
    return f"Over the window, {share}" if whole >= limit.tokens else f"{percent(whole / limit.tokens)} full, {share}"


def _evenly(context: Context) -> str:
    rounds = fillers.by_round(context)
    if not rounds:
        return "no part of it stands out"
    mean = sum(one.tokens for one in rounds) // len(rounds)
    return f"it grew evenly, {counted(len(rounds), 'round')} of {short(mean)} on average"
