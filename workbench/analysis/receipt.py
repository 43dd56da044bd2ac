"""What a compaction keeps, loses and costs, in one line: in the plan above the bars, and in `cwb compact`.

`rules` are the user's rules kept, of how many; `facts` all the context's, the tail's included; `cost` the price of the
summaries in words, "" for nothing; it is paid back after `calls`, None for never.
"""

from __future__ import annotations

from workbench.analysis.cache import paid_back
from workbench.analysis.retention import KeptShare
from workbench.base.figures import grouped, percent
from workbench.base.text import counted

UNREADABLE = "its summary cannot be read"


def receipt(rules: tuple[int, int], facts: KeptShare, cost: str, calls: int | None) -> tuple[str, ...]:
    """Rules and facts kept, facts lost, cost of the summary, calls until it is paid back: the weightiest first."""
    parts = [f"keeps {_of_rules(*rules)}"] if rules[1] else []
    if facts.unknown:
        parts.append(UNREADABLE)
    elif facts.share is not None:
        lost = f" ({grouped(facts.lost)} lost)" if facts.lost else ""
        parts.append(f"{'' if parts else 'keeps '}{percent(facts.share)} of {counted(facts.facts, 'fact')}{lost}")
    return (*parts, (f"summary {cost}, " if cost else "") + paid_back(calls))


def brief_receipt(rules: tuple[int, int], facts: KeptShare, cost: str, calls: int | None) -> tuple[str, ...]:
    """The same in fewer words, for a narrow screen."""
    parts = [_of_rules(*rules)] if rules[1] else []
    if facts.unknown:
        parts.append(UNREADABLE)
    elif facts.share is not None:
        parts.append(f"{grouped(facts.lost)} of {counted(facts.facts, 'fact')} lost")
    return (*parts, *([cost] if cost else []), paid_back(calls))


def _of_rules(kept: int, rules: int) -> str:
    return f"{grouped(kept)} of {counted(rules, 'rule')}"
