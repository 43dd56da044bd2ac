"""What calls may cost together: each is held against the limit before it is sent, at the most that it can be billed.

That most is the request as it is counted here, at the price of what nothing is in a cache of yet, and an answer of all
the tokens that it may have. What is billed takes its place; of a call that broke off without a bill the most stays.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from math import fsum

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.user_settings import most_dollars
from workbench.compaction.strategy import SummaryRequest
from workbench.session import Usage
from workbench.summarizers.connections import Connection
from workbench.summarizers.protocols.cache_marks import goes_on
from workbench.tokens.cost import actual, money

HAIR = 1e-9
"""Dollars that sums of floats may be off."""


class TooDear(BadInput):
    """What is to be sent could cost more than it may."""


@dataclass(slots=True)
class Bill:
    """What a call cost, in dollars: the most that it can have, until more is known."""

    paid: float


@dataclass(slots=True)
class Purse:
    """`limit` in dollars, None for none; `spent` is what was billed so far. For one event loop at a time."""

    limit: float | None = None
    spent: float = 0.0
    _held: list[float] = field(default_factory=list)
    _waiting: list[asyncio.Future[None]] = field(default_factory=list)

    def check(self, most: float | None, model: str) -> None:
        """Whether calls that may be billed `most` dollars can be made; None is a price that nobody knows. Raises
        TooDear."""
        if self.limit is None:
            return
        if most is None:
            raise TooDear(
                f"What {model} costs is not known, so that it cannot be kept below {money(self.limit)}; write its "
                f"prices into {paths.models()}, or lift the limit (--max-cost none)."
            )
        if self.spent + most > self.limit + HAIR:
            so_far = f" beside the {money(self.spent)} that are spent" if self.spent else ""
            raise TooDear(
                f"This may cost {money(most)}{so_far}, more than {money(self.limit)}; raise --max-cost, or max_cost "
                f"in {paths.settings()}."
            )

    @asynccontextmanager
    async def held(self, most: float | None, model: str) -> AsyncIterator[Bill]:
        """A call, for which so much is held back until its bill is there; it waits for calls under way where these hold
        what it needs. Raises TooDear."""
        while True:
            self.check(most, model)
            if self.limit is None or self.spent + fsum(self._held) + (most or 0.0) <= self.limit + HAIR:
                break
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
        bill = Bill(most or 0.0)
        self._held.append(most or 0.0)
        try:
            yield bill
        finally:
            self._held.remove(most or 0.0)
            self.spent += bill.paid
            for turn in self._waiting:
                if not turn.done():
                    turn.set_result(None)
            self._waiting.clear()


def usual_purse() -> Purse:
    """One with the limit of the settings. Raises BadInput for broken ones."""
    return Purse(most_dollars(paths.settings()))


@dataclass(frozen=True, slots=True)
class Spending:
    """A purse, and how a text's tokens are counted for it."""

    purse: Purse
    tokens: Callable[[str], int]

    def most(self, request: SummaryRequest, model: str, whom: Connection, written: int) -> float | None:
        """What a request can be billed, None where a price is not known. Renders and counts it where there is a limit:
        not for an event loop."""
        if self.purse.limit is None:
            return 0.0
        return actual(billed_as(request, whom, self.tokens(request.text), written), model).dollars

    def paid(self, most: float, usage: Usage | None, heard: str, model: str, *, refused: bool) -> float:
        """What an attempt has cost of which `usage` and `heard` came. What a server `refused` it does not bill."""
        if self.purse.limit is None:
            return 0.0
        if usage is None:
            return 0.0 if refused else most
        written = usage.output if usage.output_final else max(usage.output, self.tokens(heard))
        cost = actual(replace(usage, output=written), model).dollars
        return most if cost is None else cost


FREE = Spending(Purse(), len)
"""Without a limit, for which nothing is counted."""


def billed_as(request: SummaryRequest, whom: Connection | None, tokens: int, written: int) -> Usage:
    """What a request of so many tokens is billed as where nothing of it is in a cache: what is marked for the cache is
    written to it."""
    marks = whom is not None and whom.protocol == "messages" and goes_on(request)
    return Usage(output=written, cache_write=tokens) if marks else Usage(tokens, written)
