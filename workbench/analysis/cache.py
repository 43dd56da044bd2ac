"""What a compaction costs through the prompt cache, and when it has paid for itself.

A provider caches a prompt by its prefix. A compaction changes the prompt at one place, and all that stands after it is
billed anew, at the price of writing; then every later call is smaller by what was saved, at the price of reading:

    before   F · · · · · · · · · · · · | fresh     read: before − fresh   written: fresh
    after    F · summary · tail · fresh             read: F               written: after − F

`F`, the first changed token, is the size of what stands unchanged before it. It is assumed that the whole prompt is
cached and that the cache does not expire in between.
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
    """What a million tokens cost. `known`: in US dollars, as `by` says; else as multiples of the input price, by the
    usual ratios."""

    input: float = 1.0
    output: float = 5.0
    read: float = 0.1
    write: float = 1.25
    known: bool = False
    by: str = ""

    @property
    def kind(self) -> Kind:
        """The kind of a table's column that holds costs in this unit."""
        return "money" if self.known else "input"

    def words(self, amount: float) -> str:
        """An amount in this unit: dollars, or how many input tokens cost as much."""
        return words(amount, self.kind)


def rates_of(model: str | None) -> Rates:
    """The model's prices; the ratios of Anthropic's list where they are not known. A provider without a price for
    writing bills it as input. Raises BadInput for a broken table of the user's."""
    info = find_model(model)
    if info is None or info.prices is None or info.prices.cache_read is None:
        return Rates()
    prices = info.prices
    write = prices.input if prices.cache_write is None else prices.cache_write
    return Rates(prices.input, prices.output, info.prices.cache_read or 0.0, write, known=True, by=info.source)


def paid_back(calls: int | None) -> str:
    """When a compaction has saved what it cost: `paid back after 2 calls`, `paid back at once`, `never paid back`."""
    return "never paid back" if calls is None else f"paid back {back_after(calls)}"


def back_after(calls: int | None) -> str:
    """The same for a table's column "paid back": `after 2 calls`, `at once`, `never`."""
    return "never" if calls is None else f"after {counted(calls, 'call')}" if calls else "at once"


class CacheLoss(Struct, frozen=True):
    """What one compaction does to the cache, in tokens.

    `first_changed`: so many tokens at the beginning stay cached. `rebilled`: the rest of the new context, which is
    billed as written although nearly all of the old one was cached. `saved`: how much smaller every later call is.
    """

    before: int
    after: int
    first_changed: int

    @property
    def rebilled(self) -> int:
        return self.after - self.first_changed

    @property
    def saved(self) -> int:
        return self.before - self.after

    def extra(self, fresh: int, rates: Rates, summary: float = 0.0) -> float:
        """What this call costs more than without the compaction, `summary` included, in the rates' unit per token.

        `fresh` are the tokens of `before` that were not cached yet: they came after the call before this one.
        """
        cached = self.before - fresh
        still = min(self.first_changed, cached)
        with_it = rates.read * still + rates.write * (self.after - still)
        without = rates.read * cached + rates.write * fresh
        return with_it - without + summary

    def pays_off_after(self, fresh: int, rates: Rates, summary: float = 0.0) -> int | None:
        """After how many further calls it has cost no more than going on without it; None for never."""
        extra = self.extra(fresh, rates, summary)
        if extra <= 0:
            return 0
        gain = rates.read * self.saved
        return None if gain <= 0 else -int(-extra // gain)


def cache_loss(context: Context, outcome: Outcome) -> CacheLoss:
    """What `outcome` does to the cache of `context`; both sizes are those that everything else names."""
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
