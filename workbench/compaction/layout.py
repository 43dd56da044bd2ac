"""What a context's messages are made of, found out once: units, sizes as prefix sums, tool pairs.

Pins, the split and a policy's numbers move; what stands here does not depend on them. Moving any of them must replan
60 000 messages within one frame (16 ms), so sums come from prefix arrays and whatever is read from the messages is kept
with the layout (`per_layout`).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, wraps
from itertools import accumulate
from typing import TypeVar

import orjson

from workbench.compaction.outcome import Kept, Outcome, Piece
from workbench.facts import Fact, find
from workbench.facts.calls import Called, calls_in
from workbench.facts.tools import Action, actions_of
from workbench.session import (
    Media,
    Message,
    Opaque,
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
from workbench.tokens.anchoring import billed_points
from workbench.tokens.sizes import Basis, Size, Sizes, measure, visible_chars

SUMMARY_MARKER = "!!!SUMMARY!!!"

T = TypeVar("T")


def api_chars(message: Message) -> int:
    """Length of the message's compact JSON as the model's API would carry it, media as their placeholder.

    The size unit of `exchange-summary` (spec/strategies.md §1, Split): not the record on disk, which is up to 3.6 × as
    large.
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
    try:
        return len(orjson.dumps(body).decode())
    except (TypeError, orjson.JSONEncodeError):
        # Lone surrogates and integers beyond 64 bits: the standard encoder takes both.
        import json

        return len(json.dumps(body, ensure_ascii=False, separators=(",", ":"), default=str))


class Layout:
    """What a context's messages are made of, computed once: units, sizes as prefix sums, tool pairs.

    Prefix arrays have one entry more than there are messages; `chars[b] - chars[a]` is the size of messages a..b.
    """

    def __init__(self, messages: Sequence[Message], sizes: Sizes) -> None:
        self.messages = messages
        self.sizes = sizes

    def resized(self, sizes: Sizes) -> Layout:
        """The same messages with other token figures; what was computed of the rest is carried over."""
        other = Layout(self.messages, sizes)
        other.__dict__.update({k: v for k, v in self.__dict__.items() if k not in _OF_SIZES})
        return other

    def left_by(self, outcome: Outcome, sizes: Sizes) -> Layout:
        """The layout of what `outcome` leaves; sums that are there already are carried over, not made anew."""
        other = Layout(outcome.messages, sizes)
        for name, measured in (("api_chars", api_chars), ("chars", visible_chars)):
            if (sums := self.__dict__.get(name)) is not None:
                other.__dict__[name] = _carried(sums, outcome.pieces, measured)
        return other

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
    def tokens(self) -> array[int]:
        return array("q", accumulate(self.sizes.tokens, initial=0))

    @cached_property
    def has_estimates(self) -> bool:
        """Whether any message's figure is an estimate."""
        basis = self.sizes.basis
        return basis is Basis.ESTIMATE if isinstance(basis, Basis) else Basis.ESTIMATE in basis

    @cached_property
    def _measured(self) -> dict[int, tuple[Message, Size]]:
        return {}

    def measured(self, message: Message) -> Size:
        """The size of a message that takes the place of one of these, remembered: a strategy that changes 20 000
        results in their places gives the same new messages with every plan."""
        known = self._measured.get(id(message))
        if known is None:
            if len(self._measured) >= len(self.messages):
                self._measured.clear()
            known = self._measured[id(message)] = (message, measure((message,), self.sizes.meter))
        return known[1]

    @cached_property
    def sized(self) -> dict[int, tuple[tuple[Piece, ...], Size]]:
        """The sizes of some outcomes' pieces, by the identity of these; see `Context.outcome_size`."""
        return {}

    @cached_property
    def billed(self) -> dict[int, int]:
        """The places between messages where a bill is known; see `span_basis`."""
        return billed_points(self.sizes, self.messages)

    @cached_property
    def index_of(self) -> dict[str, int]:
        """Message index by id."""
        return {message.id: index for index, message in enumerate(self.messages)}

    @cached_property
    def partners(self) -> dict[int, tuple[int, ...]]:
        """For a message with calls or results: the indexes of the messages at the other end of its tool pairs."""
        found: dict[int, tuple[int, ...]] = {}
        for pair in pairs_of(self.messages):
            if pair.call is not None and pair.result is not None:
                for here, there in ((pair.call, pair.result), (pair.result, pair.call)):
                    known = found.get(here, ())
                    if there not in known:
                        found[here] = (*known, there)
        return found

    @cached_property
    def open_across(self) -> array[int]:
        """How many tool pairs a cut before message i would tear, for i in 0..len."""
        delta = array("q", bytes(8 * (len(self.messages) + 2)))
        for pair in pairs_of(self.messages):
            if pair.call is not None and pair.result is not None and pair.call != pair.result:
                low, high = sorted((pair.call, pair.result))
                delta[low + 1] += 1
                delta[high + 1] -= 1
        return array("q", accumulate(delta[: len(self.messages) + 1]))

    def call_of(self, index: int, call_id: str) -> ToolUse | None:
        """The call that result `call_id` in message `index` answers, None where it is not there."""
        for at in self.partners.get(index, ()):
            for call in self.messages[at].calls:
                if call.id == call_id:
                    return call
        return None

    def exchange_index(self, index: int) -> int:
        """How many exchanges begin before message `index`."""
        return bisect_left(self.exchange_starts, index)

    @cached_property
    def _actions(self) -> dict[int, tuple[Action, ...]]:
        return {}

    def actions(self, index: int) -> tuple[Action, ...]:
        """What the calls of message `index` did to files and on the command line; looked up once."""
        found = self._actions.get(index)
        if found is None:
            found = tuple(action for call in self.messages[index].calls for action in actions_of(call))
            self._actions[index] = found
        return found

    @cached_property
    def summaries(self) -> tuple[int, ...]:
        """Indexes of messages of kind summary."""
        return tuple(i for i, m in enumerate(self.messages) if m.kind == "summary")

    @cached_property
    def last_usage(self) -> int | None:
        """Input, cache and output of the newest API call on which the sizes are anchored. None without one: a call that
        was billed for messages which a compaction has since replaced anchors nothing."""
        anchor = min(self.sizes.anchored_until, len(self.messages) - 1)
        for index in range(anchor, -1, -1) if self.sizes.anchored_until else ():
            message = self.messages[index]
            if message.usage is not None and message.role == "assistant" and message.usage.context > 0:
                return message.usage.context + message.usage.output
        return None

    @cached_property
    def lead(self) -> int:
        """How many of the session's own system messages stand before everything else."""
        return leading_system(self.messages)

    @cached_property
    def own_system(self) -> tuple[int, ...]:
        """Indexes of the session's own system messages."""
        return tuple(i for i, message in enumerate(self.messages) if message.is_own_system)

    @cached_property
    def cache_age_ms(self) -> int | None:
        """How long the prompt cache had stood when the context's newest message came, by the time stamps: the time
        since the newest answer before it. None where the newest message is an answer itself, or has no time."""
        newest = self.messages[-1] if self.messages else None
        answer = next((m for m in reversed(self.messages) if m.role == "assistant" and m.kind == "normal"), None)
        if newest is None or answer is None or newest is answer or newest.time is None or answer.time is None:
            return None
        return max(0, round(1000 * (newest.time - answer.time)))

    @cached_property
    def events(self) -> int:
        """Blocks of all messages: texts, calls, results."""
        return sum(len(message.blocks) for message in self.messages)

    @cached_property
    def marker(self) -> int | None:
        """The newest assistant message that asks for a summary by `SUMMARY_MARKER` (spec/strategies.md §2)."""
        for index in range(len(self.messages) - 1, -1, -1):
            message = self.messages[index]
            if message.role == "assistant" and message.kind == "normal" and SUMMARY_MARKER in message.text:
                return index
        return None


def _carried(sums: array[int], pieces: Iterable[Piece], measured: Callable[[Message], int]) -> array[int]:
    """Prefix sums of the messages that `pieces` give, from those of the messages they were made of."""
    out = array("q", [0])
    for piece in pieces:
        if not isinstance(piece, Kept):
            out.append(out[-1] + measured(piece.message))
            continue
        part = sums[piece.start + 1 : piece.stop + 1]
        shift = out[-1] - sums[piece.start]
        out.extend(part if not shift else array("q", [each + shift for each in part]))
    return out


_OF_SIZES = frozenset(("sizes", "tokens", "billed", "last_usage", "has_estimates", "_measured", "sized"))
"""What of a layout depends on its sizes."""


def per_layout(compute: Callable[[Layout], T]) -> Callable[[Layout], T]:
    """`compute`, called once per layout. It must not depend on the sizes: `Layout.resized` carries the result over."""
    name = f"{compute.__module__}.{compute.__qualname__}"

    @wraps(compute)
    def found(layout: Layout) -> T:
        known = vars(layout)
        if name not in known:
            known[name] = compute(layout)
        result: T = known[name]
        return result

    return found


@per_layout
def calls_of(layout: Layout) -> tuple[Called, ...]:
    """Every tool call with its result."""
    return calls_in(layout.messages)


@per_layout
def facts_of(layout: Layout) -> tuple[Fact, ...]:
    """Every fact of the messages: seconds for 60 000 of them."""
    return find(layout.messages)
