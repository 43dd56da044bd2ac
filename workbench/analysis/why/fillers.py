"""Breakdown of a context: tokens by tool, file and round, and the largest messages.

A message's tokens are divided among its blocks in proportion to the characters that a model reads.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from workbench.compaction.context import Context
from workbench.compaction.shape_calls import calls_of
from workbench.facts.calls import ToolCall, calls_with_results
from workbench.session import Block, Message
from workbench.tokens.sizes import visible_chars


class SizeShare(Struct, frozen=True):
    """Part of a context: `count` calls, reads or messages of `tokens`; `messages` are their ids, in order."""

    name: str
    tokens: int
    count: int
    messages: tuple[str, ...]


class RoundShare(Struct, frozen=True):
    """Round, from 1; `upto` is the size of the whole context at the end of the round, overhead included."""

    number: int
    message: str
    tokens: int
    upto: int


class Large(Struct, frozen=True):
    """Large message. `what` describes it, `number` is its position in the context, from 1."""

    message: str
    number: int
    role: str
    what: str
    tokens: int


def by_tool(context: Context) -> tuple[SizeShare, ...]:
    """Return calls and results by tool, largest first. The inputs of calls are not parsed, which would be slow."""
    found = (ToolCall(index, call, (), result, at) for index, call, at, result in calls_with_results(context.messages))
    return _shares(context, ((one.call.name, one, call_tokens(context, one)) for one in found))


def by_file(context: Context) -> tuple[SizeShare, ...]:
    """Return the calls that view or change files, by path as written in the call, largest first. The tokens of a call
    are divided among its files."""
    found: list[tuple[str, ToolCall, int]] = []
    for one in calls_of(context.shape):
        paths = tuple(dict.fromkeys(action.target for action in one.actions if action.kind != "command"))
        found += [(path, one, call_tokens(context, one) // len(paths)) for path in paths]
    return _shares(context, found)


def by_round(context: Context) -> tuple[RoundShare, ...]:
    """Return every round in order."""
    overhead, before = context.layout.sizes.overhead, context.layout.tokens
    return tuple(
        RoundShare(
            number,
            context.messages[span.start].id,
            before[span.stop] - before[span.start],
            before[span.stop] + overhead,
        )
        for number, span in enumerate(context.shape.rounds.rounds, 1)
    )


def largest(context: Context, count: int = 10) -> tuple[Large, ...]:
    """Return the largest messages, largest first."""
    tokens = context.layout.sizes.tokens
    order = sorted(range(len(context)), key=lambda index: (-tokens[index], index))[:count]
    return tuple(
        Large(m.id, index + 1, m.role, _what(context, index), tokens[index])
        for index in order
        for m in (context.messages[index],)
    )


def call_tokens(context: Context, one: ToolCall) -> int:
    """Return the tokens of a call and its result."""
    total = block_tokens(context, one.index, one.call)
    if one.result is not None and one.result_index is not None:
        total += block_tokens(context, one.result_index, one.result)
    return total


def block_tokens(context: Context, index: int, block: Block) -> int:
    """Return the tokens of one block of message `index`; the block may be masked."""
    message, tokens = context.messages[index], context.layout.sizes.tokens[index]
    whole = context.shape.chars[index + 1] - context.shape.chars[index]
    if len(message.blocks) == 1 or not whole:
        return tokens
    masked = zip(message.blocks, context.shape.masked_at(index).blocks, strict=True)
    block = next((own for own, clean in masked if clean is block), block)
    return tokens * visible_chars(Message("", message.role, (block,))) // whole


def _shares(context: Context, found: Iterable[tuple[str, ToolCall, int]]) -> tuple[SizeShare, ...]:
    groups: dict[str, list[tuple[str, int]]] = {}
    for name, one, tokens in found:
        at = one.index if one.result_index is None else one.result_index
        groups.setdefault(name, []).append((context.messages[at].id, tokens))
    shares = (
        SizeShare(name, sum(tokens for _, tokens in ones), len(ones), tuple(dict.fromkeys(id for id, _ in ones)))
        for name, ones in groups.items()
    )
    return tuple(sorted(shares, key=lambda share: (-share.tokens, share.name)))


def _what(context: Context, index: int) -> str:
    """`result of Read, Bash`, `call of Write`, `text`, `summary`."""
    message = context.messages[index]
    if message.kind != "normal":
        return message.kind
    answered = (context.shape.call_of(index, result.call_id) for result in message.results)
    names = dict.fromkeys(call.name if call else "an unknown call" for call in answered)
    if names:
        return f"result of {', '.join(names)}"
    if message.calls:
        return f"call of {', '.join(dict.fromkeys(call.name for call in message.calls))}"
    return "text"
