"""What the comparison tells of a policy: sizes, cost and checks at once, what is held when that is found."""

from __future__ import annotations

from rich.text import Text

from workbench.analysis.compare import Column
from workbench.analysis.later_use import LaterUse
from workbench.analysis.retention import KINDS, Retention
from workbench.tui.plain import bar, figure, plain, several

BAR = 5

HELD = ("still told", "told rightly", "by weight", *KINDS)
NEEDED = "needed later"
UNKNOWN = "not recorded"


def cells(column: Column) -> dict[str, Text]:
    """All that is known of a column without looking for facts, by row."""
    theirs = column.preset is None
    failed = ", ".join(check.name for check in column.failed)
    share = f"{round(100 * column.saved / column.before.tokens)} %" if column.before.tokens else ""
    told = {
        "strategy": "the agent's own" if theirs else column.strategy,
        "fired": "" if theirs else "✔ yes" if column.fired else "no",
        "head": str(column.head),
        "tail": str(column.tail),
        "after": str(column.after),
        "saved": share,
        "calls": UNKNOWN if column.calls is None else str(column.calls),
        "summary cost": cost_words(column),
        "stays cached": figure(column.cache.first_changed),
        "cached anew": figure(column.cache.rebilled),
        "pays off": pay_off_words(column),
        "checks": "" if theirs else f"! {failed}" if failed else "✔ passed",
        "status": column.outcome.status.replace("_", " "),
        **{fate.value: figure(count) for fate, count in column.outcome.fate_counts.items()},
    }
    return {row: Text(plain(words)) for row, words in told.items()}


def cost_words(column: Column) -> str:
    return UNKNOWN if column.summary_cost is None else column.rates.words(column.summary_cost)


def pay_off_words(column: Column) -> str:
    """After how many calls the cache and the summaries are paid for; the cache alone where these are not recorded."""
    after = column.pays_off_after
    if column.outcome.status == "unchanged":
        return ""
    when = "never" if after is None else "at once" if after == 0 else f"after {several(after, 'call')}"
    return when if column.spent else f"{when} (cache)"


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
    return Text(bar(share, BAR), "dim").append(f" {100 * share:.0f} %", "not dim")


def said(made: int, asked: int, judged: int, what: str, before: str) -> str:
    """How far the comparison is."""
    if made < asked:
        done = f"{made} of {asked}"
    elif judged < made:
        done = f"looking for what is held: {judged} of {made}"
    else:
        done = f"{asked} compared"
    return f"{what}: {done} · {before} tokens before · extractive summaries"
