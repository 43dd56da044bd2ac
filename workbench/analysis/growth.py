"""How a session's context grew, API call by API call, from its first epoch to its last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from workbench.session import Message, Session
from workbench.tokens import Basis
from workbench.tokens.anchoring import calls_of


@dataclass(frozen=True, slots=True)
class Point:
    """The context as one call of the model was sent it.

    `message` is the answer's index in `Session.messages`; `tokens` are what was billed for the prompt (exact), or the
    running sum where no bill is recorded (an estimate). `compacted`: a recorded compaction lies just before.
    """

    message: int
    epoch: int
    tokens: int
    basis: Basis
    compacted: bool


def growth(session: Session, tokens_of: Callable[[Message], int]) -> tuple[Point, ...]:
    """One point per answer, in the order of the epochs; an answer that two epochs hold counts in the first alone.

    A bill is the prompt the provider was sent (spec/tokens.md §3.4); what came after it is measured by `tokens_of` and
    added. Before an epoch's first bill that sum leaves out what no file records (system prompt, tools).
    """
    points: list[Point] = []
    seen: set[int] = set()
    for epoch in session.epochs:
        messages = [session.messages[member] for member in epoch.members]
        billed = {call.index: call.context for call in calls_of(messages, session.model)}
        total, unmeasured, compacted = 0, 0, epoch.number > 1
        for index, (member, message) in enumerate(zip(epoch.members, messages, strict=True)):
            bill = billed.get(index)
            if bill is not None:
                total, unmeasured = bill, index
            if message.role == "assistant" and message.kind == "normal" and member not in seen:
                # Only here, so that a session with a bill for every call is not measured at all.
                total += sum(map(tokens_of, messages[unmeasured:index]))
                unmeasured = index
                basis = Basis.ESTIMATE if bill is None else Basis.EXACT
                points.append(Point(member, epoch.number, total, basis, compacted))
                compacted = False
        seen.update(epoch.members)
    return tuple(points)
