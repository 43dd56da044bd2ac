"""What a context's messages are made of whatever their tokens: units, tool pairs, characters. Found out once.

Pins, the split, a policy's numbers and token figures move; what stands here depends on none of them. Moving any must
replan 60 000 messages within one frame (16 ms), so sums come from prefix arrays and whatever else is read from the
messages is kept with their shape (`per_shape`).
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

_Said = dict[tuple[Any, ...], tuple[tuple[object, ...], tuple[object, ...], Any]]
"""What parts of messages say, by who found it out and the parts' identities: with the parts, so that they live as long,
and with what else it was found out by."""


def api_chars(message: Message) -> int:
    """Length of the message's compact JSON as the model's API would carry it, media as their placeholder.

    The size unit of `exchange-summary`: not the record on disk, which is up to 3.6 × as large.
    """
    blocks: list[object] = []
    for block in message.blocks:
        match block:
            case Text(text):
                blocks.append({"type": "text", "text": text})
            case Thinking(text, signature):
                blocks.append({"type": "thinking", "thinking": text, "signature": signature})
            case ToolUse(id, name, given):
                blocks.append({"type": "tool_use", "id": id, "name": name, "input": given})
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
    """Prefix arrays have one entry more than there are messages; `chars[b] - chars[a]` is the size of messages a..b."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages = messages
        self.known: dict[Callable[..., Any], Any] = {}
        """What `per_shape` and `newest_per_shape` keep, by the function that found it out."""
        self._said: _Said = {}
        self._said_before: _Said = {}

    def once(self, compute: Callable[..., T], parts: tuple[object, ...], *given: object) -> T:
        """`compute(*parts, *given)` of parts of these messages, found out once while `given` stays the same.

        A compaction keeps most of what it is made of: the shape that it leaves still knows what was asked for here,
        and hands that on which is asked for again."""
        key = (compute, *map(id, parts))
        known = self._said.get(key) or self._said_before.get(key)
        if known is None or known[1] != given:
            known = parts, given, compute(*parts, *given)
        self._said[key] = known
        found: T = known[2]
        return found

    def followed_by(self, other: Shape, start: int, stop: int) -> Shape:
        """The shape of these messages and then of `start`..`stop` of another one, the sums of both carried on."""
        whole = Shape((*self.messages, *other.messages[start:stop]))
        whole.chars = _continued(self.chars, other.chars, start, stop)
        whole.api_chars = _continued(self.api_chars, other.api_chars, start, stop)
        whole._said, whole._said_before = self._said, self._said_before
        return whole

    def grown_by(self, new: Sequence[Message]) -> Shape:
        """The shape of these messages and then of `new` ones, the places of all by their ids carried on. This one hands
        its own over, to find them out again when asked: in a row of shapes that grow each would copy every id."""
        whole = Shape((*self.messages, *new))
        places = self.index_of
        del self.index_of
        places.update({message.id: at for at, message in enumerate(new, len(self.messages))})
        whole.index_of = places
        whole._said = self._said
        return whole

    def left_by(self, outcome: Outcome) -> Shape:
        """The shape of what `outcome` leaves, the sums of what is kept carried over."""
        left = Shape(outcome.messages)
        left.chars = _carried(self.chars, outcome.pieces, visible_chars)
        left.api_chars = _carried(self.api_chars, outcome.pieces, api_chars)
        left._said_before = self._said
        return left

    def masked_at(self, index: int) -> Message:
        """Message `index` without its secrets, found out once: what every fragment of it is made of. A name, a line or
        a cut text has lost what the secret in it would be told by."""
        return self.masking(self.messages[index])

    def masking(self, message: Message) -> Message:
        """The same of any message: of these, and of those that an outcome keeps or makes of them."""
        return self.once(searched_message, (message,))

    @cached_property
    def masked(self) -> tuple[Message, ...]:
        """All messages without their secrets: about 200 ms for a megabyte."""
        return tuple(map(self.masked_at, range(len(self.messages))))

    @cached_property
    def rounds(self) -> Rounds:
        return rounds_of(self.messages)

    @cached_property
    def exchanges(self) -> tuple[Span, ...]:
        return exchanges_of(self.messages)

    @cached_property
    def exchange_starts(self) -> array[int]:
        return array("q", [span.start for span in self.exchanges])

    @cached_property
    def exchange_sizes(self) -> array[int]:
        """The size of every exchange in `api_chars`."""
        chars = self.api_chars
        return array("q", [chars[span.stop] - chars[span.start] for span in self.exchanges])

    @cached_property
    def round_starts(self) -> array[int]:
        return array("q", [span.start for span in self.rounds.rounds])

    @cached_property
    def api_chars(self) -> array[int]:
        return array("q", accumulate((api_chars(m) for m in self.messages), initial=0))

    @cached_property
    def chars(self) -> array[int]:
        return array("q", accumulate((visible_chars(m) for m in self.messages), initial=0))

    @cached_property
    def index_of(self) -> dict[str, int]:
        """Message index by id."""
        return {message.id: index for index, message in enumerate(self.messages)}

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        return pairs_of(self.messages)

    @cached_property
    def partners(self) -> dict[int, tuple[int, ...]]:
        """For a message with calls or results: the indexes of the messages at the other end of its tool pairs."""
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
        """How many tool pairs a cut before message i would tear, for i in 0..len."""
        delta = array("q", bytes(8 * (len(self.messages) + 2)))
        for _, call, result in self.pairs:
            if call is not None and result is not None and call != result:
                delta[min(call, result) + 1] += 1
                delta[max(call, result) + 1] -= 1
        return array("q", accumulate(delta[: len(self.messages) + 1]))

    def call_of(self, index: int, call_id: str) -> ToolUse | None:
        """The call that result `call_id` in message `index` answers, without secrets; None where it is not there."""
        for at in self.partners.get(index, ()):
            for call in self.masked_at(at).calls:
                if call.id == call_id:
                    return call
        return None

    def exchange_index(self, index: int) -> int:
        """How many exchanges begin before message `index`."""
        return bisect_left(self.exchange_starts, index)

    @cached_property
    def summaries(self) -> tuple[int, ...]:
        """Indexes of earlier summaries."""
        return tuple(i for i, m in enumerate(self.messages) if m.is_summary)

    @cached_property
    def lead(self) -> int:
        """How many of the session's own system messages stand before everything else."""
        return leading_system(self.messages)

    @cached_property
    def own_system(self) -> tuple[int, ...]:
        """Indexes of the session's own system messages."""
        return tuple(i for i, message in enumerate(self.messages) if message.is_own_system)

    @cached_property
    def newest_answer(self) -> Message | None:
        return next((m for m in reversed(self.messages) if m.role == "assistant" and m.kind == "normal"), None)

    @cached_property
    def unread(self) -> tuple[int, ...]:
        """Indexes of what stands after the agent's newest answer: the results of its newest calls, the running request.
        It has not read them. Where it has not answered at all, what stands after a summary, else the newest message.
        Summaries and the session's own system messages are none of them."""
        messages = self.messages
        back = range(len(messages) - 1, -1, -1)
        answers = (i for i in back if messages[i].role == "assistant" and messages[i].kind == "normal")
        summaries = (i for i in back if messages[i].kind == "summary")
        read = next(answers, next(summaries, len(messages) - 2))
        after = range(max(read + 1, 0), len(messages))
        return tuple(i for i in after if messages[i].kind != "summary" and not messages[i].is_own_system)

    @cached_property
    def events(self) -> int:
        """Blocks of all messages: texts, calls, results."""
        return sum(len(message.blocks) for message in self.messages)

    @cached_property
    def marker(self) -> int | None:
        """The newest assistant message that asks for a summary by `SUMMARY_MARKER`."""
        for index in range(len(self.messages) - 1, -1, -1):
            message = self.messages[index]
            if message.role == "assistant" and message.kind == "normal" and SUMMARY_MARKER in message.text:
                return index
        return None


def _continued(sums: array[int], others: array[int], start: int, stop: int) -> array[int]:
    """Prefix sums continued by those of elements `start`..`stop` of others."""
    shift = sums[-1] - others[start]
    return array("q", [*sums, *(each + shift for each in others[start + 1 : stop + 1])])


def _carried(sums: array[int], pieces: Iterable[Piece], measured: Callable[[Message], int]) -> array[int]:
    """Prefix sums of the messages that `pieces` give, from those of the messages they were made of."""
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
    """`compute`, called once for a shape. Threads that ask at the same time may each compute it, and all get the result
    that was stored first: callers compare parts of it by identity."""

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
    """`compute`, of whose results a shape keeps the newest: numbers move while a person turns them, and only what was
    asked for last is worth its memory. Threads that ask for the same at the same time get the same."""

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
