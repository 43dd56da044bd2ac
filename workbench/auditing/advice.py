"""Advice per agent: the trigger at which its sessions would have cost least, and the setting to change.

It covers the replayed sessions: long ones, and those that record a compaction. Each summary also costs the average
rework after the recorded compactions of the same sessions.
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

REFETCH_FACTOR = 1.25
"""Cost of a token of rework, in tokens of input: it is written to the cache."""

MIN_SAVING = 0.03
"""Smallest saving, as a share, that justifies another trigger; replays are no more exact than that."""


@dataclass(frozen=True, slots=True)
class TriggerChoice:
    """Cost of the sessions at a trigger in tokens, 0 for the agent's own: in dollars if every price is known, else in
    millions of input tokens. `summaries` counts those of all sessions."""

    trigger: int
    cost: float
    summaries: int


@dataclass(frozen=True, slots=True)
class TriggerAdvice:
    """Advice for an agent (`tool`): its replayed `sessions`, most of them with this `window` in tokens; `choices` of
    triggers that fit and can be set, the agent's own first, and `wider` ones that need a larger window. `rework` is the
    average number of tokens of rework after a recorded compaction. `lost` of `instructions` were lost by compactions
    with a readable summary. `setting` says how to set the best choice, "" where nothing is to be changed."""

    tool: str
    sessions: int
    window: int | None
    dollars: bool
    rework: int
    choices: tuple[TriggerChoice, ...]
    wider: tuple[TriggerChoice, ...]
    instructions: int = 0
    lost: int = 0
    setting: str = ""

    @property
    def own(self) -> TriggerChoice:
        return self.choices[0]

    @property
    def best(self) -> TriggerChoice:
        """Cheapest choice; the agent's own unless the cheapest saves more than `MIN_SAVING`."""
        least = min(self.choices, key=lambda one: one.cost)
        return least if least.cost < self.own.cost * (1 - MIN_SAVING) else self.own

    @property
    def saved(self) -> float:
        """Share of the cost that the best choice saves."""
        return 1 - self.best.cost / self.own.cost if self.own.cost else 0.0

    def __str__(self) -> str:
        rework = f", {grouped(self.rework)} tokens of rework each" if self.rework else ""
        sessions = counted(self.sessions, "session")
        if self.best is self.own:
            advice = f"leave the trigger as it is: no other saves more than {percent(MIN_SAVING)}"
            advice = f"{advice} over {sessions}, {self._words(self.own)}{rework}"
        else:
            size = grouped(self.best.trigger) + (f" of {grouped(self.window)}" if self.window else "")
            advice = f"compact at {size} tokens: {sessions} would have cost {self._words(self.best)} instead of"
            advice = f"{advice} {self._words(self.own)}{rework}; {self.setting or 'it has no setting for that'}"
        wider = min(self.wider, key=lambda one: one.cost, default=None)
        if wider and wider.cost < self.best.cost * (1 - MIN_SAVING):
            advice += f"; with a larger window, at {grouped(wider.trigger)} tokens, {self._words(wider)}"
        if self.lost and self.best.summaries > self.own.summaries:
            lost = f"{grouped(self.lost)} of {counted(self.instructions, 'rule')}"
            advice += f". The cost counts no lost rules: recorded compactions lost {lost}"
        return f"{self.tool}: {advice}."

    def _words(self, one: TriggerChoice) -> str:
        cost = dollars(one.cost) if self.dollars else f"{one.cost:.1f} million input tokens"
        return f"{cost} with {counted(one.summaries, 'compaction')}"


def advise(rows: Iterable[SessionRow]) -> tuple[TriggerAdvice, ...]:
    """Return advice for each agent with replayed sessions, the one that spent most first."""
    by_agent: dict[str, list[SessionRow]] = {}
    for row in rows:
        if row.tried:
            by_agent.setdefault(row.tool, []).append(row)
    found = (_advice(agent, several) for agent, several in by_agent.items())
    return tuple(sorted(found, key=lambda one: (-one.dollars, -one.own.cost, one.tool)))


def _advice(tool: str, rows: Sequence[SessionRow]) -> TriggerAdvice:
    dollars = all(row.price is not None for row in rows)
    compactions = [one for row in rows for one in row.own]
    rework = round(fsum(one.rework_tokens for one in compactions) / len(compactions)) if compactions else 0
    readable = [one for one in compactions if one.lost is not None]
    windows = Counter(row.window for row in rows if row.window)
    window = max(windows, key=lambda size: (windows[size], size)) if windows else None
    setting = next((one.trigger_setting for one in registry.all_formats([]) if one.id == rows[0].format), None)
    highest = TRIGGERS[-1] if not window else setting.highest(window) if setting else window - 1
    within = [trigger for trigger in TRIGGERS if trigger <= highest]
    larger = [trigger for trigger in TRIGGERS if window and trigger >= window]
    choices = tuple(_choice(rows, trigger, rework, dollars=dollars) for trigger in (0, *within))
    wider = tuple(_choice(rows, trigger, rework, dollars=dollars) for trigger in larger)
    known, lost = sum(one.instructions for one in readable), sum(one.lost or 0 for one in readable)
    advice = TriggerAdvice(tool, len(rows), window, dollars, rework, choices, wider, known, lost)
    if setting is None or advice.best is advice.own or window is None:
        return advice
    where = "" if len(windows) == 1 or setting.in_tokens else f"where the window is {grouped(window)} tokens, "
    return replace(advice, setting=where + setting.words(advice.best.trigger, window))


def _choice(rows: Sequence[SessionRow], trigger: int, rework: int, *, dollars: bool) -> TriggerChoice:
    cost, summaries = 0.0, 0
    for row in rows:
        one = next(one for one in row.tried if one.trigger == trigger)
        tokens = one.cost + REFETCH_FACTOR * rework * one.summaries
        cost += tokens * (row.price or 1.0) / MILLION if dollars else tokens / MILLION
        summaries += one.summaries
    return TriggerChoice(trigger, cost, summaries)


def loss_sentences(rows: Sequence[SessionRow]) -> Iterator[str]:
    """Yield a sentence about the losses of the recorded compactions, and one about full sessions, with remedies."""
    compactions = [one for row in rows for one in row.own]
    rules = sum(one.instructions for one in compactions if one.lost is not None)
    lost = sum(one.lost or 0 for one in compactions)
    rework, larger = sum(one.rework_tokens for one in compactions), sum(one.larger for one in compactions)
    if compactions:
        effects = [f"lost {grouped(lost)} of {counted(rules, 'rule')}" if rules else ""]
        effects += [f"led to {grouped(rework)} tokens of rework" if rework else ""]
        effects += [f"made the context larger {counted(larger, 'time')}" if larger else ""]
        sessions = counted(sum(bool(row.own) for row in rows), "session")
        words = " and ".join(filter(None, effects)) or "lost no rule and led to no rework"
        remedy = " Pin the rules before the next one: W on the bench, or cwb rules FILE." if lost else ""
        yield f"{counted(len(compactions), 'compaction')} in {sessions} {words}.{remedy}"
    if full := sum((row.full or 0.0) >= FULL for row in rows):
        verb = "is" if full == 1 else "are"
        share = f"{counted(full, 'session')} {verb} at least {percent(FULL)} full"
        yield f"{share}: cwb rescue FILE, or Rescue (ctrl+p on the bench)."


FULL, FILLING = 0.9, 0.7
"""Shares of the window from which a session can hardly continue, and from which it should be compacted."""


def next_step(row: SessionRow) -> str:
    """Return the next command for a session and its reason, `rescue: 98 % full`; "" for none."""
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
