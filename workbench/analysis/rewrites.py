"""Tokens written to the prompt cache again, by cause, from the recorded usage of the session's own calls.

A cache that nothing breaks holds the whole prompt of the call before, so the next call reads all of that and writes
only what is new. What it reads less was written again:

    written again = min(prompt before, prompt) − read from the cache

After a compaction the prompt is smaller than the one before, so that this is all of the new prompt which was not read:
the summary, what was kept behind it, and system prompt and tools where they were written again, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from math import fsum
from typing import Literal

from msgspec import Struct

from workbench.analysis.cache import Rates, rates_of
from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.session import Message, Session, Usage
from workbench.tokens import first_call, overhead_at
from workbench.tokens.cost import MILLION

Cause = Literal["compaction", "model", "expiry", "start", "within"]

CAUSES: Mapping[Cause, str] = {
    "compaction": "compaction",
    "model": "change of model",
    "expiry": "expired cache",
    "start": "system prompt or tools changed, or early cache loss",
    "within": "earlier messages changed, or partial early cache loss",
}
"""In words. The first three are recorded; for the others it is known only how much of the prompt was read: nothing of
system prompt and tools, or these and not all behind them."""

LEAST, SHARE = 1_024, 0.05
"""A rewrite is a call that leaves more unread than this number of tokens and this share of the smaller of two prompts.
Less is rounding: OpenAI caches in blocks of 128 tokens, and a cache reaches to its last mark."""

LIFE = 300.0
"""Seconds without use after which a cache may be gone where its life is not recorded: Anthropic's by default, and about
OpenAI's."""

FROM_START = 0.5
"""A call that reads less than this share of system prompt and tools was sent anew from its start."""


class Rewrite(Struct, frozen=True):
    """One call that wrote `tokens` again. `call` numbers the session's own calls with recorded usage from 1, `message`
    is the answer's id, `seconds` went by since the call before (None where a time is not recorded). `cost` is what
    writing costs more than reading, in the unit of the rates.
    """

    call: int
    epoch: int
    message: str
    cause: Cause
    tokens: int
    seconds: float | None
    cost: float


class Share(Struct, frozen=True):
    """All that was written again for one cause."""

    cause: Cause
    calls: int
    tokens: int
    cost: float


class Rewrites(Struct, frozen=True):
    """Rewrites of a session. `calls` counts its own calls with recorded usage, `written` the tokens that they did not
    read from the cache; `again` holds a rewrite for each call that wrote again; `rates` name the unit of costs."""

    calls: int
    written: int
    again: tuple[Rewrite, ...]
    rates: Rates

    @property
    def by_cause(self) -> tuple[Share, ...]:
        """The causes that occur, in the order of `CAUSES`."""
        found = ((cause, [one for one in self.again if one.cause == cause]) for cause in CAUSES)
        return tuple(
            Share(cause, len(ones), sum(one.tokens for one in ones), fsum(one.cost for one in ones))
            for cause, ones in found
            if ones
        )

    @property
    def tokens(self) -> int:
        return sum(one.tokens for one in self.again)

    @property
    def cost(self) -> float:
        return fsum(one.cost for one in self.again)

    def __str__(self) -> str:
        """`84 170 of 1 631 964 tokens in the whole session, $0.48 more than reading them`."""
        share = f"{grouped(self.tokens)} of {counted(self.written, 'token')} in the whole session"
        return f"{share}, {self.rates.words(self.cost)} more than reading them"


def rewrites(session: Session) -> Rewrites | None:
    """Return the rewrites of a session; None where its usage records no cache. The calls are those of the live branch;
    calls that a fork replays belong to the session that it was forked from. Raises BadInput for a broken table of
    models."""
    calls = list(_calls(session))
    if not any(call.usage.cache_read or call.usage.cache_write for call in calls):
        return None
    life = _outlived(calls)
    rates: dict[str, Rates] = {}
    again: list[Rewrite] = []
    number = written = 0
    before: _Call | None = None
    for call in calls:
        if before is not None and before.usage.cache_life:
            life = float(before.usage.cache_life)
        if call.usage.replayed:
            before = call
            continue
        number += 1
        written += call.usage.context - call.usage.cache_read
        if before is not None and (tokens := _missed(before, call)):
            own = rates.setdefault(call.model, rates_of(call.model))
            cost = tokens * (own.write - own.read) / MILLION
            cause, seconds = _cause(before, call, life), _seconds(before, call)
            again.append(Rewrite(number, call.epoch, call.message.id, cause, tokens, seconds, cost))
        before = call
    return Rewrites(number, written, tuple(again), rates_of(session.model))


class _Call(Struct, frozen=True):
    """A call with its usage. `opens`: it is the first of an epoch that a compaction began; `overhead` are the tokens of
    system prompt and tools in its epoch, about, 0 where that is not known."""

    message: Message
    usage: Usage
    model: str
    epoch: int
    opens: bool
    overhead: int


def _calls(session: Session) -> Iterator[_Call]:
    """Every call with a bill, in the first epoch that holds its answer."""
    seen: set[int] = set()
    for epoch in session.epochs:
        seen |= epoch.copies
        messages = session.context(epoch.number)
        first = first_call(messages, session.model)
        opens = epoch.number > 1
        overhead = overhead_at(first, messages, session.model) if first else 0
        for member, message in zip(epoch.members, messages, strict=True):
            usage = message.usage
            if member in seen or usage is None or message.role != "assistant" or not message.bill:
                continue
            yield _Call(message, usage, message.model or session.model or "", epoch.number, opens, overhead)
            opens = False
        seen.update(epoch.members)


def _missed(before: _Call, call: _Call) -> int:
    """Tokens that a call would have read from a cache which held the prompt before it, and did not."""
    held = min(before.usage.context, call.usage.context)
    tokens = held - call.usage.cache_read
    return tokens if tokens > max(LEAST, SHARE * held) else 0


def _cause(before: _Call, call: _Call, life: float) -> Cause:
    """`life` are the seconds without use after which the cache may be gone."""
    if call.opens:
        return "compaction"
    if call.model != before.model:
        return "model"
    seconds = _seconds(before, call)
    if seconds is not None and seconds > life:
        return "expiry"
    return "start" if call.usage.cache_read < FROM_START * call.overhead else "within"


def _seconds(before: _Call, call: _Call) -> float | None:
    if before.message.time is None or call.message.time is None:
        return None
    return max(0.0, call.message.time - before.message.time)


def _outlived(calls: list[_Call]) -> float:
    """The longest time without use after which a call still read the prompt before it, `LIFE` at least: a cache that is
    paid for an hour lives longer. `LIFE` where no write is recorded: then a provider keeps caches as long as it likes.
    """
    if not any(call.usage.cache_write for call in calls):
        return LIFE
    whole = (pair for pair in pairwise(calls) if pair[1].usage.cache_read and not _missed(*pair))
    return max([LIFE, *(_seconds(one, two) or 0.0 for one, two in whole)])
