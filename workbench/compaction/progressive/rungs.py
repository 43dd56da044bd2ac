"""The rungs of the ladder: each says which messages of a context a summary would stand for. No rung asks a model.

A rung gets the context, the messages that stay whatever it does (`keep`, closed over tool pairs), and its own numbers.
The first request goes into the summary's message whenever something else does. An earlier summary is never in a group:
what becomes of it is the policy's `earlier_summary`. Nor is what the agent has not read yet.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from typing import Literal

from workbench.base.figures import percent
from workbench.base.text import counted
from workbench.compaction.context import Context
from workbench.compaction.keeping import with_pairs
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
"""Side by side, as document 001 compares them. `CHAINS` says which come first."""


@dataclass(frozen=True, slots=True)
class MessageGroup:
    """Messages that one summary is to stand for: ascending indexes, never empty."""

    purpose: str
    indexes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RungPlan:
    """What a rung would summarize, and in words what it found. No groups: it changes nothing."""

    groups: tuple[MessageGroup, ...]
    note: str


def sliding_window(context: Context, keep: Collection[int], size: int) -> RungPlan:
    """The newest `size` turns stay, the agent's at both ends, and what came after them; older ones are summarized.

    A turn is all that the agent says and calls, or that user and tools say, until the other side speaks: so APIs that
    ask for alternating roles count messages. A tool pair across the edge widens the window.
    """
    answers = (size + 1) // 2
    window = range(_turn_start(context.messages, answers), len(context))
    others = _others(context, keep, window)
    note = f"the agent's last {answers} turns are kept, with the messages between and after them"
    if wider := len(with_pairs(context.shape, window)) - len(window):
        note += f", {wider} more to keep tool pairs complete"
    return _cut("summary of messages before the window", others, note)


def _turn_start(messages: Sequence[Message], number: int) -> int:
    """Where the agent's turn `number`, from 1 at the end, begins; 0 where it has fewer."""
    spoken = (at for at in range(len(messages) - 1, -1, -1) if not messages[at].is_own_system)
    by_agent = ((at, messages[at].role == "assistant") for at in spoken)
    starts = (at for (at, here), (_, before) in pairwise(chain(by_agent, [(0, False)])) if here and not before)
    return next(islice(starts, number - 1, None), 0)


def importance(
    context: Context, keep: Collection[int], weights: ImportanceWeights, threshold: float, newest: int
) -> RungPlan:
    """Messages that score `threshold` or more stay, and the newest of the rest; the others are summarized."""
    high = [index for index, points in enumerate(scores(context.shape, weights)) if points >= threshold]
    share = percent(len(high) / max(len(context), 1))
    note = f"{len(high)} of {len(context)} messages ({share}) score {threshold:g} or more and are kept"
    return _rest("summary of less important messages", context, keep, high, newest, note)


def key_events(context: Context, keep: Collection[int], newest: int) -> RungPlan:
    """Events stay (see `events_of`), and the newest of the rest; the others are summarized."""
    events = events_of(context.shape)
    note = f"{len(events)} of {len(context)} messages are key events and are kept"
    return _rest("summary of the other messages", context, keep, events, newest, note)


def incremental(context: Context, keep: Collection[int], chunk_rounds: int) -> RungPlan:
    """Chunks of `chunk_rounds` rounds from the oldest; each but the last becomes a summary of its own."""
    rounds = context.shape.rounds.rounds
    chunks = [rounds[at : at + chunk_rounds] for at in range(0, len(rounds), chunk_rounds)]
    sizes = ", ".join(str(len(chunk)) for chunk in chunks)
    note = f"{counted(len(rounds), 'round')} in chunks of {chunk_rounds}: {sizes or 'none'}"
    if len(chunks) < 2:
        return RungPlan((), f"{note}; the last chunk is kept")
    others = _others(context, keep, range(chunks[-1][0].start, len(context)))
    groups = []
    start = 0
    for number, chunk in enumerate(chunks[:-1], 1):
        part = Span(start, chunk[-1].stop)
        start = part.stop
        if indexes := tuple(index for index in others if part.start <= index < part.stop):
            groups.append(MessageGroup(f"summary of chunk {number} of {len(chunks)}", indexes))
    return RungPlan(tuple(groups), note)


def full_summary(context: Context, keep: Collection[int]) -> RungPlan:
    """Everything is summarized but what must stay as messages."""
    others = _others(context, keep, ())
    return _cut("summary of the whole conversation", others, f"{len(others)} of {len(context)} messages are summarized")


def _rest(
    purpose: str, context: Context, keep: Collection[int], stay: Iterable[int], newest: int, note: str
) -> RungPlan:
    """The messages that neither stay nor are among the newest `newest` of the rest, those not read yet among them."""
    stay = list(stay)
    unread = with_pairs(context.shape, context.shape.unread).difference(keep, with_pairs(context.shape, stay))
    newest = max(newest - len(unread), 0)
    rest = _others(context, keep, stay)
    near = rest[-newest:] if newest else []
    note = f"{note}, and the newest {len(near) + len(unread)} of the rest"
    return _cut(purpose, _others(context, keep, [*stay, *near]), note)


def _others(context: Context, keep: Collection[int], stay: Iterable[int]) -> list[int]:
    """What is left to summarize when `stay` and what is not read yet, with their tool pairs, stay beside `keep`; with
    it goes the request."""
    request = first_request_index(context)
    staying = {*with_pairs(context.shape, [*stay, *context.shape.unread]), *context.shape.summaries} - {request}
    others = [index for index in range(len(context)) if index not in staying and index not in keep]
    return others if others != [request] else []


def _cut(purpose: str, others: Sequence[int], note: str) -> RungPlan:
    return RungPlan((MessageGroup(purpose, tuple(others)),) if others else (), note)
