"""Facts about a context's messages that do not depend on tokens: units, tool pairs, characters. Computed once.

Pins, the split, settings and token figures change often; a shape depends on none of them. After such a change, 60 000
messages must be replanned within one frame (16 ms). Sums therefore come from prefix arrays, and everything else that is
read from the messages is cached with their shape (`per_shape`).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, wraps
from itertools import accumulate
from threading import Lock
from typing import Any, TypeVar

from workbench.base.values import json_text
from workbench.compaction.outcome import KeptSpan, Outcome, Piece
from workbench.session import (
    Media,
    Message,
    Opaque,
    Pair,
    Rounds,
    Span,
    Text,
    Thinking,
    ToolUse,
    exchanges_of,
    leading_system,
    pairs_of,
    rounds_of,
)
from workbench.session.masked import searched_message
from workbench.tokens.sizes import visible_chars

SUMMARY_MARKER = "!!!SUMMARY!!!"

K = TypeVar("K")
T = TypeVar("T")

_PartFacts = dict[tuple[Any, ...], tuple[tuple[object, ...], tuple[object, ...], Any]]
"""Cached facts about parts of messages, by function and identities of the parts. Each entry holds the parts, to keep
them alive, the other inputs of the function, and its result."""


def api_chars(message: Message) -> int:
    """Length of the message's compact JSON in the API's form, with placeholders for media.

    This is the size unit of `exchange-summary`. The record on disk is up to 3.6 × as large.
    """
    blocks: list[object] = []
    for block in message.blocks:
        match block:
            case Text(text):
                blocks.append({"type": "text", "text": text})
            case Thinking(text, signature):
                blocks.append({"type": "thinking", "thinking": text, "signature": signature})
            case ToolUse(id, name, inputs):
                blocks.append({"type": "tool_use", "id": id, "name": name, "input": inputs})
            case Media():
                blocks.append({"type": "text", "text": block.placeholder})
            case Opaque(_, raw):
                blocks.append(raw)
            case _:
                result = {"tool_use_id": block.call_id, "content": block.text, "is_error": block.is_error}
                blocks.append({"type": "tool_result", **result})
    body = {"role": message.role, "content": blocks}
    return len(json_text(body))


class Shape:
    """Messages and their prefix sums. Prefix arrays have one entry more than there are messages: `chars[b] - chars[a]`
    is the size of messages a..b."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages = messages
        self.known: dict[Callable[..., Any], Any] = {}
        """Cache of `per_shape` and `newest_per_shape`, by function."""
        self._part_facts: _PartFacts = {}
        self._part_facts_before: _PartFacts = {}

    def once(self, compute: Callable[..., T], parts: tuple[object, ...], *inputs: object) -> T:
        """Return `compute(*parts, *inputs)`, computed once for parts of these messages while `inputs` stay the same.

        The shape after a compaction shares this cache, because most of its messages are the same.
        """
        key = (compute, *map(id, parts))
        known = self._part_facts.get(key) or self._part_facts_before.get(key)
        if known is None or known[1] != inputs:
            known = parts, inputs, compute(*parts, *inputs)
        self._part_facts[key] = known
        found: T = known[2]
        return found

    def followed_by(self, other: Shape, start: int, stop: int) -> Shape:
        """Shape of these messages and then messages `start`..`stop` of another shape; reuses the sums of both."""
        whole = Shape((*self.messages, *other.messages[start:stop]))
        whole.chars = _continued(self.chars, other.chars, start, stop)
        whole.api_chars = _continued(self.api_chars, other.api_chars, start, stop)
        whole._part_facts, whole._part_facts_before = self._part_facts, self._part_facts_before
        return whole

    def grown_by(self, new: Sequence[Message]) -> Shape:
        """Shape of these messages followed by `new` ones. It takes over the index of ids, so that a growing series of
        shapes does not copy it each time; this shape builds its index again if needed."""
        whole = Shape((*self.messages, *new))
        places = self.index_of
        del self.index_of
        places.update({message.id: at for at, message in enumerate(new, len(self.messages))})
        whole.index_of = places
        whole._part_facts = self._part_facts
        return whole

    def left_by(self, outcome: Outcome) -> Shape:
        """Shape of the messages after `outcome`; reuses the sums of kept messages."""
        left = Shape(outcome.messages)
        left.chars = _sums_after(self.chars, outcome.pieces, visible_chars)
        left.api_chars = _sums_after(self.api_chars, outcome.pieces, api_chars)
        left._part_facts_before = self._part_facts
        return left

    def masked_at(self, index: int) -> Message:
        """Message `index` with secrets masked, computed once. Cut texts only from this copy: a fragment of a secret is
        not recognized as one."""
        return self.masking(self.messages[index])

    def masking(self, message: Message) -> Message:
        """Any message, of this shape or of an outcome, with secrets masked."""
        return self.once(searched_message, (message,))

    @cached_property
    def masked(self) -> tuple[Message, ...]:
        """All messages with secrets masked: about 200 ms per megabyte."""
        return tuple(map(self.masked_at, range(len(self.messages))))

    @cached_property
    def rounds(self) -> Rounds:
        """Rounds of the messages."""
        return rounds_of(self.messages)

    @cached_property
    def exchanges(self) -> tuple[Span, ...]:
        """Exchanges of the messages, as spans."""
        return exchanges_of(self.messages)

    @cached_property
    def exchange_starts(self) -> array[int]:
        """Index of the first message of every exchange."""
        return array("q", [span.start for span in self.exchanges])

    @cached_property
    def exchange_sizes(self) -> array[int]:
        """Size of every exchange in `api_chars`."""
        chars = self.api_chars
        return array("q", [chars[span.stop] - chars[span.start] for span in self.exchanges])

    @cached_property
    def round_starts(self) -> array[int]:
        """Index of the first message of every round."""
        return array("q", [span.start for span in self.rounds.rounds])

    @cached_property
    def api_chars(self) -> array[int]:
        """Prefix sums of the messages' compact JSON, in characters."""
        return array("q", accumulate((api_chars(m) for m in self.messages), initial=0))

    @cached_property
    def chars(self) -> array[int]:
        """Prefix sums of the messages' visible characters."""
        return array("q", accumulate((visible_chars(m) for m in self.messages), initial=0))

    @cached_property
    def index_of(self) -> dict[str, int]:
        """Message index by id."""
        return {message.id: index for index, message in enumerate(self.messages)}

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """Tool calls with their results."""
        return pairs_of(self.messages)

    @cached_property
    def partners(self) -> dict[int, tuple[int, ...]]:
        """For a message with calls or results: indexes of the messages at the other end of its tool pairs."""
        found: dict[int, tuple[int, ...]] = {}
        for _, call, result in self.pairs:
            if call is not None and result is not None:
                for here, there in ((call, result), (result, call)):
                    known = found.get(here, ())
                    if there not in known:
                        found[here] = (*known, there)
        return found

    @cached_property
    def open_across(self) -> array[int]:
        """Number of tool pairs that a cut before message i would split, for i in 0..len."""
        delta = array("q", bytes(8 * (len(self.messages) + 2)))
        for _, call, result in self.pairs:
            if call is not None and result is not None and call != result:
                delta[min(call, result) + 1] += 1
                delta[max(call, result) + 1] -= 1
        return array("q", accumulate(delta[: len(self.messages) + 1]))

    def call_of(self, index: int, call_id: str) -> ToolUse | None:
        """Call that result `call_id` in message `index` answers, with secrets masked; None if it is not in the
        context."""
        for at in self.partners.get(index, ()):
            for call in self.masked_at(at).calls:
                if call.id == call_id:
                    return call
        return None

    def exchange_index(self, index: int) -> int:
        """Number of exchanges that begin before message `index`."""
        return bisect_left(self.exchange_starts, index)

    @cached_property
    def summaries(self) -> tuple[int, ...]:
        """Indexes of earlier summaries."""
        return tuple(i for i, m in enumerate(self.messages) if m.is_summary)

    @cached_property
    def lead(self) -> int:
        """Number of the session's own system messages before everything else."""
        return leading_system(self.messages)

    @cached_property
    def own_system(self) -> tuple[int, ...]:
        """Indexes of the session's own system messages."""
        return tuple(i for i, message in enumerate(self.messages) if message.is_own_system)

    @cached_property
    def newest_answer(self) -> Message | None:
        """The agent's newest answer, None without one."""
        return next((m for m in reversed(self.messages) if m.role == "assistant" and m.kind == "normal"), None)

    @cached_property
    def unread(self) -> tuple[int, ...]:
        """Indexes of unanswered messages: those after the agent's newest answer, which are results of its newest calls
        or the running request. If the agent has not answered: messages after a summary, else the newest message.
        Summaries and own system messages are excluded."""
        messages = self.messages
        back = range(len(messages) - 1, -1, -1)
        answers = (i for i in back if messages[i].role == "assistant" and messages[i].kind == "normal")
        summaries = (i for i in back if messages[i].kind == "summary")
        read = next(answers, next(summaries, len(messages) - 2))
        after = range(max(read + 1, 0), len(messages))
        return tuple(i for i in after if messages[i].kind != "summary" and not messages[i].is_own_system)

    @cached_property
    def events(self) -> int:
        """Number of blocks of all messages: texts, calls, results."""
        return sum(len(message.blocks) for message in self.messages)

    @cached_property
    def marker(self) -> int | None:
        """Index of the newest assistant message that asks for a summary with `SUMMARY_MARKER`."""
        for index in range(len(self.messages) - 1, -1, -1):
            message = self.messages[index]
            if message.role == "assistant" and message.kind == "normal" and SUMMARY_MARKER in message.text:
                return index
        return None


def _continued(sums: array[int], others: array[int], start: int, stop: int) -> array[int]:
    """Prefix sums, continued with elements `start`..`stop` of others."""
    shift = sums[-1] - others[start]
    return array("q", [*sums, *(each + shift for each in others[start + 1 : stop + 1])])


def _sums_after(sums: array[int], pieces: Iterable[Piece], measured: Callable[[Message], int]) -> array[int]:
    """Prefix sums of the messages of `pieces`, from the prefix sums of their source."""
    out = array("q", [0])
    for piece in pieces:
        if not isinstance(piece, KeptSpan):
            out.append(out[-1] + measured(piece.message))
            continue
        part = sums[piece.start + 1 : piece.stop + 1]
        shift = out[-1] - sums[piece.start]
        out.extend(part if not shift else array("q", [each + shift for each in part]))
    return out


def per_shape(compute: Callable[[Shape], T]) -> Callable[[Shape], T]:
    """Cache `compute` per shape. Threads that call it at the same time may each compute, but all get the result stored
    first, because callers compare parts of it by identity."""

    @wraps(compute)
    def found(shape: Shape) -> T:
        if compute not in shape.known:
            shape.known.setdefault(compute, compute(shape))
        result: T = shape.known[compute]
        return result

    return found


_STORING = Lock()
"""Held while a result is stored, never while it is computed."""


def newest_per_shape(compute: Callable[[Shape, K], T]) -> Callable[[Shape, K], T]:
    """Cache only the newest result of `compute` per shape, because settings change continuously while a user adjusts
    them. Threads that call it with the same key at the same time get the same result."""

    @wraps(compute)
    def found(shape: Shape, key: K) -> T:
        known: tuple[K, T] | None = shape.known.get(compute)
        if known is None or known[0] != key:
            fresh = (key, compute(shape, key))
            with _STORING:
                known = shape.known.get(compute)
                if known is None or known[0] != key:
                    known = shape.known[compute] = fresh
        return known[1]

    return found
