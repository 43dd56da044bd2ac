"""How a session's context grew, API call by API call, from its first epoch to its last.

The one growth there is: the bench's line, `why`, replays and the report all draw these points.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate

from msgspec import Struct

from workbench.session import Message, Session
from workbench.tokens import Basis, Counter, Scale, Sizes, billed_beyond, session_sizes
from workbench.tokens.anchoring import calls_of


class Point(Struct, frozen=True):
    """The context as one call of the model was sent it.

    `message` is the answer's index in `Session.messages`; `tokens` are what was billed for the prompt (exact), or what
    its messages and the nearest bill say (an estimate). `compacted`: a recorded compaction lies just before.
    """

    message: int
    epoch: int
    tokens: int
    basis: Basis
    compacted: bool


def growth(session: Session, counter: Counter, scale: Scale | None = None) -> tuple[Point, ...]:
    """One point per answer, in the order of the epochs; an answer that two epochs hold counts in the first alone, and a
    copy that a compaction made of one not at all.

    A bill is the prompt the provider was sent. An answer without one stands by the figures of its
    epoch, as `session_sizes` gives them of what `counter` knows by now: the messages before it, and what the nearest
    bill says was sent beyond them (system prompt, tools), or the overhead where nothing was billed.
    """
    points: list[Point] = []
    seen: set[int] = set()
    for epoch in session.epochs:
        messages = session.context(epoch.number)
        seen |= epoch.copies
        fresh = [
            index
            for index, (member, message) in enumerate(zip(epoch.members, messages, strict=True))
            if message.role == "assistant" and message.kind == "normal" and member not in seen
        ]
        bills = {call.index: call.context for call in calls_of(messages, session.model)}
        prompts: Sequence[int] = ()
        if any(index not in bills for index in fresh):  # an epoch with a bill for every answer is not measured at all
            prompts = _prompts(messages, session.model, session_sizes(session, epoch.number, counter, scale))
        for index in fresh:
            billed = bills.get(index)
            tokens, basis = (prompts[index], Basis.ESTIMATE) if billed is None else (billed, Basis.EXACT)
            points.append(
                Point(epoch.members[index], epoch.number, tokens, basis, epoch.number > 1 and index == fresh[0])
            )
        seen.update(epoch.members)
    return tuple(points)


def to_count(session: Session) -> tuple[Message, ...]:
    """The messages that a growth needs counted: those of the epochs in which an answer stands without a bill."""
    found: dict[int, Message] = {}
    for epoch in session.epochs:
        messages = session.context(epoch.number)
        billed = {call.index for call in calls_of(messages, session.model)}
        answers = (
            index
            for index, (member, message) in enumerate(zip(epoch.members, messages, strict=True))
            if message.role == "assistant" and message.kind == "normal" and member not in epoch.copies
        )
        if any(index not in billed for index in answers):
            found.update(zip(epoch.members, messages, strict=True))
    return tuple(found.values())


def _prompts(messages: Sequence[Message], model: str | None, sizes: Sizes) -> array[int]:
    """For every message the tokens of what was sent before it."""
    before = accumulate(sizes.tokens, initial=0)
    beyond = billed_beyond(messages, model, sizes)
    return array("q", (tokens + more for tokens, more in zip(before, beyond, strict=False)))
