"""At which size these sessions would have cost least to compact, a sentence for each tool, with the setting to change.

The sessions are those that were played: long ones, and those that record a compaction. What every summary costs beside
its tokens is taken from the same sessions: what was done again after the compactions that they record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import fsum

from workbench.auditing.rows import TRIGGERS, SessionRow
from workbench.base.figures import dollars, grouped, percent
from workbench.base.text import counted
from workbench.formats import registry
from workbench.tokens.cost import MILLION

REFETCHED = 1.25
"""What a token costs that is fetched again, in tokens of input: it is written to the cache."""

WORTH = 0.03
"""A share saved below which a setting is left as it is: no replay is that exact."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What the sessions would have cost at a trigger, 0 for the tool's own: in dollars where every price is known, else
    in millions of input tokens' worth. `summaries` in all of them."""

    trigger: int
    cost: float
    summaries: int


@dataclass(frozen=True, slots=True)
class Advice:
    """Of a tool: `sessions` that were played, most of them in a `window` of so many tokens; `choices` that fit into
    their windows and can be set, the tool's own first, and `wider` ones that need a larger window. `rework` are the
    tokens done again after each recorded compaction, on average; of `instructions` before those whose summary can be
    read `lost` were lost. `setting` says what to set for the best, "" where nothing is to be set."""

    tool: str
    sessions: int
    window: int | None
    dollars: bool
    rework: int
    choices: tuple[Choice, ...]
    wider: tuple[Choice, ...]
    instructions: int = 0
    lost: int = 0
    setting: str = ""

    @property
    def own(self) -> Choice:
        return self.choices[0]

    @property
    def best(self) -> Choice:
        """The cheapest; the tool's own where no other is cheaper by `WORTH`."""
        least = min(self.choices, key=lambda one: one.cost)
        return least if least.cost < self.own.cost * (1 - WORTH) else self.own

    @property
    def saved(self) -> float:
        """The share that the best saves."""
        return 1 - self.best.cost / self.own.cost if self.own.cost else 0.0

    def __str__(self) -> str:
        rework = f", {grouped(self.rework)} tokens of rework each" if self.rework else ""
        sessions = counted(self.sessions, "session")
        if self.best is self.own:
            said = f"leave the trigger as it is: no other saves more than {percent(WORTH)}"
            said = f"{said} over {sessions}, {self._words(self.own)}{rework}"
        else:
            size = grouped(self.best.trigger) + (f" of {grouped(self.window)}" if self.window else "")
            said = f"compact at {size} tokens: {sessions} would have cost {self._words(self.best)}"
            said = f"{said} instead of {self._words(self.own)}{rework}; {self.setting or 'it has no setting for that'}"
        wider = min(self.wider, key=lambda one: one.cost, default=None)
        if wider and wider.cost < self.best.cost * (1 - WORTH):
            said += f"; with a larger window, at {grouped(wider.trigger)} tokens, {self._words(wider)}"
        if self.lost and self.best.summaries > self.own.summaries:
            lost = f"{grouped(self.lost)} of {counted(self.instructions, 'rule')}"
            said += f". The cost counts no lost rules: recorded compactions lost {lost}"
        return f"{self.tool}: {said}."

    def _words(self, one: Choice) -> str:
        cost = dollars(one.cost) if self.dollars else f"{one.cost:.1f} million input tokens"
        return f"{cost} with {counted(one.summaries, 'compaction')}"


def advise(rows: Iterable[SessionRow]) -> tuple[Advice, ...]:
    """By tool, the one that spent most first; nothing of a tool of which no session was played."""
    played: dict[str, list[SessionRow]] = {}
    for row in rows:
        if row.tried:
            played.setdefault(row.tool, []).append(row)
    found = (_advice(tool, several) for tool, several in played.items())
    return tuple(sorted(found, key=lambda one: (-one.dollars, -one.own.cost, one.tool)))


def _advice(tool: str, rows: Sequence[SessionRow]) -> Advice:
    dollars = all(row.price is not None for row in rows)
    made = [one for row in rows for one in row.own]
    rework = round(fsum(one.rework_tokens for one in made) / len(made)) if made else 0
    told = [one for one in made if one.lost is not None]
    windows = Counter(row.window for row in rows if row.window)
    window = max(windows, key=lambda size: (windows[size], size)) if windows else None
    setting = next((one.trigger_setting for one in registry.every([]) if one.id == rows[0].format), None)
    highest = TRIGGERS[-1] if not window else setting.highest(window) if setting else window - 1
    within = [trigger for trigger in TRIGGERS if trigger <= highest]
    larger = [trigger for trigger in TRIGGERS if window and trigger >= window]
    choices = tuple(_choice(rows, trigger, rework, dollars=dollars) for trigger in (0, *within))
    wider = tuple(_choice(rows, trigger, rework, dollars=dollars) for trigger in larger)
    known, lost = sum(one.instructions for one in told), sum(one.lost or 0 for one in told)
    advice = Advice(tool, len(rows), window, dollars, rework, choices, wider, known, lost)
    if setting is None or advice.best is advice.own or window is None:
        return advice
    where = "" if len(windows) == 1 or setting.in_tokens else f"where the window is {grouped(window)} tokens, "
    return replace(advice, setting=where + setting.words(advice.best.trigger, window))


def _choice(rows: Sequence[SessionRow], trigger: int, rework: int, *, dollars: bool) -> Choice:
    cost, summaries = 0.0, 0
    for row in rows:
        one = next(one for one in row.tried if one.trigger == trigger)
        tokens = one.cost + REFETCHED * rework * one.summaries
        cost += tokens * (row.price or 1.0) / MILLION if dollars else tokens / MILLION
        summaries += one.summaries
    return Choice(trigger, cost, summaries)


def losses(rows: Sequence[SessionRow]) -> Iterator[str]:
    """What the recorded compactions of these sessions lost and how many sessions are full, each with what to do."""
    made = [one for row in rows for one in row.own]
    rules = sum(one.instructions for one in made if one.lost is not None)
    lost = sum(one.lost or 0 for one in made)
    rework, larger = sum(one.rework_tokens for one in made), sum(one.larger for one in made)
    if made:
        did = [f"lost {grouped(lost)} of {counted(rules, 'rule')}" if rules else ""]
        did += [f"led to {grouped(rework)} tokens of rework" if rework else ""]
        did += [f"made the context larger {counted(larger, 'time')}" if larger else ""]
        of = counted(sum(bool(row.own) for row in rows), "session")
        said = " and ".join(filter(None, did)) or "lost no rule and led to no rework"
        remedy = " Pin the rules before the next one: W on the bench, or cwb rules FILE." if lost else ""
        yield f"{counted(len(made), 'compaction')} in {of} {said}.{remedy}"
    if full := sum((row.full or 0.0) >= FULL for row in rows):
        verb = "is" if full == 1 else "are"
        share = f"{counted(full, 'session')} {verb} at least {percent(FULL)} full"
        yield f"{share}: cwb rescue FILE, or Rescue (ctrl+p on the bench)."


FULL, FILLING = 0.9, 0.7
"""Shares of the window from which a session can hardly go on, and from which it should be compacted."""


def next_step(row: SessionRow) -> str:
    """The command to run for a session and the reason, `rescue: 98 % full`; "" where nothing calls for one."""
    share = row.full or 0.0
    if share >= FULL:
        return f"rescue: {percent(share)} full"
    if row.lost:
        return f"rules: {counted(row.lost, 'rule')} lost"
    if row.larger:
        return f"compare: grew in {counted(row.larger, 'compaction')}"
    if row.rework:
        return f"why: {grouped(row.rework)} × rework"
    return f"compact: {percent(share)} full" if share >= FILLING else ""
