"""One line on the kept facts, lost facts and costs of a compaction. Shown above the bars of a plan and in `cwb
compact`.

rules: number of the user's rules that are kept, and number of all. facts: of the whole context, tail included. cost:
price of the summaries in words, "" if there is none. calls: number of calls until that price is paid back, None for
never.
"""

from __future__ import annotations

from workbench.analysis.compaction_cost import paid_back
from workbench.analysis.retention import KeptShare
from workbench.base.figures import grouped, percent
from workbench.base.text import counted

UNREADABLE = "its summary cannot be read"


def receipt(rules: tuple[int, int], facts: KeptShare, cost: str, calls: int | None) -> tuple[str, ...]:
    """Return the parts of the line, most important first: rules and facts kept, facts lost, cost, and calls until paid
    back."""
    parts = [f"keeps {_of_rules(*rules)}"] if rules[1] else []
    if facts.unknown:
        parts.append(UNREADABLE)
    elif facts.share is not None:
        lost = f" ({grouped(facts.lost)} lost)" if facts.lost else ""
        parts.append(f"{'' if parts else 'keeps '}{percent(facts.share)} of {counted(facts.facts, 'fact')}{lost}")
    return (*parts, (f"summary {cost}, " if cost else "") + paid_back(calls))


def brief_receipt(rules: tuple[int, int], facts: KeptShare, cost: str, calls: int | None) -> tuple[str, ...]:
    """Return the parts of `receipt` in fewer words, for a narrow screen."""
    parts = [_of_rules(*rules)] if rules[1] else []
    if facts.unknown:
        parts.append(UNREADABLE)
    elif facts.share is not None:
        parts.append(f"{grouped(facts.lost)} of {counted(facts.facts, 'fact')} lost")
    return (*parts, *([cost] if cost else []), paid_back(calls))


def _of_rules(present: int, rules: int) -> str:
    return f"{grouped(present)} of {counted(rules, 'rule')}"
