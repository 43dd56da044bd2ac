"""Breakdown of a context: tokens by tool, file and round, the largest messages, and the verdict in one sentence.

A message's tokens are divided among its blocks in proportion to the characters that a model reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from workbench.analysis.why.overflow import OverflowLimit
from workbench.base.figures import percent, short
from workbench.base.printable import one_line
from workbench.base.text import clip_at_word, counted, plural
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
        Large(m.id, index + 1, m.role, _description(context, index), tokens[index])
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


def _description(context: Context, index: int) -> str:
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


NAMED = 0.15
"""Least share of the context that is named as a cause."""

CAUSES = 2
"""Most causes that are named, largest first."""

WORDS, SHARED = 40, 20
"""Characters quoted of a round's request if one round is named, and if several are. The result fits two lines of 80
columns."""

ALL = 0.9
"""Share of the context above which a tool is named next to a round, because the round is nearly the whole context."""


class SizeCause(Struct, frozen=True):
    """Part of a context. `words` describe it, without a full stop. `messages` are ids, () for the overhead."""

    kind: Literal["round", "tool", "results", "overhead"]
    tokens: int
    words: str
    messages: tuple[str, ...] = ()


def causes(context: Context) -> tuple[SizeCause, ...]:
    """Return at most `CAUSES` parts, largest first. O(messages).

    Rounds and tools count the same tokens, so a tool is named only if no round is large, or if one is nearly the whole
    context.
    """
    whole = context.total.tokens
    if not whole:
        return ()
    found = [*_rounds(context, by_round(context), whole)]
    if not found or max(one.tokens for one in found) >= ALL * whole:
        found += [*_tool(context, whole)] or [*_results(context, whole)]
    found.append(_overhead(context, whole))
    ordered = sorted(found, key=lambda one: (one.tokens, one.words), reverse=True)
    return tuple(one for one in ordered[:CAUSES] if one.tokens >= NAMED * whole)


def _rounds(context: Context, rounds: Sequence[RoundShare], whole: int) -> Iterator[SizeCause]:
    spans = context.shape.rounds.rounds
    large = [one for one in rounds if one.tokens >= NAMED * whole]
    for one in large:
        span = spans[one.number - 1]
        calls = sum(span.start <= each.index < span.stop for each in calls_of(context.shape))
        beginning = clip_at_word(one_line(context.messages[span.start].user_text), SHARED if len(large) > 1 else WORDS)
        quoted = f" “{beginning}”" if beginning else ""
        within = f" in {counted(calls, 'call')}" if calls else ""
        words = f"round {one.number}{quoted}, {_share(one.tokens, whole)}{within}"
        yield SizeCause("round", one.tokens, words, (one.message,))


def _tool(context: Context, whole: int) -> Iterator[SizeCause]:
    for one in by_tool(context)[:1]:
        calls = counted(one.count, f"{one_line(one.name)} call")
        yield SizeCause("tool", one.tokens, f"{calls}, {_share(one.tokens, whole)}", one.messages)


def _results(context: Context, whole: int) -> Iterator[SizeCause]:
    """Yield the command output of agents that write their calls as text: the injected messages that follow messages of
    the agent."""
    sizes, pairs = context.layout.sizes.tokens, pairwise(context.messages)
    behind = enumerate(((before.role, after.kind) for before, after in pairs), 1)
    if found := [at for at, pair in behind if pair == ("assistant", "meta")]:
        tokens = sum(sizes[at] for at in found)
        words = f"{counted(len(found), 'result')}, {_share(tokens, whole)}"
        yield SizeCause("results", tokens, words, tuple(context.messages[at].id for at in found))


def _overhead(context: Context, whole: int) -> SizeCause:
    """Return the size of system prompt, tools and unrecorded additions of the agent."""
    tokens = whole - context.upto(len(context)).tokens
    return SizeCause("overhead", tokens, f"system + tools, {_share(tokens, whole)}")


def _share(tokens: int, whole: int) -> str:
    return f"{short(tokens)} ({percent(tokens / whole)})"


def verdict(context: Context, limit: OverflowLimit | None, causes: Sequence[SizeCause]) -> str:
    """`The agent compacted at 155k. Largest causes: round 10 “add a multi step …”, 63k (40 %); 82 Read calls, …`"""
    whole = context.total.tokens
    if not whole:
        return "This context is empty."
    named = "; ".join(one.words for one in causes)
    why = f"Largest {plural(len(causes), 'cause')}: {named}" if named else _growth_words(context)
    return f"{_size_words(whole, limit)}. {why}."


def _size_words(whole: int, limit: OverflowLimit | None) -> str:
    if limit is None:
        return f"{short(whole)} tokens, window unknown"
    if limit.context is not None:
        return f"{'The agent compacted' if limit.ended else 'API rejected the request'} at {short(limit.context)}"
    share = f"{short(whole)} of {short(limit.tokens)}"
    return f"Over the window: {share}" if whole >= limit.tokens else f"{percent(whole / limit.tokens)} full: {share}"


def _growth_words(context: Context) -> str:
    rounds = by_round(context)
    if not rounds:
        return "No single cause"
    mean = sum(one.tokens for one in rounds) // len(rounds)
    return f"It grew evenly over {counted(len(rounds), 'round')}, {short(mean)} each on average"
