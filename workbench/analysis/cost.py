"""What a call costs: before it is made, by an estimate, and after it, by what was billed.

Prices come from `workbench.tokens.models`, which a person may correct; a model or a price that nobody says is unknown
and is said to be, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum

from workbench.analysis.cache import Rates, rates_of
from workbench.base.figures import dollars, grouped
from workbench.base.text import counted
from workbench.session import Session, Usage
from workbench.tokens import ModelInfo, Prices, find_model

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars by what they pay for. `dollars` is None when a price that is needed is not known; `note` says why.

    `note` also says which rule applied, where one did (long-context prices).
    """

    model: str
    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    note: str = ""

    @property
    def dollars(self) -> float | None:
        return added((self.input, self.output, self.cache_read, self.cache_write))

    def __str__(self) -> str:
        return money(self.dollars)


def money(amount: float | None) -> str:
    """Dollars as they are shown, None as what it is."""
    return "cost unknown" if amount is None else dollars(amount)


def added(amounts: Iterable[float | None]) -> float | None:
    """The sum, None where one is not known."""
    every = tuple(amounts)
    return None if None in every else fsum(one for one in every if one is not None)


def usage_words(usage: Usage) -> str:
    """`31 002 tokens in (30 000 read from the cache), 1 204 out`."""
    cached = [f"{grouped(usage.cache_read)} read from the cache"] if usage.cache_read else []
    written = f"{grouped(usage.cache_write)} written to it" if cached else f"{grouped(usage.cache_write)} to the cache"
    cached += [written] if usage.cache_write else []
    said = f" ({', '.join(cached)})" if cached else ""
    return f"{grouped(usage.context)} tokens in{said}, {grouped(usage.output)} out"


def estimate(request_tokens: int, expected_output: int, model: str) -> Cost:
    """What a call would cost without a cache. Raises BadInput for a broken table of the user's."""
    return actual(Usage(input=request_tokens, output=expected_output), model)


def actual(usage: Usage, model: str) -> Cost:
    """What the billed tokens cost. Raises BadInput for a broken table of the user's."""
    return _by(find_model(model), usage, model)


def actual_of_all(calls: Sequence[Usage], model: str) -> Cost:
    """What several calls cost, each by its own size: prices of long contexts are those of a call. Raises BadInput."""
    return together([actual(usage, model) for usage in calls], model)


def _by(info: ModelInfo | None, usage: Usage, model: str) -> Cost:
    if info is None or info.prices is None:
        return Cost(model, note=f"no price for {model!r} is known")
    cost = Cost(model, *_parts(usage, info), _prices_for(usage.context, info, info.prices)[1])
    if cost.dollars is None:
        which = "cache reads" if cost.cache_read is None else "cache writes"
        return Cost(model, cost.input, cost.output, cost.cache_read, cost.cache_write, f"no price for {which} is known")
    return cost


def at_share(cost: Cost, share: float, why: str) -> Cost:
    """The same at a share of its price, which `why` names."""

    def less(part: float | None) -> float | None:
        return None if part is None else part * share

    note = "; ".join(filter(None, (cost.note, why)))
    return Cost(cost.model, less(cost.input), less(cost.output), less(cost.cache_read), less(cost.cache_write), note)


def together(costs: Sequence[Cost], model: str) -> Cost:
    """The sum of calls of one model; what is not known of one is not known of all."""
    return Cost(
        model,
        added(cost.input for cost in costs),
        added(cost.output for cost in costs),
        added(cost.cache_read for cost in costs),
        added(cost.cache_write for cost in costs),
        "; ".join(dict.fromkeys(cost.note for cost in costs if cost.note)),
    )


@dataclass(frozen=True, slots=True)
class Paid:
    """What a session cost, in dollars: `recorded` as its file says, None where it does not; `prompts` and `answers` are
    what the recorded usage costs by the prices known here, None where one is not. `missed` is the part of the prompts
    that a cache would have saved which held all that the call before was sent. `calls` have their usage recorded,
    `silent` answers have not; `by` is who says the prices.
    """

    calls: int
    silent: int
    recorded: float | None
    prompts: float | None
    answers: float | None
    missed: float | None
    by: str = ""

    @property
    def here(self) -> float | None:
        """What the recorded usage costs by the prices known here."""
        return None if self.prompts is None or self.answers is None else self.prompts + self.answers

    def __str__(self) -> str:
        said = [] if self.recorded is None else [f"{dollars(self.recorded)} recorded"]
        if self.here is not None and self.prompts is not None and self.answers is not None:
            parts = f"prompts {dollars(self.prompts)}, answers {dollars(self.answers)}"
            said.append(f"{dollars(self.here)} by the prices of {self.by} ({parts})")
        return "; ".join([*said, *self.why])

    @property
    def why(self) -> tuple[str, ...]:
        """What may make the two figures differ by more than a fiftieth."""
        if self.recorded is None or (self.here is not None and abs(self.recorded - self.here) * 50 <= self.recorded):
            return ()
        if self.here is None:
            return ("not every price is known here",)
        if not self.recorded:
            return ("the agent counted none, as where a plan pays",)
        silent = f", {counted(self.silent, 'answer')} without recorded usage among them" if self.silent else ""
        return (f"it was counted by other prices, or with calls that the file does not tell of{silent}",)


def paid(session: Session) -> Paid | None:
    """What a session cost, all its branches together; None where neither a cost is recorded nor usage whose prices are
    known. Raises BadInput for a broken table of the user's."""
    copies = frozenset[int]().union(*(epoch.copies for epoch in session.epochs))
    answers = [
        message
        for index, message in enumerate(session.messages)
        if message.role == "assistant" and message.kind == "normal" and index not in copies
    ]
    billed = [(message, usage) for message in answers if (usage := message.usage) and (message.bill or usage.cost)]
    said = [usage.cost for _, usage in billed if usage.cost is not None]
    recorded = session.facts.cost if session.facts.cost is not None else fsum(said) if said else None
    names = dict.fromkeys(message.model or session.model or "" for message, _ in billed)
    infos, rates = {name: find_model(name) for name in names}, {name: rates_of(name) for name in names}
    silent = len(answers) - len(billed)
    sent, made, at_best, before = list[float](), list[float](), list[float](), 0
    for message, usage in billed:
        name = message.model or session.model or ""
        parts = _parts(usage, infos[name])
        if None in parts:
            break
        sent += [part for part in (parts[0], *parts[2:]) if part]
        made.append(parts[1] or 0.0)
        at_best.append(_cached(before, usage, rates[name]))
        before = usage.context
    if len(made) < len(billed) or not billed:
        return None if recorded is None else Paid(len(billed), silent, recorded, None, None, None)
    prompts = fsum(sent)
    by = " and ".join(sorted({info.source for info in infos.values() if info}))
    return Paid(len(billed), silent, recorded, prompts, fsum(made), max(0.0, prompts - fsum(at_best)), by)


def _cached(before: int, usage: Usage, rates: Rates) -> float:
    """What a prompt costs of which all that was sent before is read from the cache, and the rest is written to it."""
    read = min(before, usage.context)
    return (rates.read * read + rates.write * (usage.context - read)) / MILLION


_Parts = tuple[float | None, float | None, float | None, float | None]


def _parts(usage: Usage, info: ModelInfo | None) -> _Parts:
    """Dollars for input, output, what was read from the cache and what was written to it; None for each whose price is
    not known."""
    if info is None or info.prices is None:
        return None, None, None, None
    prices, _ = _prices_for(usage.context, info, info.prices)
    return (
        _dollars(usage.input, prices.input),
        _dollars(usage.output, prices.output),
        _dollars(usage.cache_read, prices.cache_read),
        _dollars(usage.cache_write, prices.cache_write),
    )


def _prices_for(context: int, info: ModelInfo, usual: Prices) -> tuple[Prices, str]:
    if info.long_from is not None and info.long_prices is not None and context > info.long_from:
        return info.long_prices, f"long-context prices: the prompt is above {grouped(info.long_from)} tokens"
    return usual, ""


def _dollars(tokens: int, price: float | None) -> float | None:
    """Nothing costs nothing, even where the price is not known."""
    if not tokens:
        return 0.0
    return None if price is None else tokens * price / MILLION
