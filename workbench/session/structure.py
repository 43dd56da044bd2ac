"""Rounds, exchanges and tool pairs: the units in which strategies cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from workbench.session.message import Message, ToolResult, ToolUse


@dataclass(frozen=True, slots=True)
class Span:
    """Messages `start` up to but not including `stop` of a context."""

    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True, slots=True)
class Rounds:
    """Rounds of a context; with `preamble` and `current_input` they cover it without a gap.

    `preamble`: messages before the first round (system messages, summaries, injected texts). `current_input`: last user
    message if it has no answer yet.
    """

    preamble: Span
    rounds: tuple[Span, ...]
    current_input: Span


def rounds_of(messages: Sequence[Message]) -> Rounds:
    """Split a context into rounds: from a user's own message to the end of the answer to it.

    Several user messages before the first answer are one round's request.
    """
    starts: list[int] = []
    answered = True
    for index, message in enumerate(messages):
        if message.role == "assistant" and message.kind == "normal":
            answered = True
        elif message.starts_round and answered:
            starts.append(index)
            answered = False
    end = len(messages)
    if not starts:
        return Rounds(Span(0, end), (), Span(end, end))
    bounds = [*starts, end]
    spans = tuple(Span(a, b) for a, b in pairwise(bounds))
    if answered:
        return Rounds(Span(0, starts[0]), spans, Span(end, end))
    return Rounds(Span(0, starts[0]), spans[:-1], spans[-1])


def exchanges_of(messages: Sequence[Message]) -> tuple[Span, ...]:
    """Split a context into exchanges: one request (a user text, or tool results) and the one response to it.

    A request is every message up to the next assistant message, which closes the exchange. A trailing request without a
    response is an exchange too, and so is a response without a request. A summary always stands in an exchange of its
    own, with the assistant message of kind summary that follows it. Leading system messages belong to no exchange.
    """
    spans: list[Span] = []
    start = leading_system(messages)
    for index in range(start, len(messages)):
        message = messages[index]
        if message.role == "assistant":
            spans.append(Span(start, index + 1))
            start = index + 1
        elif message.kind == "summary" and not _is_summary_pair(messages, index):
            if start < index:
                spans.append(Span(start, index))
            spans.append(Span(index, index + 1))
            start = index + 1
        elif message.kind == "summary" and start < index:
            spans.append(Span(start, index))
            start = index
    if start < len(messages):
        spans.append(Span(start, len(messages)))
    return tuple(spans)


def _is_summary_pair(messages: Sequence[Message], index: int) -> bool:
    after = messages[index + 1] if index + 1 < len(messages) else None
    return after is not None and after.role == "assistant" and after.kind == "summary"


def leading_system(messages: Sequence[Message]) -> int:
    """Return the number of the session's own system messages that precede all other messages."""
    count = 0
    for message in messages:
        if not message.is_own_system:
            break
        count += 1
    return count


class Pair(NamedTuple):
    """A tool call and its result, by message index. `result` is None for an open call, `call` for an orphan result."""

    id: str
    call: int | None
    result: int | None


def pairs_of(messages: Sequence[Message]) -> tuple[Pair, ...]:
    """Match calls and results by id, in order and with multiplicity: some formats repeat ids."""
    open_calls: dict[str, list[int]] = {}
    pairs: list[Pair] = []
    for index, message in enumerate(messages):
        for block in message.blocks:
            if isinstance(block, ToolUse):
                open_calls.setdefault(block.id, []).append(index)
            elif isinstance(block, ToolResult):
                waiting = open_calls.get(block.call_id)
                pairs.append(Pair(block.call_id, waiting.pop(0) if waiting else None, index))
    pairs.extend(Pair(id, call, None) for id, calls in open_calls.items() for call in calls)
    return tuple(pairs)
