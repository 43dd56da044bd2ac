"""Compact a context, synchronously or async, and tell whether compaction is due."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from workbench.api.results import Compacted, Due, M, Report, messages_after
from workbench.api.sources import Messages, SourceSession, list_of, positions, read_source, return_messages
from workbench.api.summarize import AsyncSummarize, Summarize, answer_with, await_with
from workbench.base.errors import BadInput
from workbench.compaction.checks import check
from workbench.compaction.context import Context
from workbench.compaction.language import Language
from workbench.compaction.ledger.plan import ledger_text
from workbench.compaction.ledger.text import read_ledger
from workbench.compaction.opening import context_at, epoch_of
from workbench.compaction.outcome import NewMessage, Outcome
from workbench.compaction.policy import Policy, explain
from workbench.compaction.preset import default_preset, load_preset, preset_for_version
from workbench.compaction.strategies import DEFAULT
from workbench.compaction.strategies import strategy as strategy_by_id
from workbench.compaction.strategy import Compacting, Strategy
from workbench.formats.format import no_progress
from workbench.session import Session
from workbench.summarizers.driver import drive, run
from workbench.summarizers.extractive import extractive
from workbench.summarizers.summarizer import in_thread
from workbench.tokens import Counter, to_weigh

Pins = str | Collection[str] | Callable[[Any], bool]
"""Ids of messages to keep, or a function that returns True for a message (as the caller passed it) to keep."""


def context(
    source: Session | Messages,
    *,
    epoch: int | None = None,
    pins: Pins = (),
    window: int | None = None,
    model: str | None = None,
    system: Any = None,
    tools: Iterable[Any] | None = None,
) -> Context:
    """Return the context that the model sees: of an epoch of a session (from 1; default: the last), or of messages.

    Every message's tokens are counted, offline. `pins` are ids of messages to keep (`m1`, `m2`, … for plain messages),
    or a function of a message; `window` is the context window in tokens, by default that of the session or of the table
    of models. `model`, `system` (a text or blocks) and `tools` (definitions) are sent with the messages and counted.
    `len` of the result is its number of messages, `total` its size, `size(start, stop)` that of a range. Raises
    BadInput for messages of an unknown style and for a missing epoch or id.
    """
    return _context(read_source(source, model=model, system=system, tools=tools), epoch, pins, window)


def should_compact(
    source: Session | Messages,
    strategy: str = DEFAULT,
    *,
    preset: str = "",
    epoch: int | None = None,
    window: int | None = None,
    model: str | None = None,
    system: Any = None,
    tools: Iterable[Any] | None = None,
    **fields: Any,
) -> Due:
    """Tell whether the triggers of a preset, or of a strategy with these fields, fire now. The arguments are those of
    `compact`; a trigger that is a share of the window needs `window`, or a `model` whose window is known."""
    chosen = _choose(source, strategy, preset, fields, has_model=True)
    now = context(source, epoch=epoch, window=window, model=model, system=system, tools=tools).with_(manual=False)
    triggers = chosen.strategy.read_triggers(now, chosen.policy)
    idle = chosen.strategy.idle(chosen.policy)
    reasons = [str(trigger) for trigger in triggers if trigger.fires] or [str(trigger) for trigger in triggers]
    return Due(() if idle else triggers, now.total, idle or "; ".join(reasons) or "no trigger is set")


def compact(
    source: Session | Mapping[str, Any] | Sequence[M],
    strategy: str = DEFAULT,
    *,
    preset: str = "",
    budget_tokens: int | None = None,
    budget_chars: int | None = None,
    pins: Pins = (),
    epoch: int | None = None,
    window: int | None = None,
    model: str | None = None,
    system: Any = None,
    tools: Iterable[Any] | None = None,
    summarize: Summarize | None = None,
    **fields: Any,
) -> Compacted[M]:
    """Compact now, regardless of triggers. The source is unchanged; the same arguments give the same result.

    `preset` names a strategy with its settings; `fields` change single settings, as do the budgets (`budget_tokens`,
    `budget_chars`: of the complete result). Without `summarize` no model is asked: the ledger omits its narrative, any
    other strategy uses an extractive summary. The other arguments are those of `context`. Raises BadInput for unknown
    names and values out of range, never for the outcome: see the report's `status`, `reason` and `failed`.
    """
    fields |= {"budget_tokens": budget_tokens, "budget_chars": budget_chars}
    chosen = _choose(source, strategy, preset, fields, has_model=summarize is not None)
    known = read_source(source, model=model, system=system, tools=tools)
    now = _context(known, epoch, pins, window)
    outcome = drive(chosen.compacting(now), answer_with(summarize) if summarize else extractive).outcome
    return _result(known, now, chosen, outcome, epoch)


async def acompact(
    source: Session | Mapping[str, Any] | Sequence[M],
    strategy: str = DEFAULT,
    *,
    preset: str = "",
    budget_tokens: int | None = None,
    budget_chars: int | None = None,
    pins: Pins = (),
    epoch: int | None = None,
    window: int | None = None,
    model: str | None = None,
    system: Any = None,
    tools: Iterable[Any] | None = None,
    summarize: AsyncSummarize | None = None,
    **fields: Any,
) -> Compacted[M]:
    """Compact as `compact` does, with a `summarize` that may be async. Counting and cutting run in a thread, off the
    event loop; cancelling changes nothing."""
    fields |= {"budget_tokens": budget_tokens, "budget_chars": budget_chars}
    chosen = _choose(source, strategy, preset, fields, has_model=summarize is not None)
    known = read_source(source, model=model, system=system, tools=tools)
    now = await asyncio.to_thread(_context, known, epoch, pins, window)
    summarizer = await_with(summarize) if summarize else in_thread(extractive)
    outcome = (await run(chosen.compacting(now), summarizer)).outcome
    return await asyncio.to_thread(_result, known, now, chosen, outcome, epoch)


def summary(
    source: Session | Messages, budget_tokens: int = 2_000, *, epoch: int | None = None, language: Language = "en"
) -> str:
    """Return the ledger of all messages as a text of at most `budget_tokens` tokens, for callers that only need a
    summary. No model is asked. Raises BadInput as `context` does."""
    return ledger_text(context(source, epoch=epoch), budget_tokens, language)


@dataclass(frozen=True)
class _StrategyChoice:
    """A strategy with its policy."""

    strategy: Strategy[Any]
    policy: Policy

    def compacting(self, now: Context) -> Compacting:
        return self.strategy.run(now, self.policy)


def _choose(source: Any, strategy: str, preset: str, fields: Mapping[str, Any], *, has_model: bool) -> _StrategyChoice:
    """Return the strategy and its policy. Without a model (`has_model`), the strategy's offline settings apply. Unread
    messages of a running agent are kept even if the preset's product would summarize them, because the agent has yet to
    read them; a recorded session is compacted as the product does."""
    found = load_preset(preset) if preset else default_preset(strategy)
    found = preset_for_version(found, source) if isinstance(source, Session) else found
    one = strategy_by_id(found.strategy)
    changes = {} if has_model else dict(one.offline_settings)
    if not isinstance(source, Session) and getattr(found.policy, "unread", "") == "summarize":
        changes["unread"] = "keep"
    changes |= {name: value for name, value in fields.items() if value is not None}
    try:
        return _StrategyChoice(one, found.policy.with_(**changes))
    except ValidationError as error:
        raise BadInput(f"{found.strategy}: {explain(error)}") from None


def _context(known: SourceSession, epoch: int | None, pins: Pins, window: int | None) -> Context:
    if window is not None and not (isinstance(window, int) and window > 0):
        raise BadInput(f"window = {window!r}: the context window is a number of tokens from 1 on.")
    session, counter = known.session, Counter()
    counter.count_all(to_weigh(session, epoch_of(session, epoch)), no_progress, lambda: False)
    found = context_at(session, epoch, counter, window=window)
    if callable(pins):
        wanted = pins
        return found.with_(pins=frozenset(one.id for one in found.messages if wanted(known.object_of(one))))
    pinned = frozenset((pins,) if isinstance(pins, str) else list_of(pins, "pins", "ids of messages, or a function"))
    if unknown := sorted(pinned - found.shape.index_of.keys()):
        raise BadInput(f"There is no message {unknown[0]!r} to pin; there are {', '.join(_ends(found))}.")
    return found.with_(pins=pinned)


def _ends(found: Context) -> tuple[str, ...]:
    ids = [message.id for message in found.messages]
    return (*ids[:2], "…", ids[-1]) if len(ids) > 3 else tuple(ids)


def _result(
    known: SourceSession, now: Context, chosen: _StrategyChoice, outcome: Outcome, epoch: int | None
) -> Compacted[Any]:
    back = return_messages(known, messages_after(now, outcome))
    report = _report(now, outcome, chosen)
    number = len(known.session.epochs) if epoch is None else epoch
    return Compacted(back, report, known.session, now, outcome, number, positions(known, back, now.pins))


def _report(now: Context, outcome: Outcome, chosen: _StrategyChoice) -> Report:
    texts = (piece.message.text for piece in outcome.pieces if isinstance(piece, NewMessage))
    ledger = next(filter(None, map(read_ledger, texts)), None)
    return Report(
        outcome.status,
        outcome.reason,
        now.total,
        now.outcome_size(outcome),
        outcome.trace,
        check(now, outcome, chosen.strategy, chosen.policy),
        {now.messages[i].id: span.fate for span in outcome.fates for i in range(span.start, span.stop)},
        ledger.entries if ledger else (),
        ledger.left_out if ledger else (),
    )
