"""What calls may cost together: each is held against the limit before it is sent, at the most that it can be billed.

That most is the request as it is counted here, at the price of what nothing is in a cache of yet, and an answer of all
the tokens that it may have. What is billed takes its place; of a call that broke off without a bill the most stays.
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
"""Dollars that sums of floats may be off."""


AskUser = Callable[[str], Awaitable[bool]]
"""Puts to a person whether what the sentence tells of is to be sent all the same."""


class SpendLimitExceeded(BadInput):
    """What is to be sent could cost more than it may: `what`, without the remedy."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}; {remedy}.")
        self.what = what


@dataclass(slots=True)
class CallCost:
    """What a call cost, in dollars: the most that it can have, until more is known."""

    paid: float


@dataclass(slots=True)
class SpendLimit:
    """`limit` in dollars, None for none; `spent` is what was billed so far. For one event loop at a time.

    Where there is somebody to `ask`, what could cost more is asked for: a yes raises the limit to just that, a no is
    for all that follows. A yes for a model whose price is not known is for that model alone, which is then `unpriced`:
    the limit stays what it is for every other. It covers all calls of that model in this run, since nothing would be
    known at the next one that was not known at the first; each run has a purse of its own, which asks again."""

    limit: float | None = None
    spent: float = 0.0
    ask: AskUser | None = None
    asking: bool = False
    """A person is being asked now."""
    unpriced: set[str] = field(default_factory=set)
    _held: list[float] = field(default_factory=list)
    _waiting: list[asyncio.Future[None]] = field(default_factory=list)

    def check(self, most: float | None, model: str) -> None:
        """Whether calls that may be billed `most` dollars can be made; None is a price that nobody knows. Raises
        TooDear."""
        if self.limit is None or (most is None and model in self.unpriced):
            return
        if most is None:
            raise SpendLimitExceeded(
                f"The price of {model} is unknown, so the limit of {exact_dollars(self.limit)} cannot be checked",
                f"write its prices into {paths.models()}, or lift the limit (--max-cost none)",
            )
        if self.spent + most > self.limit + FLOAT_SLACK:
            so_far = f" on top of {exact_dollars(self.spent)} spent" if self.spent else ""
            cost, limit = exact_dollars(most), exact_dollars(self.limit)
            slightly = "slightly " if not self.spent and cost == limit else ""
            raise SpendLimitExceeded(
                f"This may cost {cost}{so_far}, {slightly}more than {limit}",
                f"raise --max-cost, or max_cost in {paths.settings()}",
            )

    async def allow(self, most: float | None, model: str) -> None:
        """The same, but a person may say that it is to be sent all the same."""
        while True:
            try:
                self.check(most, model)
                return
            except SpendLimitExceeded as dear:
                if self.ask is None:
                    raise
                if self.asking:  # one question at a time: what it is answered may answer this one
                    await self._others()
                else:
                    await self._ask(self.ask, dear, most, model)

    async def _ask(self, ask: AskUser, dear: SpendLimitExceeded, most: float | None, model: str) -> None:
        spent = self.spent
        self.asking = True
        try:
            if not await ask(dear.what):
                self.ask = None
                raise dear
            if most is None:
                self.unpriced.add(model)
            else:
                self.limit = spent + most
        finally:
            self.asking = False
            self._wake()

    async def _others(self) -> None:
        """Until another call has its bill, or another question its answer."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        await turn

    def _wake(self) -> None:
        for turn in self._waiting:
            if not turn.done():
                turn.set_result(None)
        self._waiting.clear()

    @asynccontextmanager
    async def held(self, most: float | None, model: str) -> AsyncIterator[CallCost]:
        """A call, for which so much is held back until its bill is there; it waits for calls under way where these hold
        what it needs, and its clocks with it. Raises TooDear."""
        with paused_clocks():
            while True:
                await self.allow(most, model)
                if (
                    self.limit is None
                    or most is None
                    or self.spent + fsum(self._held) + most <= self.limit + FLOAT_SLACK
                ):
                    break
                await self._others()
        bill = CallCost(most or 0.0)
        self._held.append(most or 0.0)
        try:
            yield bill
        finally:
            self._held.remove(most or 0.0)
            # A bill below nothing, or of no number, would lift the limit for all that follows.
            self.spent += bill.paid if 0.0 <= bill.paid < inf else most or 0.0
            self._wake()


def default_spend_limit() -> SpendLimit:
    """One with the limit of the settings. Raises BadInput for broken ones."""
    return SpendLimit(read_spend_limit(paths.settings()))


class Spending(Struct, frozen=True):
    """A purse, and how a text's tokens are counted for it."""

    purse: SpendLimit
    tokens: Callable[[str], int]

    def most(self, request: SummaryRequest, model: str, whom: Connection, written: int) -> float | None:
        """What a request can be billed, None where a price is not known. Renders and counts it where there is a limit:
        not for an event loop."""
        if self.purse.limit is None:
            return 0.0
        return actual(uncached_usage(request, whom, self.tokens(request.text), written), model).dollars

    def paid(self, most: float, usage: Usage | None, written: str, model: str, *, refused: bool) -> float:
        """What an attempt has cost of which `usage` came and what was `written`, thoughts included. What a server
        `refused` it does not bill."""
        if self.purse.limit is None:
            return 0.0
        if usage is None:
            return 0.0 if refused else most
        output = usage.output if usage.output_final else max(usage.output, self.tokens(written))
        cost = actual(replace(usage, output=output), model).dollars
        return most if cost is None else cost


UNLIMITED = Spending(SpendLimit(), len)
"""Without a limit, for which nothing is counted."""


def uncached_usage(request: SummaryRequest, whom: Connection | None, tokens: int, written: int) -> Usage:
    """What a request of so many tokens is billed as where nothing of it is in a cache: what is marked for the cache is
    written to it."""
    marks = whom is not None and whom.protocol == "messages" and continues_conversation(request)
    return Usage(output=written, cache_write=tokens) if marks else Usage(tokens, written)
