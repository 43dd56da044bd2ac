"""Cost of calls: estimated beforehand, and computed from usage afterwards.

Prices come from `workbench.tokens.models`, which a user may correct. A cost is unknown, never guessed, if the model or
a price is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import fsum, inf
from operator import itemgetter

from msgspec import Struct

from workbench.base.figures import dollars, grouped
from workbench.base.tables import Kind, words
from workbench.session import Billed, Usage
from workbench.tokens.models import ModelInfo, Prices
from workbench.tokens.models import find as find_model

MILLION = 1_000_000


class Cost(Struct, frozen=True):
    """US dollars by kind of token. `dollars` is None if a necessary price is unknown. `note`: the reason, or a special
    rule that applied (long-context prices)."""

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
    """Dollars in words; for None `cost unknown`."""
    return "cost unknown" if amount is None else dollars(amount)


def added(amounts: Iterable[float | None]) -> float | None:
    """Sum, None if any amount is unknown."""
    every = tuple(amounts)
    return None if None in every else fsum(one for one in every if one is not None)


def usage_words(usage: Usage) -> str:
    """Usage in words: `31 002 tokens in (30 000 read from the cache), 1 204 out`."""
    cached = [f"{grouped(usage.cache_read)} read from the cache"] if usage.cache_read else []
    written = f"{grouped(usage.cache_write)} written to it" if cached else f"{grouped(usage.cache_write)} to the cache"
    cached += [written] if usage.cache_write else []
    of_cache = f" ({', '.join(cached)})" if cached else ""
    return f"{grouped(usage.context)} tokens in{of_cache}, {grouped(usage.output)} out"


def estimate(request_tokens: int, expected_output: int, model: str) -> Cost:
    """Return the cost of a call that uses no cache. Raises BadInput for a broken user table."""
    return actual(Usage(input=request_tokens, output=expected_output), model)


def actual(usage: Usage, model: str) -> Cost:
    """Return the cost of billed tokens. Raises BadInput for a broken user table."""
    return _by(find_model(model), usage, model)


def actual_of_all(calls: Sequence[Usage], model: str) -> Cost:
    """Return the cost of several calls, each at the prices of its own context size. Raises BadInput."""
    return together([actual(usage, model) for usage in calls], model)


def _by(info: ModelInfo | None, usage: Usage, model: str) -> Cost:
    if info is None or info.prices is None:
        return Cost(model, note=f"no price for {model!r} is known")
    long = usage.context > _longest(info)
    note = f"long-context prices: the prompt is above {grouped(info.long_from or 0)} tokens" if long else ""
    cost = Cost(model, *_parts_of(usage, _prices_of(info, long=long)), note)
    if cost.dollars is None:
        which = "cache reads" if cost.cache_read is None else "cache writes"
        return Cost(model, cost.input, cost.output, cost.cache_read, cost.cache_write, f"no price for {which} is known")
    return cost


def at_share(cost: Cost, share: float, why: str) -> Cost:
    """Return a share of a cost; `why` is added to its note."""

    def less(part: float | None) -> float | None:
        return None if part is None else part * share

    note = "; ".join(filter(None, (cost.note, why)))
    return Cost(cost.model, less(cost.input), less(cost.output), less(cost.cache_read), less(cost.cache_write), note)


def together(costs: Sequence[Cost], model: str) -> Cost:
    """Return the sum of several costs of one model; a part that is unknown in any cost is unknown in the sum."""
    return Cost(
        model,
        added(cost.input for cost in costs),
        added(cost.output for cost in costs),
        added(cost.cache_read for cost in costs),
        added(cost.cache_write for cost in costs),
        "; ".join(dict.fromkeys(cost.note for cost in costs if cost.note)),
    )


class SpentDollars(Struct, frozen=True):
    """Dollars for `prompts` and `answers`; `by` names the source of the prices."""

    prompts: float
    answers: float
    by: str


def spent_on(bills: Iterable[Billed], model: str | None) -> SpentDollars | None:
    """Return the cost of billed calls at known prices; one without a model counts as `model`'s. None without calls, and
    if a price is unknown. Raises BadInput for a broken user table."""
    several = [*bills]
    names = {own: own or model or "" for own in set(map(itemgetter(0), several))}
    infos = {name: find_model(name) for name in names.values()}
    prompts, answers = list[float](), list[float]()
    for name, info in infos.items():
        its = several if len(infos) == 1 else [bill for bill in several if names[bill.model] == name]
        for billed, long in _by_length(its, _longest(info)):
            _, fresh, output, read, written = zip(*billed, strict=True)
            usage = Usage(sum(fresh), sum(output), sum(read), sum(written))
            parts = _parts_of(usage, _prices_of(info, long=long))
            if None in parts:
                return None
            prompts += [part for part in (parts[0], *parts[2:]) if part]
            answers.append(parts[1] or 0.0)
    by = " and ".join(sorted({info.source for info in infos.values() if info}))
    return SpentDollars(fsum(prompts), fsum(answers), by) if several else None


def _by_length(bills: Sequence[Billed], longest: float) -> Iterator[tuple[Sequence[Billed], bool]]:
    """Yield the calls with prompts of at most `longest` tokens and False, then those with longer ones and True."""
    if longest == inf:
        yield bills, False
        return
    for long in (False, True):
        if found := [one for one in bills if (one.input + one.cache_read + one.cache_write > longest) is long]:
            yield found, long


Parts = tuple[float | None, float | None, float | None, float | None]


def _parts_of(usage: Usage, prices: Prices | None) -> Parts:
    """Dollars for input, output, cache reads and cache writes; None for each whose price is unknown."""
    if prices is None:
        return None, None, None, None
    return (
        _dollars(usage.input, prices.input),
        _dollars(usage.output, prices.output),
        _dollars(usage.cache_read, prices.cache_read),
        _dollars(usage.cache_write, prices.cache_write),
    )


def _longest(info: ModelInfo | None) -> float:
    """Tokens of the longest prompt at normal prices; infinite without long-context prices."""
    return inf if info is None or info.long_from is None or info.long_prices is None else info.long_from


def _prices_of(info: ModelInfo | None, *, long: bool) -> Prices | None:
    return None if info is None else info.long_prices if long else info.prices


def _dollars(tokens: int, price: float | None) -> float | None:
    """Dollars for tokens; zero tokens cost nothing even at an unknown price."""
    if not tokens:
        return 0.0
    return None if price is None else tokens * price / MILLION


@dataclass(frozen=True, slots=True)
class Rates:
    """Prices per million tokens. `known`: in US dollars, source `by`; otherwise multiples of the input price by the
    usual ratios."""

    input: float = 1.0
    output: float = 5.0
    read: float = 0.1
    write: float = 1.25
    known: bool = False
    by: str = ""

    @property
    def kind(self) -> Kind:
        """Kind of a table column with costs in this unit."""
        return "money" if self.known else "input"

    def words(self, amount: float) -> str:
        """Return an amount as text: dollars, or the number of input tokens that cost as much."""
        return words(amount, self.kind)


def rates_of(model: str | None) -> Rates:
    """Return the model's prices, or the ratios of Anthropic's list if they are unknown. The input price replaces a
    missing price for writing. Raises BadInput for a broken price table of the user."""
    info = find_model(model)
    if info is None or info.prices is None or info.prices.cache_read is None:
        return Rates()
    prices = info.prices
    write = prices.input if prices.cache_write is None else prices.cache_write
    return Rates(prices.input, prices.output, info.prices.cache_read or 0.0, write, known=True, by=info.source)
