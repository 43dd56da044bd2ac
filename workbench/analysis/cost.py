"""What a call costs: before it is made, by an estimate, and after it, by what was billed.

Prices come from the dated table of `workbench.tokens.models`, which a person may correct; a model or a price that is
not in it is unknown and is said to be, never guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

from workbench.analysis.cache import Rates
from workbench.compaction.context import Context
from workbench.compaction.strategy import Summary, SummaryRequest
from workbench.session import Usage
from workbench.summarizers.driver import Run
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
        parts = (self.input, self.output, self.cache_read, self.cache_write)
        return None if None in parts else fsum(part for part in parts if part is not None)

    def __str__(self) -> str:
        total = self.dollars
        return "cost unknown" if total is None else f"${total:.2f}" if total >= 1 else f"${total:.4f}"


def estimate(request_tokens: int, expected_output: int, model: str) -> Cost:
    """What a call would cost without a cache. Raises BadInput for a broken table of the user's."""
    return actual(Usage(input=request_tokens, output=expected_output), model)


def actual(usage: Usage, model: str) -> Cost:
    """What the billed tokens cost. Raises BadInput for a broken table of the user's."""
    info = find_model(model)
    if info is None or info.prices is None:
        return Cost(model, note=f"the table of models has no price for {model!r}")
    prices, note = _prices_for(usage.context, info, info.prices)
    cost = Cost(
        model,
        _dollars(usage.input, prices.input),
        _dollars(usage.output, prices.output),
        _dollars(usage.cache_read, prices.cache_read),
        _dollars(usage.cache_write, prices.cache_write),
        note,
    )
    if cost.dollars is None:
        which = "cache reads" if cost.cache_read is None else "cache writes"
        return Cost(model, cost.input, cost.output, cost.cache_read, cost.cache_write, f"no price for {which} is known")
    return cost


@dataclass(frozen=True, slots=True)
class Spent:
    """What the summaries of a run take, about: the requests, and the tokens read and written for them."""

    calls: int
    read: int
    written: int

    def cost(self, rates: Rates) -> float:
        """In the rates' unit."""
        return (self.read * rates.input + self.written * rates.output) / MILLION


def spent(context: Context, run: Run) -> Spent:
    meter = context.layout.sizes.meter
    written = sum(meter.text_tokens(answer.text) for answer in run.answers if isinstance(answer, Summary))
    return Spent(len(run.requests), sum(_request_tokens(context, request) for request in run.requests), written)


def _request_tokens(context: Context, request: SummaryRequest) -> int:
    """About what a request is long, unrendered: the tokens of the characters that it shows, as dense as the context's
    are, and its prompt."""
    layout = context.layout
    dense = layout.tokens[-1] / layout.shape.chars[-1] if layout.shape.chars[-1] else 0.0
    meter = layout.sizes.meter
    return round(request.chars * dense) + meter.text_tokens(request.prompt) + meter.text_tokens(request.previous)


def _prices_for(context: int, info: ModelInfo, usual: Prices) -> tuple[Prices, str]:
    if info.long_from is not None and info.long_prices is not None and context > info.long_from:
        return info.long_prices, f"long-context prices: the prompt is above {info.long_from:,} tokens"
    return usual, ""


def _dollars(tokens: int, price: float | None) -> float | None:
    """Nothing costs nothing, even where the price is not known."""
    if not tokens:
        return 0.0
    return None if price is None else tokens * price / MILLION
