"""Cost estimate of a run, request by request, before anything is sent."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.bench import Bench
from workbench.compaction.summary_request import Summary, SummaryRequest
from workbench.summarizers.by_name import SummarizerName
from workbench.summarizers.call_limits import CallLimits, limits_of
from workbench.summarizers.driver import Run
from workbench.summarizers.spend_limit import uncached_usage
from workbench.tokens.cost import Cost, actual
from workbench.tokens.sizes import Meter


@dataclass(frozen=True)
class RequestCost:
    """Cost estimate of one request. `chars` and `tokens`: size of the request. `expected` and `most`: tokens of the
    answer. `cost` and `at_most`: cost of request and answer, with `expected` and with `most` tokens."""

    request: SummaryRequest
    chars: int
    tokens: int
    expected: int
    most: int
    cost: Cost
    at_most: Cost


def request_costs(bench: Bench, name: SummarizerName) -> tuple[RequestCost, ...]:
    """Estimate each request of the bench's plan. Renders and counts the requests, so call it in a thread."""
    return request_costs_of(bench.plan.run, bench.layout.sizes.meter, name)


def request_costs_of(run: Run, meter: Meter, name: SummarizerName) -> tuple[RequestCost, ...]:
    """Estimate each request of a run driven with estimated answers. Assumes that no prompt is cached. Raises BadInput
    for a broken user table of models."""
    model, connection = name.model, name.connection if name.model else None
    longest = limits_of(connection).max_output if connection else CallLimits().max_output
    estimates = []
    for request, answer in zip(run.requests, run.answers, strict=True):
        tokens = meter.text_tokens(request.text)
        words = answer.text if isinstance(answer, Summary) else ""
        most = request.max_output_tokens or longest
        expected = min(meter.text_tokens(words), most)
        cost, at_most = (actual(uncached_usage(request, connection, tokens, n), model) for n in (expected, most))
        estimates.append(RequestCost(request, len(request.text), tokens, expected, most, cost, at_most))
    return tuple(estimates)
