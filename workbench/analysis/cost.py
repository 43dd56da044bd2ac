"""What a session cost: as its file records it, and by the prices that are known here."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from msgspec import Struct

from workbench.analysis.cache import Rates, rates_of
from workbench.base.figures import dollars
from workbench.base.text import counted
from workbench.session import Billed, Message, Session, Usage
from workbench.tokens.cost import MILLION, Spent, spent_on


class Paid(Struct, frozen=True):
    """What a session cost, in dollars: `recorded` as its file says, None where it does not; `prompts` and `answers` are
    what the recorded usage costs by the prices known here, None where one is not. `missed` is the part of the prompts
    that a cache would have saved which held all that the call before was sent. `calls` have their usage recorded,
    `silent` answers have not; `replayed` calls were made in the session that this one was forked from, and cost there.
    `by` is who says the prices.
    """

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
        """What the recorded usage costs by the prices known here."""
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
        """What may make the two figures differ by more than a fiftieth."""
        if self.recorded is None or (self.here is not None and abs(self.recorded - self.here) * 50 <= self.recorded):
            return ()
        if self.here is None:
            return ("some prices are unknown",)
        if not self.recorded:
            return ("the agent recorded no cost, as on a flat-rate plan",)
        silent = f", {counted(self.silent, 'answer')} without recorded usage" if self.silent else ""
        return (f"the agent used other prices, or counted calls that the file does not record{silent}",)


def paid(session: Session) -> Paid | None:
    """What a session cost, all its branches together; None where neither a cost is recorded nor usage whose prices are
    known. Raises BadInput for a broken table of the user's."""
    answers = _answers(session)
    replayed = sum(message.usage is not None and message.usage.replayed for message in answers)
    billed = _with_bills(answers)
    recorded = _recorded(session, billed)
    silent = len(answers) - len(billed) - replayed
    spent = _spent(session, billed)
    if spent is None:
        return None if recorded is None else Paid(len(billed), silent, recorded, None, None, None, replayed=replayed)
    names = [message.model or session.model or "" for message, _ in billed]
    rates = {name: rates_of(name) for name in dict.fromkeys(names)}
    at_best, before = list[float](), 0
    for name, (_, usage) in zip(names, billed, strict=True):
        at_best.append(_cached(before, usage, rates[name]))
        before = usage.context
    missed = max(0.0, spent.prompts - fsum(at_best))
    return Paid(len(billed), silent, recorded, spent.prompts, spent.answers, missed, spent.by, replayed)


def dollars_of(session: Session) -> float | None:
    """What a session cost in dollars, as its file records it or else by the prices known here; None where nobody knows.
    Raises BadInput for a broken table of the user's."""
    billed = _with_bills(_answers(session))
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


def _with_bills(answers: Sequence[Message]) -> list[tuple[Message, Usage]]:
    usages = ((message, message.usage) for message in answers)
    return [(one, usage) for one, usage in usages if usage and not usage.replayed and (one.bill or usage.cost)]


def _recorded(session: Session, billed: Sequence[tuple[Message, Usage]]) -> float | None:
    if session.facts.cost is not None:
        return session.facts.cost
    said = [usage.cost for _, usage in billed if usage.cost is not None]
    return fsum(said) if said else None


def _spent(session: Session, billed: Sequence[tuple[Message, Usage]]) -> Spent | None:
    return spent_on([_billed(message, usage) for message, usage in billed], session.model)


def _billed(message: Message, usage: Usage) -> Billed:
    return Billed(message.model, usage.input, usage.output, usage.cache_read, usage.cache_write)


def _cached(before: int, usage: Usage, rates: Rates) -> float:
    """What a prompt costs of which all that was sent before is read from the cache, and the rest is written to it."""
    read = min(before, usage.context)
    return (rates.read * read + rates.write * (usage.context - read)) / MILLION
