"""Cost of a compaction through the prompt cache, and when it is paid back.

A provider caches a prompt by its prefix. After the first change that a compaction makes, all tokens are billed again at
the price of writing. Every later call reads fewer tokens from the cache:

    before   F · · · · · · · · · · · · | fresh     read: before − fresh   written: fresh
    after    F · summary · tail · fresh             read: F               written: after − F

`F`, the first changed token, is the size of the unchanged prefix. This model assumes that the whole prompt is cached
and that the cache does not expire in between.
"""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import Struct

from workbench.base.tables import Kind, words
from workbench.base.text import counted
from workbench.compaction.context import Context
from workbench.compaction.outcome import KeptSpan, Outcome
from workbench.tokens import find_model


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


def paid_back(calls: int | None) -> str:
    """Return `paid back after 2 calls`, `paid back at once` or `never paid back`."""
    return "never paid back" if calls is None else f"paid back {back_after(calls)}"


def back_after(calls: int | None) -> str:
    """Return `after 2 calls`, `at once` or `never`, for a column "paid back"."""
    return "never" if calls is None else f"after {counted(calls, 'call')}" if calls else "at once"


class CacheLoss(Struct, frozen=True):
    """Effect of one compaction on the cache, in tokens.

    `first_changed` tokens at the beginning stay cached; the rest of the new context is `rebilled`. Every later call has
    `saved` tokens less.
    """

    before: int
    after: int
    first_changed: int

    @property
    def rebilled(self) -> int:
        """Tokens of the new context behind the first change, summary included, which are billed as written."""
        return self.after - self.first_changed

    @property
    def saved(self) -> int:
        """Tokens by which every later call is smaller."""
        return self.before - self.after

    def extra(self, fresh: int, rates: Rates, summary: float = 0.0) -> float:
        """Return the extra cost of the next call compared with no compaction, `summary` (cost of the summary) included,
        in a millionth of the rates' unit.

        `fresh` are the tokens of `before` that came after the previous call and were not cached yet.
        """
        cached = self.before - fresh
        still = min(self.first_changed, cached)
        with_it = rates.read * still + rates.write * (self.after - still)
        without = rates.read * cached + rates.write * fresh
        return with_it - without + summary

    def pays_off_after(self, fresh: int, rates: Rates, summary: float = 0.0) -> int | None:
        """Return the number of further calls after which the compaction has paid for itself; None for never."""
        extra = self.extra(fresh, rates, summary)
        if extra <= 0:
            return 0
        gain = rates.read * self.saved
        return None if gain <= 0 else -int(-extra // gain)


def cache_loss(context: Context, outcome: Outcome) -> CacheLoss:
    """Return the effect of `outcome` on the cache of `context`."""
    prefix = 0
    for piece in outcome.pieces:
        if not isinstance(piece, KeptSpan) or piece.start != prefix:
            break
        prefix = piece.stop
    before = context.total.tokens
    if prefix == len(context):
        return CacheLoss(before, before, before)
    kept = context.layout.sizes.overhead + context.layout.tokens[prefix]
    after = context.outcome_size(outcome).tokens
    return CacheLoss(before, after, min(kept, after))
