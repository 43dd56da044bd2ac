"""Cost of a compaction: its summaries, what it costs through the prompt cache, and when it is paid back.

A provider caches a prompt by its prefix. After the first change that a compaction makes, all tokens are billed again at
the price of writing. Every later call reads fewer tokens from the cache:

    before   F · · · · · · · · · · · · | fresh     read: before − fresh   written: fresh
    after    F · summary · tail · fresh             read: F               written: after − F

`F`, the first changed token, is the size of the unchanged prefix. This model assumes that the whole prompt is cached
and that the cache does not expire in between.
"""

from __future__ import annotations

from msgspec import Struct

from workbench.base.text import counted
from workbench.compaction.context import Context
from workbench.compaction.outcome import KeptSpan, Outcome
from workbench.compaction.summary_request import MessagesBody, Summary, SummaryRequest
from workbench.summarizers.driver import Run
from workbench.tokens.cost import MILLION, Rates


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
        """Tokens of the new context after the first change, summary included, which are billed as cache writes."""
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


class SummaryUsage(Struct, frozen=True):
    """Approximate usage of a run's summaries: calls, tokens read and tokens written. `cached` is the part of the tokens
    read that the agent's last call left in the prompt cache."""

    calls: int
    read: int
    written: int
    cached: int = 0

    def cost(self, rates: Rates) -> float:
        """Return the cost in the rates' unit."""
        fresh = self.read - self.cached
        return (fresh * rates.input + self.cached * rates.read + self.written * rates.output) / MILLION


def summary_usage(context: Context, run: Run, fresh: int = 0) -> SummaryUsage:
    """Return the usage of a run over `context`. The newest `fresh` tokens, added after the agent's last call, are not
    cached."""
    meter = context.layout.sizes.meter
    written = sum(meter.text_tokens(answer.text) for answer in run.answers if isinstance(answer, Summary))
    known = context.total.tokens - fresh
    cached = sum(min(_cached_prefix(context, request), known) for request in run.requests)
    return SummaryUsage(
        len(run.requests), sum(_request_tokens(context, request) for request in run.requests), written, cached
    )


def _cached_prefix(context: Context, request: SummaryRequest) -> int:
    """Return the number of tokens with which both a request and the context's own calls begin."""
    body = request.body
    if not isinstance(body, MessagesBody) or body.shape != "messages":
        return 0
    both = zip(body.messages, context.messages, strict=False)
    alike = next((at for at, (sent, had) in enumerate(both) if sent is not had), len(body.messages))
    return context.layout.sizes.overhead + context.layout.tokens[alike]


def _request_tokens(context: Context, request: SummaryRequest) -> int:
    """Return the approximate tokens of a request without rendering it."""
    layout = context.layout
    meter, body = layout.sizes.meter, request.body
    if isinstance(body, MessagesBody):
        index_of, tokens = layout.shape.index_of, layout.sizes.tokens
        before = {
            "messages": layout.sizes.overhead,
            "messages_without_tools": max(layout.sizes.overhead - context.tool_tokens, 0),
            "messages_under_prompt": meter.text_tokens(body.system),
        }[body.shape]
        sent = (tokens[index_of[one.id]] if one.id in index_of else meter.tokens(one) for one in body.messages)
        return before + sum(sent) + meter.text_tokens(body.last)
    dense = layout.tokens[-1] / layout.shape.chars[-1] if layout.shape.chars[-1] else 0.0
    others = (request.prompt, request.previous, *(tool.schema for tool in request.tools))
    return round(request.chars * dense) + sum(map(meter.text_tokens, others))


def paid_back(calls: int | None) -> str:
    """Return `paid back after 2 calls`, `paid back at once` or `never paid back`."""
    return "never paid back" if calls is None else f"paid back {back_after(calls)}"


def back_after(calls: int | None) -> str:
    """Return `after 2 calls`, `at once` or `never`, for a column "paid back"."""
    return "never" if calls is None else f"after {counted(calls, 'call')}" if calls else "at once"
