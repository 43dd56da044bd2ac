"""What the summaries of a run take, in tokens and in money."""

from __future__ import annotations

from msgspec import Struct

from workbench.analysis.cache import Rates
from workbench.compaction.context import Context
from workbench.compaction.conversation import MessagesBody
from workbench.compaction.summary_request import Summary, SummaryRequest
from workbench.summarizers.driver import Run
from workbench.tokens.cost import MILLION


class Spent(Struct, frozen=True):
    """What the summaries of a run take, about: the requests, and the tokens read and written for them. `cached` of
    those read come from the prompt cache, because the agent's last call had begun with them."""

    calls: int
    read: int
    written: int
    cached: int = 0

    def cost(self, rates: Rates) -> float:
        """In the rates' unit."""
        fresh = self.read - self.cached
        return (fresh * rates.input + self.cached * rates.read + self.written * rates.output) / MILLION


def spent(context: Context, run: Run, fresh: int = 0) -> Spent:
    """What a run over `context` takes, of which `fresh` tokens came after the agent's last call and are in no cache."""
    meter = context.layout.sizes.meter
    written = sum(meter.text_tokens(answer.text) for answer in run.answers if isinstance(answer, Summary))
    known = context.total.tokens - fresh
    cached = sum(min(_shared(context, request), known) for request in run.requests)
    return Spent(len(run.requests), sum(_request_tokens(context, request) for request in run.requests), written, cached)


def _shared(context: Context, request: SummaryRequest) -> int:
    """How many tokens of a request's beginning are those of the context's own calls."""
    body = request.body
    if not isinstance(body, MessagesBody) or body.shape != "messages":
        return 0
    both = zip(body.messages, context.messages, strict=False)
    alike = next((at for at, (sent, had) in enumerate(both) if sent is not had), len(body.messages))
    return context.layout.sizes.overhead + context.layout.tokens[alike]


def _request_tokens(context: Context, request: SummaryRequest) -> int:
    """About what a request is long, unrendered. Of a text the tokens of the characters that it shows, as dense as the
    context's are, its prompt and its tools; of a conversation what its messages, system prompt and tools count there.
    """
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
    beside = (request.prompt, request.previous, *(tool.schema for tool in request.tools))
    return round(request.chars * dense) + sum(map(meter.text_tokens, beside))
