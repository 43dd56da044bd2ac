"""What a compaction keeps, loses and costs, in one line: the receipt under the two bars, and in `cwb compact`."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.figures import grouped
from workbench.base.text import counted


@dataclass(frozen=True, slots=True)
class Receipt:
    """Of all the context's facts, the tail's included. `rules` are standing instructions that no later word replaced,
    `kept` those that are told, and rightly; `held` is the share of all `facts` that is told, 0 to 1, None where there
    is none or it is `unknown`, because a summary cannot be read; `lost` counts those that are not told at all.
    `summary_cost` is what a model would take to write the summaries, in words, "" for nothing. It pays off after so
    many calls, None for never."""

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
        """Rules, facts, what is lost, the cost and when it pays off, the weightiest first."""
        told = []
        if self.rules:
            told.append(f"keeps {grouped(self.kept)} of {counted(self.rules, 'rule')}")
        if self.unknown:
            told.append("what it holds cannot be read")
        elif self.held is not None:
            told.append(f"holds {100 * self.held:.0f} % of {counted(self.facts, 'fact')}")
            told.append(f"loses {grouped(self.lost)}" if self.lost else "loses nothing that was looked for")
        if self.summary_cost:
            told.append(f"summary {self.summary_cost}")
        after = self.pays_off_after
        pays = "never pays off" if after is None else f"pays off after {counted(after, 'call')}"
        return (*told, pays if after != 0 else "pays off at once")

    @property
    def brief(self) -> tuple[str, ...]:
        """The same in fewer words, for a narrow screen."""
        told = [f"{grouped(self.kept)} of {counted(self.rules, 'rule')}"] if self.rules else []
        if self.unknown:
            told.append("what it holds cannot be read")
        elif self.held is not None:
            told.append(f"loses {grouped(self.lost)} of {counted(self.facts, 'fact')}")
        if self.summary_cost:
            told.append(self.summary_cost)
        after = self.pays_off_after
        pays = "never pays off" if after is None else f"{counted(after, 'call')} to pay off"
        return (*told, pays if after != 0 else "pays off at once")

    def __str__(self) -> str:
        return " · ".join(self.parts)
