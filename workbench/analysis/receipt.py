"""What a compaction keeps, loses and costs, in one line: in the plan above the bars, and in `cwb compact`."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.analysis.cache import paid_back
from workbench.base.figures import grouped, percent
from workbench.base.text import counted


@dataclass(frozen=True, slots=True)
class Receipt:
    """Of all the context's facts, the tail's included. `rules` are standing instructions that no later word replaced,
    `kept` those still in the context and not contradicted; `held` is the share of all `facts` that is kept, 0 to 1,
    None where there is none or it is `unknown`, because a summary cannot be read; `lost` counts the others.
    `summary_cost` is the price of the summaries, in words, "" for nothing. It is paid back after so many calls, None
    for never."""

    rules: int
    kept: int
    facts: int
    held: float | None
    lost: int
    unknown: bool
    summary_cost: str
    pays_off_after: int | None

    @property
    def parts(self) -> tuple[str, ...]:
        """Rules and facts kept, facts lost, cost of the summary, calls until it is paid back: the weightiest first."""
        told = [f"keeps {grouped(self.kept)} of {counted(self.rules, 'rule')}"] if self.rules else []
        if self.unknown:
            told.append("its summary cannot be read")
        elif self.held is not None:
            lost = f" ({grouped(self.lost)} lost)" if self.lost else ""
            told.append(f"{'' if told else 'keeps '}{percent(self.held)} of {counted(self.facts, 'fact')}{lost}")
        cost = f"summary {self.summary_cost}, " if self.summary_cost else ""
        return (*told, cost + paid_back(self.pays_off_after))

    @property
    def brief(self) -> tuple[str, ...]:
        """The same in fewer words, for a narrow screen."""
        told = [f"{grouped(self.kept)} of {counted(self.rules, 'rule')}"] if self.rules else []
        if self.unknown:
            told.append("its summary cannot be read")
        elif self.held is not None:
            told.append(f"{grouped(self.lost)} of {counted(self.facts, 'fact')} lost")
        if self.summary_cost:
            told.append(self.summary_cost)
        return (*told, paid_back(self.pays_off_after))

    def __str__(self) -> str:
        return " · ".join(self.parts)
