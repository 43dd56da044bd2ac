"""Cost of a session: as recorded in its file, by known prices, and the part of it that cache misses cause.

An intact cache holds the whole prompt of the previous call, so the next call reads all of it and writes only new
tokens. Old tokens that it does not read are written again:

    written again = min(prompt before, prompt) − read from the cache

After a compaction the prompt is smaller than before, so the result is the unread part of the new prompt: the summary,
the kept tail, and perhaps system prompt and tools.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import fsum
from typing import Literal

from msgspec import Struct

from workbench.base.figures import dollars, grouped
from workbench.base.text import counted
from workbench.session import Billed, Message, Session, Usage
from workbench.tokens import first_call, overhead_at
from workbench.tokens.cost import MILLION, Rates, SpentDollars, rates_of, spent_on


class SessionCost(Struct, frozen=True):
    """Cost of a session in dollars. `recorded` is the file's own figure; `prompts` and `answers` are the recorded usage
    at the known prices, None if one is unknown. `missed`: savings on prompts with a perfect cache. `calls` counts
    the calls with recorded usage, `silent` the answers without; `replayed` counts calls of the session from which this
    one was forked. `by` is the source of the prices."""

    calls: int
    silent: int
    recorded: float | None
    prompts: float | None
    answers: float | None
    missed: float | None
    by: str = ""
    replayed: int = 0

    @property
    def here(self) -> float | None:
        """Cost of the recorded usage at the known prices."""
        return None if self.prompts is None or self.answers is None else self.prompts + self.answers

    def __str__(self) -> str:
        clauses = [] if self.recorded is None else [f"{dollars(self.recorded)} recorded"]
        if self.here is not None and self.prompts is not None and self.answers is not None:
            parts = f"prompts {dollars(self.prompts)}, answers {dollars(self.answers)}"
            clauses.append(f"{dollars(self.here)} by the prices of {self.by} ({parts})")
        if self.replayed:
            clauses.append(f"without {counted(self.replayed, 'call')} of the session it was forked from")
        return "; ".join([*clauses, *self.why])

    @property
    def why(self) -> tuple[str, ...]:
        """Reasons why the two figures differ by more than 2 %, or why the second is missing."""
        if self.recorded is None or (self.here is not None and abs(self.recorded - self.here) * 50 <= self.recorded):
            return ()
        if self.here is None:
            return ("some prices are unknown",)
        if not self.recorded:
            return ("the agent recorded no cost, as on a flat-rate plan",)
        silent = f", {counted(self.silent, 'answer')} without recorded usage" if self.silent else ""
        return (f"the agent used other prices, or counted calls that the file does not record{silent}",)


def session_cost(session: Session) -> SessionCost | None:
    """Return the cost of a session, all branches together; None without recorded cost or usage with known prices.
    Raises BadInput for a broken table of the user's."""
    answers = _answers(session)
    replayed = sum(message.usage is not None and message.usage.replayed for message in answers)
    billed = _billed_answers(answers)
    recorded = _recorded_cost(session, billed)
    silent = len(answers) - len(billed) - replayed
    spent = _spent_dollars(session, billed)
    if spent is None:
        return (
            None
            if recorded is None
            else SessionCost(len(billed), silent, recorded, None, None, None, replayed=replayed)
        )
    names = [message.model or session.model or "" for message, _ in billed]
    rates = {name: rates_of(name) for name in dict.fromkeys(names)}
    at_best, before = list[float](), 0
    for name, (_, usage) in zip(names, billed, strict=True):
        at_best.append(_cost_at_best(before, usage, rates[name]))
        before = usage.context
    missed = max(0.0, spent.prompts - fsum(at_best))
    return SessionCost(len(billed), silent, recorded, spent.prompts, spent.answers, missed, spent.by, replayed)


def session_dollars(session: Session) -> float | None:
    """Return the cost in dollars, recorded or by known prices; None if unknown. Raises BadInput for a broken table of
    the user's."""
    billed = _billed_answers(_answers(session))
    if (recorded := _recorded_cost(session, billed)) is not None:
        return recorded
    spent = _spent_dollars(session, billed)
    return None if spent is None else spent.prompts + spent.answers


def _answers(session: Session) -> list[Message]:
    copies = frozenset[int]().union(*(epoch.copies for epoch in session.epochs))
    return [
        message
        for index, message in enumerate(session.messages)
        if message.role == "assistant" and message.kind == "normal" and index not in copies
    ]


def _billed_answers(answers: Sequence[Message]) -> list[tuple[Message, Usage]]:
    usages = ((message, message.usage) for message in answers)
    return [(one, usage) for one, usage in usages if usage and not usage.replayed and (one.bill or usage.cost)]


def _recorded_cost(session: Session, billed: Sequence[tuple[Message, Usage]]) -> float | None:
    if session.facts.cost is not None:
        return session.facts.cost
    costs = [usage.cost for _, usage in billed if usage.cost is not None]
    return fsum(costs) if costs else None


def _spent_dollars(session: Session, billed: Sequence[tuple[Message, Usage]]) -> SpentDollars | None:
    return spent_on([_billed_usage(message, usage) for message, usage in billed], session.model)


def _billed_usage(message: Message, usage: Usage) -> Billed:
    return Billed(message.model, usage.input, usage.output, usage.cache_read, usage.cache_write)


def _cost_at_best(before: int, usage: Usage, rates: Rates) -> float:
    """Return the cost of a prompt if everything sent before is read from the cache and the rest is written."""
    read = min(before, usage.context)
    return (rates.read * read + rates.write * (usage.context - read)) / MILLION


RewriteCause = Literal["compaction", "model", "expiry", "start", "within"]

CAUSES: Mapping[RewriteCause, str] = {
    "compaction": "compaction",
    "model": "change of model",
    "expiry": "expired cache",
    "start": "system prompt or tools changed, or early cache loss",
    "within": "earlier messages changed, or partial early cache loss",
}
"""Causes in words. The first three follow from recorded facts. The others follow from the cache reads: less than
`FROM_START` of system prompt and tools (`start`), or these but not all of the rest (`within`)."""

LEAST, SHARE = 1_024, 0.05
"""Tokens, and share of the smaller of two prompts, above which unread tokens are a rewrite. Less is rounding: OpenAI
caches in blocks of 128 tokens, and other caches end at their last mark."""

CACHE_LIFE = 300.0
"""Seconds without use after which a cache may have expired if its life is not recorded: Anthropic's default, and about
OpenAI's."""

FROM_START = 0.5
"""Share of system prompt and tools below which a cache read means that the prompt changed from its start."""


class Rewrite(Struct, frozen=True):
    """Call that wrote `tokens` again. `call` numbers the session's own calls with recorded usage from 1, `message` is
    the answer's id, `seconds` passed since the previous call (None if a time is not recorded). `cost` is the extra cost
    of writing instead of reading them, in the unit of the rates."""

    call: int
    epoch: int
    message: str
    cause: RewriteCause
    tokens: int
    seconds: float | None
    cost: float


class CauseTotal(Struct, frozen=True):
    """Sum of the rewrites of one cause."""

    cause: RewriteCause
    calls: int
    tokens: int
    cost: float


class Rewrites(Struct, frozen=True):
    """Rewrites of a session. `calls` counts its own calls with recorded usage, `written` the tokens not read from the
    cache; `again` has the rewrites in order; `rates` name the unit of costs."""

    calls: int
    written: int
    again: tuple[Rewrite, ...]
    rates: Rates

    @property
    def by_cause(self) -> tuple[CauseTotal, ...]:
        """Totals of the causes that occur, in the order of `CAUSES`."""
        found = ((cause, [one for one in self.again if one.cause == cause]) for cause in CAUSES)
        return tuple(
            CauseTotal(cause, len(ones), sum(one.tokens for one in ones), fsum(one.cost for one in ones))
            for cause, ones in found
            if ones
        )

    @property
    def tokens(self) -> int:
        """Tokens written again."""
        return sum(one.tokens for one in self.again)

    @property
    def cost(self) -> float:
        """Extra cost of writing them."""
        return fsum(one.cost for one in self.again)

    def __str__(self) -> str:
        """`84 170 of 1 631 964 tokens in the whole session, $0.48 more than reading them`."""
        share = f"{grouped(self.tokens)} of {counted(self.written, 'token')} in the whole session"
        return f"{share}, {self.rates.words(self.cost)} more than reading them"


def rewrites(session: Session) -> Rewrites | None:
    """Return the rewrites of a session; None if its usage records no cache. Covers the live branch without calls that a
    fork replays. Raises BadInput for a broken table of models."""
    calls = list(_calls(session))
    if not any(call.usage.cache_read or call.usage.cache_write for call in calls):
        return None
    life = _cache_life(calls)
    rates: dict[str, Rates] = {}
    again: list[Rewrite] = []
    number = written = 0
    before: _CachedCall | None = None
    for call in calls:
        if before is not None and before.usage.cache_life:
            life = float(before.usage.cache_life)
        if call.usage.replayed:
            before = call
            continue
        number += 1
        written += call.usage.context - call.usage.cache_read
        if before is not None and (tokens := _rewritten_tokens(before, call)):
            own = rates.setdefault(call.model, rates_of(call.model))
            cost = tokens * (own.write - own.read) / MILLION
            cause, seconds = _cause(before, call, life), _seconds(before, call)
            again.append(Rewrite(number, call.epoch, call.message.id, cause, tokens, seconds, cost))
        before = call
    return Rewrites(number, written, tuple(again), rates_of(session.model))


class _CachedCall(Struct, frozen=True):
    """Call with its usage. `opens`: the first call of an epoch after a compaction; `overhead`: approximate tokens of
    system prompt and tools in its epoch, 0 if unknown."""

    message: Message
    usage: Usage
    model: str
    epoch: int
    opens: bool
    overhead: int


def _calls(session: Session) -> Iterator[_CachedCall]:
    """Yield every call with usage, in the first epoch that holds its answer."""
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
            yield _CachedCall(message, usage, message.model or session.model or "", epoch.number, opens, overhead)
            opens = False
        seen.update(epoch.members)


def _rewritten_tokens(before: _CachedCall, call: _CachedCall) -> int:
    """Return the tokens of the previous prompt that a call did not read from the cache; 0 below `LEAST` or `SHARE`."""
    readable = min(before.usage.context, call.usage.context)
    tokens = readable - call.usage.cache_read
    return tokens if tokens > max(LEAST, SHARE * readable) else 0


def _cause(before: _CachedCall, call: _CachedCall, life: float) -> RewriteCause:
    """Return the cause; `life` is the time without use after which the cache may have expired, in seconds."""
    if call.opens:
        return "compaction"
    if call.model != before.model:
        return "model"
    seconds = _seconds(before, call)
    if seconds is not None and seconds > life:
        return "expiry"
    return "start" if call.usage.cache_read < FROM_START * call.overhead else "within"


def _seconds(before: _CachedCall, call: _CachedCall) -> float | None:
    if before.message.time is None or call.message.time is None:
        return None
    return max(0.0, call.message.time - before.message.time)


def _cache_life(calls: list[_CachedCall]) -> float:
    """Return the cache life in seconds: the longest pause after which a call still read the previous prompt, because an
    agent may pay for an hour; at least `CACHE_LIFE`. `CACHE_LIFE` if no cache write is recorded, because the provider
    then decides.
    """
    if not any(call.usage.cache_write for call in calls):
        return CACHE_LIFE
    whole = (pair for pair in pairwise(calls) if pair[1].usage.cache_read and not _rewritten_tokens(*pair))
    return max([CACHE_LIFE, *(_seconds(one, two) or 0.0 for one, two in whole)])
