"""Cost of a session: recorded in its file, and computed by known prices."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from msgspec import Struct

from workbench.analysis.compaction_cost import Rates, rates_of
from workbench.base.figures import dollars
from workbench.base.text import counted
from workbench.session import Billed, Message, Session, Usage
from workbench.tokens.cost import MILLION, SpentDollars, spent_on


class SessionCost(Struct, frozen=True):
    """Cost of a session in dollars. `recorded` is the file's own figure; `prompts` and `answers` are the recorded usage
    at the known prices, None if one is unknown. `missed` is the saving of a perfect cache on prompts. `calls` counts
    the calls with recorded usage, `silent` the answers without; `replayed` counts calls of the session from which this
    one was forked. `by` is the source of the prices."""

    calls: int
    silent: int
    recorded: float | None
    prompts: float | None
    answers: float | None
    missed: float | None
    by: str = ""
    replayed: int = 0

    @property
    def here(self) -> float | None:
        """Cost of the recorded usage at the known prices."""
        return None if self.prompts is None or self.answers is None else self.prompts + self.answers

    def __str__(self) -> str:
        said = [] if self.recorded is None else [f"{dollars(self.recorded)} recorded"]
        if self.here is not None and self.prompts is not None and self.answers is not None:
            parts = f"prompts {dollars(self.prompts)}, answers {dollars(self.answers)}"
            said.append(f"{dollars(self.here)} by the prices of {self.by} ({parts})")
        if self.replayed:
            said.append(f"without {counted(self.replayed, 'call')} of the session it was forked from")
        return "; ".join([*said, *self.why])

    @property
    def why(self) -> tuple[str, ...]:
        """Reasons why the two figures differ by more than 2 %, or why the second is missing."""
        if self.recorded is None or (self.here is not None and abs(self.recorded - self.here) * 50 <= self.recorded):
            return ()
        if self.here is None:
            return ("some prices are unknown",)
        if not self.recorded:
            return ("the agent recorded no cost, as on a flat-rate plan",)
        silent = f", {counted(self.silent, 'answer')} without recorded usage" if self.silent else ""
        return (f"the agent used other prices, or counted calls that the file does not record{silent}",)


def session_cost(session: Session) -> SessionCost | None:
    """Return the cost of a session, all branches together; None without recorded cost or usage with known prices.
    Raises BadInput for a broken table of the user's."""
    answers = _answers(session)
    replayed = sum(message.usage is not None and message.usage.replayed for message in answers)
    billed = _billed_answers(answers)
    recorded = _recorded(session, billed)
    silent = len(answers) - len(billed) - replayed
    spent = _spent(session, billed)
    if spent is None:
        return (
            None
            if recorded is None
            else SessionCost(len(billed), silent, recorded, None, None, None, replayed=replayed)
        )
    names = [message.model or session.model or "" for message, _ in billed]
    rates = {name: rates_of(name) for name in dict.fromkeys(names)}
    at_best, before = list[float](), 0
    for name, (_, usage) in zip(names, billed, strict=True):
        at_best.append(_cost_at_best(before, usage, rates[name]))
        before = usage.context
    missed = max(0.0, spent.prompts - fsum(at_best))
    return SessionCost(len(billed), silent, recorded, spent.prompts, spent.answers, missed, spent.by, replayed)


def session_dollars(session: Session) -> float | None:
    """Return the cost in dollars, recorded or by known prices; None if unknown. Raises BadInput for a broken table of
    the user's."""
    billed = _billed_answers(_answers(session))
    if (recorded := _recorded(session, billed)) is not None:
        return recorded
    spent = _spent(session, billed)
    return None if spent is None else spent.prompts + spent.answers


def _answers(session: Session) -> list[Message]:
    copies = frozenset[int]().union(*(epoch.copies for epoch in session.epochs))
    return [
        message
        for index, message in enumerate(session.messages)
        if message.role == "assistant" and message.kind == "normal" and index not in copies
    ]


def _billed_answers(answers: Sequence[Message]) -> list[tuple[Message, Usage]]:
    usages = ((message, message.usage) for message in answers)
    return [(one, usage) for one, usage in usages if usage and not usage.replayed and (one.bill or usage.cost)]


def _recorded(session: Session, billed: Sequence[tuple[Message, Usage]]) -> float | None:
    if session.facts.cost is not None:
        return session.facts.cost
    said = [usage.cost for _, usage in billed if usage.cost is not None]
    return fsum(said) if said else None


def _spent(session: Session, billed: Sequence[tuple[Message, Usage]]) -> SpentDollars | None:
    return spent_on([_billed_usage(message, usage) for message, usage in billed], session.model)


def _billed_usage(message: Message, usage: Usage) -> Billed:
    return Billed(message.model, usage.input, usage.output, usage.cache_read, usage.cache_write)


def _cost_at_best(before: int, usage: Usage, rates: Rates) -> float:
    """Return the cost of a prompt if everything sent before is read from the cache and the rest is written."""
    read = min(before, usage.context)
    return (rates.read * read + rates.write * (usage.context - read)) / MILLION
