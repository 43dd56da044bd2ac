"""Compacting, in a call or awaited, and whether it is due."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from workbench.api.asking import AsyncSummarize, Summarize, answered_by, awaited_from
from workbench.api.given import Given, Messages, given, given_back, listed, positions
from workbench.api.results import Compacted, Due, M, Report, in_force
from workbench.base.errors import BadInput
from workbench.compaction.agent_preset import preset_for_version
from workbench.compaction.checks import check
from workbench.compaction.context import Context
from workbench.compaction.language import Language
from workbench.compaction.ledger.alone import ledger_text
from workbench.compaction.ledger.text import read_ledger
from workbench.compaction.opening import context_at, epoch_of
from workbench.compaction.outcome import NewMessage, Outcome
from workbench.compaction.policy import Policy, explain
from workbench.compaction.preset import default_preset, load_preset
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
"""Ids of messages, or what says of a message, as it was given, whether it is to stay."""


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
    """What the model would see: of a session's epoch (from 1; default: the newest), or of plain messages.

    Every message's tokens are counted, offline. `pins` are ids of messages that stay as they are (`m1`, `m2`, … for
    plain messages), or a function that is asked of every message; `window` is the context window in tokens, by default
    what session or table tell. `model`, `system` (a text or blocks) and `tools` (definitions) are what is sent beside
    the messages: they count. `len` of the result is its number of messages, `total` its size, `size(start, stop)` that
    of some of them. Raises BadInput for messages of no known style and for an epoch or an id that is not there.
    """
    return _context(given(source, model=model, system=system, tools=tools), epoch, pins, window)


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
    """Whether the triggers of a preset, or of a strategy with these fields, fire now. The arguments are those of
    `compact`; a share of the window needs `window`, or a `model` whose window is known."""
    chosen = _chosen(source, strategy, preset, fields, asked=True)
    now = context(source, epoch=epoch, window=window, model=model, system=system, tools=tools).with_(manual=False)
    triggers = chosen.strategy.read_triggers(now, chosen.policy)
    idle = chosen.strategy.idle(chosen.policy)
    said = [str(trigger) for trigger in triggers if trigger.fires] or [str(trigger) for trigger in triggers]
    return Due(() if idle else triggers, now.total, idle or "; ".join(said) or "no trigger is set")


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
    """Compact now, whatever the triggers say. The source is left as it is; the same arguments give the same result.

    `preset` names numbers for a strategy, and with it the strategy; `fields` change single fields of the policy, as the
    budgets do (`budget_tokens`, `budget_chars`: what the whole result may have). Without `summarize` no model is asked:
    the ledger does without a narrative, any other strategy gets an extractive summary. The other arguments are those of
    `context`. Raises BadInput for what is unknown or out of range, never for what the compaction came to: that is the
    report's `status`, `reason` and `failed`.
    """
    fields |= {"budget_tokens": budget_tokens, "budget_chars": budget_chars}
    chosen = _chosen(source, strategy, preset, fields, asked=summarize is not None)
    known = given(source, model=model, system=system, tools=tools)
    now = _context(known, epoch, pins, window)
    outcome = drive(chosen.compacting(now), answered_by(summarize) if summarize else extractive).outcome
    return _done(known, now, chosen, outcome, epoch)


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
    """As `compact`, with a `summarize` that may be async. Counting and cutting go on in a thread, so that the event
    loop never waits for them; to cancel it leaves everything as it was."""
    fields |= {"budget_tokens": budget_tokens, "budget_chars": budget_chars}
    chosen = _chosen(source, strategy, preset, fields, asked=summarize is not None)
    known = given(source, model=model, system=system, tools=tools)
    now = await asyncio.to_thread(_context, known, epoch, pins, window)
    asked = awaited_from(summarize) if summarize else in_thread(extractive)
    outcome = (await run(chosen.compacting(now), asked)).outcome
    return await asyncio.to_thread(_done, known, now, chosen, outcome, epoch)


def summary(
    source: Session | Messages, budget_tokens: int = 2_000, *, epoch: int | None = None, language: Language = "en"
) -> str:
    """What the ledger tells of all these messages, as a text of at most so many tokens: for whoever keeps and sends
    messages himself and asks for a summary alone. No model is asked. Raises BadInput as `context` does."""
    return ledger_text(context(source, epoch=epoch), budget_tokens, language)


@dataclass(frozen=True)
class _Chosen:
    """A strategy with the policy by which it runs."""

    strategy: Strategy[Any]
    policy: Policy

    def compacting(self, now: Context) -> Compacting:
        return self.strategy.run(now, self.policy)


def _chosen(source: Any, strategy: str, preset: str, fields: Mapping[str, Any], *, asked: bool) -> _Chosen:
    """`asked`: whether there is a model to ask; without one a strategy does what it can without. A running agent has
    yet to read what is unread, so there it stays where a product would summarize it, too; of a session that is looked
    at afterwards a preset does what its product does."""
    found = load_preset(preset) if preset else default_preset(strategy)
    found = preset_for_version(found, source) if isinstance(source, Session) else found
    one = strategy_by_id(found.strategy)
    changes = {} if asked else dict(one.offline_settings)
    if not isinstance(source, Session) and getattr(found.policy, "unread", "") == "summarize":
        changes["unread"] = "keep"
    changes |= {name: value for name, value in fields.items() if value is not None}
    try:
        return _Chosen(one, found.policy.with_(**changes))
    except ValidationError as error:
        raise BadInput(f"{found.strategy}: {explain(error)}") from None


def _context(known: Given, epoch: int | None, pins: Pins, window: int | None) -> Context:
    if window is not None and not (isinstance(window, int) and window > 0):
        raise BadInput(f"window = {window!r}: the context window is a number of tokens from 1 on.")
    session, counter = known.session, Counter()
    counter.count_all(to_weigh(session, epoch_of(session, epoch)), no_progress, lambda: False)
    found = context_at(session, epoch, counter, window=window)
    if callable(pins):
        wanted = pins
        return found.with_(pins=frozenset(one.id for one in found.messages if wanted(known.object_of(one))))
    pinned = frozenset((pins,) if isinstance(pins, str) else listed(pins, "pins", "ids of messages, or a function"))
    if unknown := sorted(pinned - found.shape.index_of.keys()):
        raise BadInput(f"There is no message {unknown[0]!r} to pin; there are {', '.join(_ends(found))}.")
    return found.with_(pins=pinned)


def _ends(found: Context) -> tuple[str, ...]:
    ids = [message.id for message in found.messages]
    return (*ids[:2], "…", ids[-1]) if len(ids) > 3 else tuple(ids)


def _done(known: Given, now: Context, chosen: _Chosen, outcome: Outcome, epoch: int | None) -> Compacted[Any]:
    back = given_back(known, in_force(now, outcome))
    report = _report(now, outcome, chosen)
    number = len(known.session.epochs) if epoch is None else epoch
    return Compacted(back, report, known.session, now, outcome, number, positions(known, back, now.pins))


def _report(now: Context, outcome: Outcome, chosen: _Chosen) -> Report:
    made = (piece.message.text for piece in outcome.pieces if isinstance(piece, NewMessage))
    ledger = next(filter(None, map(read_ledger, made)), None)
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
