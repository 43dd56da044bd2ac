"""What the comparison tells of a policy: sizes, cost and checks at once, what is held when that is found."""

from __future__ import annotations

from rich.text import Text

from workbench.analysis.cache import back_after
from workbench.analysis.later_use import LaterUse
from workbench.analysis.retention import KINDS, Retention
from workbench.assessment import Assessment
from workbench.tui.plain import bar, figure, percent, plain

BAR = 5

HELD = ("still told", "told rightly", "by weight", *KINDS)
NEEDED = "needed later"
UNKNOWN = "not recorded"


def cells(one: Assessment) -> dict[str, Text]:
    """All that is known of a variant without looking for facts, by row."""
    theirs = one.preset is None
    failed = ", ".join(check.name for check in one.failed)
    share = percent(one.saved / one.before.tokens) if one.before.tokens else ""
    told = {
        "strategy": "the agent's own" if theirs else one.strategy,
        "fired": "" if theirs else "✔ yes" if one.fired else "no",
        "head": str(one.head),
        "tail": str(one.tail),
        "after": str(one.after),
        "saved": share,
        "calls": UNKNOWN if one.calls is None else str(one.calls),
        "summary cost": cost_words(one),
        "stays cached": figure(one.cache.first_changed),
        "cached anew": figure(one.cache.rebilled),
        "paid back": paid_back_words(one),
        "checks": "" if theirs else f"! {failed}" if failed else "✔ passed",
        "status": one.outcome.status.replace("_", " "),
        **{fate.value: figure(count) for fate, count in one.outcome.fate_counts.items()},
    }
    return {row: Text(plain(words)) for row, words in told.items()}


def cost_words(one: Assessment) -> str:
    return UNKNOWN if one.summary_cost is None else one.rates.words(one.summary_cost)


def paid_back_words(one: Assessment) -> str:
    """After how many calls the cache and the summaries are paid for; the cache alone where these are not recorded."""
    if one.outcome.status == "unchanged":
        return ""
    when = plain(back_after(one.pays_off_after))
    return when if one.spent else f"{when} (cache)"


def held_cells(held: Retention) -> dict[str, Text]:
    """Small bars by row, all of the whole context's facts, so that columns with other heads compare."""
    whole, kinds = held.whole, held.whole_kinds
    shares = [share_cell(one, whole.unknown > 0) for one in (whole.share, whole.right, whole.weighted)]
    shares += [share_cell(kinds[k].share, kinds[k].unknown > 0) if k in kinds else share_cell(None) for k in KINDS]
    return dict(zip(HELD, shares, strict=True))


def needed_cells(needed: LaterUse | None) -> dict[str, Text]:
    """What is still there of what the session really needed again."""
    return {NEEDED: share_cell(needed.share if needed else None)}


def share_cell(share: float | None, unknown: bool = False) -> Text:
    if share is None:
        return Text("unknown" if unknown else "–", "dim")
    return Text(bar(share, BAR), "dim").append(f" {percent(share)}", "not dim")


def said(made: int, asked: int, judged: int, what: str, before: str) -> str:
    """How far the comparison is."""
    if made < asked:
        done = f"{made} of {asked}"
    elif judged < made:
        done = f"looking for what is held: {judged} of {made}"
    else:
        done = f"{asked} compared"
    return f"{what}: {done} · {before} tokens before · extractive summaries"
