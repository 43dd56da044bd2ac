"""The table of a replay, the same on the screen, on the command line and in the report."""

from __future__ import annotations

from workbench.analysis.cache import Rates, back_after
from workbench.analysis.cost import paid
from workbench.analysis.replay import Compacted, Replay
from workbench.analysis.watched import Trail
from workbench.base.figures import dollars, grouped
from workbench.session import Session

HEADS = (
    "", "preset", "strategy", "compactions", "first at", "mean after", "peak", "last", "over window", "summaries",
    "re-billed", "cost", "paid back",
)  # fmt: skip


def row(sign: str, one: Replay) -> tuple[str, ...]:
    """A replay's cells, parallel to `HEADS`; `sign` is its letter in the plot."""
    first = one.compacted[0] if one.compacted else None
    return (
        sign,
        one.name,
        one.preset.strategy,
        str(len(one.compacted)),
        f"call {grouped(first.call)}" if first else "never",
        grouped(one.mean_after) if one.mean_after is not None else "",
        grouped(one.peak),
        grouped(one.last),
        grouped(one.over_window),
        str(sum(each.requests for each in one.compacted)),
        grouped(one.rebilled),
        one.rates.words(one.cost),
        paid_back_words(one.compacted),
    )


def stood(trail: Trail) -> str:
    """How a watched sentence came through: `gone, lost at call 812`."""
    if trail.lost is not None:
        return f"{trail.last}, lost at call {grouped(trail.lost)}"
    if trail.last == "unknown" and trail.unread is not None:
        return f"unknown from call {grouped(trail.unread)} on"
    return "never there" if trail.last == "gone" else trail.last


def cost_basis(rates: Rates) -> str:
    """What the column `cost` holds."""
    if rates.known:
        return f"Cost: all prompts and summaries at the prices of {rates.by}, what did not change read from the cache."
    return (
        "Cost: in input tokens' worth, for the model's cache prices are not known "
        f"(cache read × {rates.read:g}, write × {rates.write:g}, output × {rates.output:g})."
    )


def cost_recorded(session: Session) -> str:
    """What the session itself cost beside what a replay comes to; "" where nothing of it is recorded."""
    told = paid(session)
    if told is None:
        return ""
    missed = f", which missed {dollars(told.missed)} here" if told.missed else ""
    return f"The session itself: {told}. A replay leaves the answers out and assumes a perfect cache{missed}."


def paid_back_words(compacted: tuple[Compacted, ...]) -> str:
    """The median number of calls after which a compaction is paid back, and how many never are before the next one."""
    after = sorted(
        one.pays_off_after for one in compacted if one.pays_off_at is not None and one.pays_off_after is not None
    )
    never = len(compacted) - len(after)
    if not after:
        return "never" if never else ""
    words = back_after(after[len(after) // 2])
    return f"{words}; {grouped(never)} of {grouped(len(compacted))} never" if never else words
