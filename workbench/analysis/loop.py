"""Compaction loop: an agent compacts repeatedly without progress.

A step is a user request with new words, or a tool call with a new input; the agent's texts are no steps. A session is
in a loop if at least `LEAST` automatic compactions followed its newest step. It is not if it ends with an answer and
the next compaction is not certain (`Loop.goes_on`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from msgspec import Struct

from workbench.base.figures import short
from workbench.base.text import counted
from workbench.base.values import json_text
from workbench.session import Epoch, Message, Session

LEAST = 3
"""Fewest compactions without a new step that make a loop; two in a row happen if a summary is too long."""


class Loop(Struct, frozen=True):
    """Loop of `compactions` without a new step since call `since` (from 1, 0 before any); `empty` of them removed
    nothing.

    `smallest` is the smallest context after one of them, `trigger` the smallest context before one, both in tokens; the
    agent's trigger is at most the latter. None if not recorded.
    """

    compactions: int
    since: int
    empty: int
    smallest: int | None
    trigger: int | None

    def __str__(self) -> str:
        """`Compaction loop: 9 compactions, no new step since call 120; the minimum context of 154k is above …`"""
        since = f"no new step since call {self.since}" if self.since else "no step at all"
        return f"Compaction loop: {counted(self.compactions, 'compaction')}, {since}{self._why}."

    @property
    def goes_on(self) -> bool:
        """True if the next compaction is certain: all of them removed nothing, or none left less than `trigger`."""
        too_large = self.smallest is not None and self.trigger is not None and self.smallest >= self.trigger
        return too_large or self.empty == self.compactions

    @property
    def _why(self) -> str:
        if self.empty == self.compactions:
            return "; they removed nothing"
        if self.smallest is None or self.trigger is None:
            return f"; {self.empty} of them removed nothing" if self.empty else ""
        if self.smallest >= self.trigger:
            where = "above" if self.smallest > self.trigger else "at"
            return f"; the minimum context of {short(self.smallest)} is {where} the trigger"
        return f"; each time the context grows back from {short(self.smallest)} to {short(self.trigger)} or more"


def loop_of(session: Session) -> Loop | None:
    """Return the loop at the end of the session; None if fewer than `LEAST` automatic compactions followed its newest
    step, or if it ends with an answer and the next compaction is not certain. O(messages)."""
    if sum(_is_automatic(epoch) for epoch in session.epochs) < LEAST:
        return None
    seen: set[int] = set()
    steps: set[Hashable] = set()
    calls, since, newest = 0, 0, 0
    for epoch in session.epochs:
        for index in epoch.members:
            if index in seen:
                continue
            seen.add(index)
            message = session.messages[index]
            if message.role == "assistant" and message.kind == "normal" and index not in epoch.copies:
                calls += 1
            made = set(_steps(message))
            if not made <= steps:
                steps |= made
                since, newest = calls, epoch.number
    within = [epoch for epoch in session.epochs if epoch.number >= newest and _is_automatic(epoch)]
    if len(within) < LEAST:
        return None
    left = [size for epoch in within if (size := _left(session, epoch)) is not None]
    sizes = [size for epoch in within if (size := _compacted_at(session, epoch)) is not None]
    empty = sum(epoch.ended_by is not None and epoch.ended_by.way == "empty" for epoch in within)
    found = Loop(len(within), since, empty, min(left, default=None), min(sizes, default=None))
    return None if _ends_with_answer(session) and not found.goes_on else found


def _steps(message: Message) -> Iterator[Hashable]:
    if message.starts_round:
        yield " ".join(message.said.split())
    for call in message.calls:
        yield call.name, call.input if isinstance(call.input, str) else json_text(call.input)


def _is_automatic(epoch: Epoch) -> bool:
    """True for a compaction that the user did not request."""
    return epoch.ended_by is not None and epoch.ended_by.trigger != "manual"


def _ends_with_answer(session: Session) -> bool:
    """True if the newest message is a model's text without calls."""
    newest = next((session.messages[index] for index in reversed(session.epochs[-1].members)), None)
    is_answer = newest is not None and newest.role == "assistant" and newest.kind == "normal"
    return newest is not None and is_answer and bool(newest.text.strip()) and not newest.calls


def _left(session: Session, epoch: Epoch) -> int | None:
    """Return the tokens after a compaction: the recorded size, else the usage of the next call; None if unknown."""
    if epoch.ended_by is not None and epoch.ended_by.tokens_after:
        return epoch.ended_by.tokens_after
    following = session.epochs[epoch.number] if epoch.number < len(session.epochs) else None
    fresh = (index for index in following.members if index not in epoch.members) if following else iter(())
    return next((bill for index in fresh if (bill := session.messages[index].bill)), None)


def _compacted_at(session: Session, epoch: Epoch) -> int | None:
    """Return the tokens before a compaction: the recorded size, else the epoch's newest prompt; None if unknown."""
    if epoch.ended_by is not None and epoch.ended_by.tokens_before:
        return epoch.ended_by.tokens_before
    return next((bill for index in reversed(epoch.members) if (bill := session.messages[index].bill)), None)
