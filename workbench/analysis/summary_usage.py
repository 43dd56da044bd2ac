"""Tokens and cost of the summaries of a run."""

from __future__ import annotations

from msgspec import Struct

from workbench.analysis.compaction_cost import Rates
from workbench.compaction.context import Context
from workbench.compaction.conversation import MessagesBody
from workbench.compaction.summary_request import Summary, SummaryRequest
from workbench.summarizers.driver import Run
from workbench.tokens.cost import MILLION


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
