"""Spend limit of a run: each call reserves its maximum cost before it is sent.

The maximum is the locally counted request at the uncached price, plus an answer of all allowed tokens. The actual cost
replaces it; a call that broke off without usage keeps the maximum.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from math import fsum, inf

from msgspec import Struct

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.figures import exact_dollars
from workbench.base.user_settings import read_spend_limit
from workbench.compaction.summary_request import SummaryRequest
from workbench.session import Usage
from workbench.summarizers.connections import Connection
from workbench.summarizers.protocols.cache_marks import continues_conversation
from workbench.summarizers.time_limits import paused_clocks
from workbench.tokens.cost import actual

FLOAT_SLACK = 1e-9
"""Tolerance for sums of floats, in dollars."""


AskUser = Callable[[str], Awaitable[bool]]
"""Asks the user whether to send a request in spite of the problem in the sentence."""


class SpendLimitExceeded(BadInput):
    """Raised for a request that could exceed the limit. `what` is the problem without the remedy."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}; {remedy}.")
        self.what = what


@dataclass(slots=True)
class CallCost:
    """Cost of a call in dollars: the maximum until the actual cost is known."""

    dollars: float


@dataclass(slots=True)
class SpendLimit:
    """Spend limit: `limit` in dollars, None for none; `spent` is the cost so far. For one event loop at a time.

    With `ask`, the user is asked about a request beyond the limit. A yes raises the limit just enough; a no applies to
    all further requests. A yes for a model without a known price applies to that model only, for all its calls in this
    run (`unpriced`), because later calls would not be better known. Each run has its own spend limit and asks again.
    """

    limit: float | None = None
    spent: float = 0.0
    ask: AskUser | None = None
    asking: bool = False
    """A question to the user is open."""
    unpriced: set[str] = field(default_factory=set)
    _reserved: list[float] = field(default_factory=list)
    _waiting: list[asyncio.Future[None]] = field(default_factory=list)

    def check(self, maximum: float | None, model: str) -> None:
        """Check that a cost of at most `maximum` dollars fits; None is an unknown price. Raises SpendLimitExceeded."""
        if self.limit is None or (maximum is None and model in self.unpriced):
            return
        if maximum is None:
            raise SpendLimitExceeded(
                f"The price of {model} is unknown, so the limit of {exact_dollars(self.limit)} cannot be checked",
                f"write its prices into {paths.models()}, or lift the limit (--max-cost none)",
            )
        if self.spent + maximum > self.limit + FLOAT_SLACK:
            so_far = f" on top of {exact_dollars(self.spent)} spent" if self.spent else ""
            cost, limit = exact_dollars(maximum), exact_dollars(self.limit)
            slightly = "slightly " if not self.spent and cost == limit else ""
            raise SpendLimitExceeded(
                f"This may cost {cost}{so_far}, {slightly}more than {limit}",
                f"raise --max-cost, or max_cost in {paths.settings()}",
            )

    async def allow(self, maximum: float | None, model: str) -> None:
        """Check like `check`, and ask the user if the limit is exceeded."""
        while True:
            try:
                self.check(maximum, model)
                return
            except SpendLimitExceeded as exceeded:
                if self.ask is None:
                    raise
                if self.asking:  # one question at a time: its answer may settle this one
                    await self._wait_for_others()
                else:
                    await self._ask_user(self.ask, exceeded, maximum, model)

    async def _ask_user(self, ask: AskUser, exceeded: SpendLimitExceeded, maximum: float | None, model: str) -> None:
        spent = self.spent
        self.asking = True
        try:
            if not await ask(exceeded.what):
                self.ask = None
                raise exceeded
            if maximum is None:
                self.unpriced.add(model)
            else:
                self.limit = spent + maximum
        finally:
            self.asking = False
            self._wake()

    async def _wait_for_others(self) -> None:
        """Wait until another call has its cost, or another question its answer."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        await turn

    def _wake(self) -> None:
        for turn in self._waiting:
            if not turn.done():
                turn.set_result(None)
        self._waiting.clear()

    @asynccontextmanager
    async def reserve(self, maximum: float | None, model: str) -> AsyncIterator[CallCost]:
        """Reserve `maximum` dollars for a call until its cost is known. Waits for running calls that hold the needed
        amount, with the call's time limits paused. Raises SpendLimitExceeded."""
        with paused_clocks():
            while True:
                await self.allow(maximum, model)
                if (
                    self.limit is None
                    or maximum is None
                    or self.spent + fsum(self._reserved) + maximum <= self.limit + FLOAT_SLACK
                ):
                    break
                await self._wait_for_others()
        bill = CallCost(maximum or 0.0)
        self._reserved.append(maximum or 0.0)
        try:
            yield bill
        finally:
            self._reserved.remove(maximum or 0.0)
            # A negative or non-finite cost would lift the limit for later calls.
            self.spent += bill.dollars if 0.0 <= bill.dollars < inf else maximum or 0.0
            self._wake()


def default_spend_limit() -> SpendLimit:
    """Return the spend limit of the settings. Raises BadInput for broken settings."""
    return SpendLimit(read_spend_limit(paths.settings()))


class Spending(Struct, frozen=True):
    """Spend limit of a run, and the function that counts a text's tokens for it."""

    spend_limit: SpendLimit
    tokens: Callable[[str], int]

    def max_cost(self, request: SummaryRequest, model: str, connection: Connection, written: int) -> float | None:
        """Return the maximum cost of a request in dollars, None if the price is unknown. Renders and counts the text if
        there is a limit: not for the event loop."""
        if self.spend_limit.limit is None:
            return 0.0
        return actual(uncached_usage(request, connection, self.tokens(request.text), written), model).dollars

    def attempt_cost(self, maximum: float, usage: Usage | None, written: str, model: str, *, refused: bool) -> float:
        """Return the cost of an attempt with this `usage` and the received text `written`, thinking included. Without
        usage it is `maximum`, or nothing if the server `refused` the request."""
        if self.spend_limit.limit is None:
            return 0.0
        if usage is None:
            return 0.0 if refused else maximum
        output = usage.output if usage.output_final else max(usage.output, self.tokens(written))
        cost = actual(replace(usage, output=output), model).dollars
        return maximum if cost is None else cost


UNLIMITED = Spending(SpendLimit(), len)
"""No limit; nothing is counted."""


def uncached_usage(request: SummaryRequest, connection: Connection | None, tokens: int, written: int) -> Usage:
    """Return the usage of a request if nothing of it is cached; a request with cache marks writes all of it to the
    cache."""
    marks = connection is not None and connection.protocol == "messages" and continues_conversation(request)
    return Usage(output=written, cache_write=tokens) if marks else Usage(tokens, written)
