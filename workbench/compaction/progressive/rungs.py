"""Rungs of the ladder: each chooses the messages that a summary replaces, without a model.

A rung receives the context, the messages that stay in any case (`keep`, with complete tool pairs), and its own
settings. The first request goes into the summary message whenever another message is summarized. Earlier summaries are
never in a group, because the policy's `earlier_summary` decides about them; nor are unanswered messages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from typing import Literal

from workbench.base.figures import percent
from workbench.base.text import counted
from workbench.compaction.context import Context
from workbench.compaction.invariants import with_pairs
from workbench.compaction.progressive.importance import ImportanceWeights, scores
from workbench.compaction.progressive.key_events import events_of
from workbench.compaction.progressive.retained import first_request_index
from workbench.compaction.strategy import RungKind
from workbench.session import Message, Span

RungName = Literal["sliding window", "importance", "key events", "incremental", "full summary"]

RUNGS = (
    RungKind("importance", "light", "messages with a high score", "any session"),
    RungKind("key events", "medium", "key events", "code, debugging"),
    RungKind("incremental", "medium", "the newest chunk of rounds", "long conversations"),
    RungKind("sliding window", "medium", "the newest turns", "conversation"),
    RungKind("full summary", "heavy", "only the summary and what is always kept", "the last resort"),
)
"""All rungs, as document 001 compares them. `CHAINS` has their order."""


@dataclass(frozen=True, slots=True)
class MessageGroup:
    """Messages that one summary replaces: ascending indexes, never empty."""

    purpose: str
    indexes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RungPlan:
    """Groups that a rung would summarize, and a note in words. No groups: it changes nothing."""

    groups: tuple[MessageGroup, ...]
    note: str


def sliding_window(context: Context, keep: Collection[int], size: int) -> RungPlan:
    """Keep the newest `size` turns, rounded up to an odd number, and summarize older messages. First and last of these
    turns are the agent's; messages after them are kept as well.

    A turn is everything that the agent says and calls, or that user and tools say, until the other side speaks: APIs
    that require alternating roles count messages in this way. The window grows to keep tool pairs complete.
    """
    answers = (size + 1) // 2
    window = range(_turn_start(context.messages, answers), len(context))
    others = _summarizable(context, keep, window)
    note = f"the agent's last {answers} turns are kept, with the messages between and after them"
    if wider := len(with_pairs(context.shape, window)) - len(window):
        note += f", {wider} more to keep tool pairs complete"
    return _plan_one_group("summary of messages before the window", others, note)


def _turn_start(messages: Sequence[Message], number: int) -> int:
    """Index at which the agent's turn `number` (1: the last) begins; 0 if it has fewer."""
    spoken = (at for at in range(len(messages) - 1, -1, -1) if not messages[at].is_own_system)
    by_agent = ((at, messages[at].role == "assistant") for at in spoken)
    starts = (at for (at, here), (_, before) in pairwise(chain(by_agent, [(0, False)])) if here and not before)
    return next(islice(starts, number - 1, None), 0)


def importance(
    context: Context, keep: Collection[int], weights: ImportanceWeights, threshold: float, newest: int
) -> RungPlan:
    """Keep messages that score `threshold` or more, and the newest `newest` of the others; summarize the rest."""
    high = [index for index, points in enumerate(scores(context.shape, weights)) if points >= threshold]
    share = percent(len(high) / max(len(context), 1))
    note = f"{len(high)} of {len(context)} messages ({share}) score {threshold:g} or more and are kept"
    return _plan_for_rest("summary of less important messages", context, keep, high, newest, note)


def key_events(context: Context, keep: Collection[int], newest: int) -> RungPlan:
    """Keep key events (see `events_of`), and the newest `newest` of the other messages; summarize the rest."""
    events = events_of(context.shape)
    note = f"{len(events)} of {len(context)} messages are key events and are kept"
    return _plan_for_rest("summary of the other messages", context, keep, events, newest, note)


def incremental(context: Context, keep: Collection[int], chunk_rounds: int) -> RungPlan:
    """Split rounds into chunks of `chunk_rounds` from the oldest; each chunk but the last becomes a summary of its
    own."""
    rounds = context.shape.rounds.rounds
    chunks = [rounds[at : at + chunk_rounds] for at in range(0, len(rounds), chunk_rounds)]
    sizes = ", ".join(str(len(chunk)) for chunk in chunks)
    note = f"{counted(len(rounds), 'round')} in chunks of {chunk_rounds}: {sizes or 'none'}"
    if len(chunks) < 2:
        return RungPlan((), f"{note}; the last chunk is kept")
    others = _summarizable(context, keep, range(chunks[-1][0].start, len(context)))
    groups = []
    start = 0
    for number, chunk in enumerate(chunks[:-1], 1):
        part = Span(start, chunk[-1].stop)
        start = part.stop
        if indexes := tuple(index for index in others if part.start <= index < part.stop):
            groups.append(MessageGroup(f"summary of chunk {number} of {len(chunks)}", indexes))
    return RungPlan(tuple(groups), note)


def full_summary(context: Context, keep: Collection[int]) -> RungPlan:
    """Summarize everything except messages that must stay."""
    others = _summarizable(context, keep, ())
    return _plan_one_group(
        "summary of the whole conversation", others, f"{len(others)} of {len(context)} messages are summarized"
    )


def _plan_for_rest(
    purpose: str, context: Context, keep: Collection[int], stay: Iterable[int], newest: int, note: str
) -> RungPlan:
    """Plan for messages that are neither in `stay` nor among the newest `newest` of the others. Unanswered messages
    count as the newest."""
    stay = list(stay)
    unread = with_pairs(context.shape, context.shape.unread).difference(keep, with_pairs(context.shape, stay))
    newest = max(newest - len(unread), 0)
    rest = _summarizable(context, keep, stay)
    near = rest[-newest:] if newest else []
    note = f"{note}, and the newest {len(near) + len(unread)} of the rest"
    return _plan_one_group(purpose, _summarizable(context, keep, [*stay, *near]), note)


def _summarizable(context: Context, keep: Collection[int], stay: Iterable[int]) -> list[int]:
    """Indexes of the messages to summarize: all but those in `keep`, those in `stay` and unanswered ones (both with
    their tool pairs), and earlier summaries. The first request is among them, but never alone."""
    request = first_request_index(context)
    staying = {*with_pairs(context.shape, [*stay, *context.shape.unread]), *context.shape.summaries} - {request}
    others = [index for index in range(len(context)) if index not in staying and index not in keep]
    return others if others != [request] else []


def _plan_one_group(purpose: str, others: Sequence[int], note: str) -> RungPlan:
    return RungPlan((MessageGroup(purpose, tuple(others)),) if others else (), note)
