"""Growth of a session's context, API call by API call, over all epochs.

Bench, `why`, replays and the report all draw these points.
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
    """Context of one API call.

    `message` is the answer's index in `Session.messages`; `tokens` the billed prompt (exact), or an estimate from the
    messages and the nearest usage. `compacted`: a recorded compaction lies just before.
    """

    message: int
    epoch: int
    tokens: int
    basis: Basis
    compacted: bool


def growth(session: Session, counter: Counter, scale: Scale | None = None) -> tuple[Point, ...]:
    """Return one point per answer, epoch by epoch. An answer in two epochs counts in the first; copies made by a
    compaction do not count.

    Recorded usage is exact. Without it a point is the sum of the messages before the answer, as `counter` sizes them,
    and the tokens that the nearest usage shows beyond them (the overhead if the epoch has no usage).
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
        usage = {call.index: call.context for call in calls_of(messages, session.model)}
        prompts: Sequence[int] = ()
        if any(index not in usage for index in fresh):  # measure nothing if every answer has usage
            prompts = _prompts(messages, session.model, session_sizes(session, epoch.number, counter, scale))
        for index in fresh:
            billed = usage.get(index)
            tokens, basis = (prompts[index], Basis.ESTIMATE) if billed is None else (billed, Basis.EXACT)
            points.append(
                Point(epoch.members[index], epoch.number, tokens, basis, epoch.number > 1 and index == fresh[0])
            )
        seen.update(epoch.members)
    return tuple(points)


def growth_messages(session: Session) -> tuple[Message, ...]:
    """Return the messages that must be counted for `growth`: those of epochs with an answer without usage."""
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
    """Return the tokens sent before each message."""
    before = accumulate(sizes.tokens, initial=0)
    beyond = billed_beyond(messages, model, sizes)
    return array("q", (tokens + more for tokens, more in zip(before, beyond, strict=False)))
