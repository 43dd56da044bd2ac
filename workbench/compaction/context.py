"""What the model would see at one point of a session, as a view that plans are made on.

Everything that does not depend on a plan is computed once in `Layout` and shared by every context made from it: moving
the split or a pin must replan 60 000 messages within one frame (16 ms), so sums come from prefix arrays.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate

import orjson

from workbench.compaction.gauge import Gauge
from workbench.compaction.outcome import Kept, Outcome
from workbench.facts.tools import Action, actions_of
from workbench.session import (
    Media,
    Message,
    Opaque,
    Rounds,
    Span,
    Text,
    Thinking,
    Tool,
    ToolUse,
    exchanges_of,
    pairs_of,
    rounds_of,
)
from workbench.tokens.anchoring import billed_points, calls_of, span_basis
from workbench.tokens.sizes import Basis, Size, Sizes, measure, visible_chars

SUMMARY_MARKER = "!!!SUMMARY!!!"


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
        other.__dict__.update({k: v for k, v in self.__dict__.items() if k not in ("sizes", "tokens", "billed")})
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
    def billed(self) -> dict[int, int]:
        """The places between messages where a bill is known; see `span_basis`."""
        return billed_points(self.sizes, self.messages)

    @cached_property
    def index_of(self) -> dict[str, int]:
        """Message index by id."""
        return {message.id: index for index, message in enumerate(self.messages)}

    @cached_property
    def partners(self) -> dict[int, frozenset[int]]:
        """For a message with calls or results: the indexes of the messages at the other end of its tool pairs."""
        found: dict[int, set[int]] = {}
        for pair in pairs_of(self.messages):
            if pair.call is not None and pair.result is not None:
                found.setdefault(pair.call, set()).add(pair.result)
                found.setdefault(pair.result, set()).add(pair.call)
        return {index: frozenset(others) for index, others in found.items()}

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
        """What the last API call was billed, prompt and answer together; None where no call was recorded."""
        calls = calls_of(self.messages)
        usage = self.messages[calls[-1].index].usage if calls else None
        return usage.context + usage.output if usage else None

    @cached_property
    def own_system(self) -> tuple[int, ...]:
        """Indexes of the session's own system messages."""
        return tuple(i for i, message in enumerate(self.messages) if message.is_own_system)

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


@dataclass(frozen=True)
class Context:
    """A context to be compacted, and what the person wants of it. Frozen; cheap to copy with `with_`.

    `pins` are ids of messages to keep verbatim. `split_at` is the id of the first tail message, set by hand, None
    for the
    strategy's own split. `manual`: a run at the user's command, thresholds count as reached. `window` is the model's
    limit in tokens, None when unknown. `rules` is the text of the project's rules file.
    """

    layout: Layout
    pins: frozenset[str] = frozenset()
    split_at: str | None = None
    manual: bool = True
    window: int | None = None
    model: str | None = None
    system: str = ""
    tools: tuple[Tool, ...] = ()
    memories: str = ""
    rules: str = ""
    cache_age_ms: int | None = None
    summary_versions: Mapping[str, int] = field(default_factory=dict)
    """Format version of a summary by message id, where its format records one."""
    overflow_error_seen: bool = False
    """Whether the session records that the model refused this context as too long."""

    @property
    def messages(self) -> Sequence[Message]:
        return self.layout.messages

    @cached_property
    def prompt_tokens(self) -> int:
        """Tokens of the system prompt's text as the session holds it (0 where the format does not record it)."""
        return self.layout.sizes.meter.text_tokens(self.system) if self.system else 0

    @cached_property
    def tool_tokens(self) -> int:
        """Tokens of the tool definitions as the session holds them (0 where the format does not record them)."""
        return sum(self.layout.sizes.meter.text_tokens(tool.schema) for tool in self.tools)

    def unit_starts(self, unit: str) -> Sequence[int]:
        """First message indexes of the units that a strategy cuts between: exchange, round or message."""
        if unit == "exchange":
            return self.layout.exchange_starts
        if unit == "round":
            return self.layout.round_starts
        return range(len(self))

    def outcome_size(self, outcome: Outcome) -> Size:
        """The size of what an outcome would send, overhead included, in O(pieces).

        A kept message counts what it counts here, a new one what the meter says: one method on both sides.
        """
        tokens = chars = count = 0
        bases = {self.layout.sizes.overhead_basis}
        for piece in outcome.pieces:
            part = self.size(piece.start, piece.stop) if isinstance(piece, Kept) else self.measure((piece.message,))
            tokens, chars, count = tokens + part.tokens, chars + part.chars, count + part.messages
            bases.add(part.basis)
        basis = Basis.ESTIMATE if Basis.ESTIMATE in bases else Basis.CALIBRATED
        return Size(count, chars, tokens + self.layout.sizes.overhead, basis)

    def __len__(self) -> int:
        return len(self.layout.messages)

    def with_(self, **changes: object) -> Context:
        """A copy with fields changed; the layout, and with it every sum, is shared."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def upto(self, index: int) -> Size:
        """The size of the first `index` messages, in O(1); overhead not included."""
        return self.size(0, index)

    def size(self, start: int, stop: int) -> Size:
        """The size of messages `start`..`stop`, in O(1)."""
        layout = self.layout
        return Size(
            stop - start,
            layout.chars[stop] - layout.chars[start],
            layout.tokens[stop] - layout.tokens[start],
            self._basis(start, stop),
        )

    @property
    def total(self) -> Size:
        """The whole context as the model is sent it, overhead included: exact where the provider billed just this."""
        whole, sizes = self.upto(len(self)), self.layout.sizes
        exact = 0 < len(self) == sizes.anchored_until
        return Size(whole.messages, whole.chars, whole.tokens + sizes.overhead, Basis.EXACT if exact else whole.basis)

    def measure(self, messages: Sequence[Message]) -> Size:
        """The size of any messages, old or new, by the meter."""
        return measure(messages, self.layout.sizes.meter)

    def from_outcome(self, outcome: Outcome) -> Context:
        """The context as it would be after `outcome`, so that a session can go on from it.

        Kept messages keep their figures, new ones get the meter's; pins that are still there stay, a split does not.
        """
        sizes = self.layout.sizes
        tokens = array("q")
        for piece in outcome.pieces:
            if isinstance(piece, Kept):
                tokens.extend(sizes.tokens[piece.start : piece.stop])
            else:
                tokens.append(sizes.meter.tokens(piece.message))
        after = Sizes(tokens, sizes.meter.basis, sizes.overhead, sizes.overhead_basis, 0, sizes.meter)
        layout = Layout(outcome.messages, after)
        pins = frozenset(id for id in self.pins if id in layout.index_of)
        memories = self.memories if outcome.memories is None else outcome.memories
        return self.with_(layout=layout, pins=pins, split_at=None, memories=memories)

    def gauge(self) -> Gauge:
        """How full this context is now."""
        layout = self.layout
        newest = self.messages[-1] if self.messages else None
        return Gauge(
            messages=len(self),
            rounds=len(layout.rounds.rounds),
            events=layout.events,
            chars=layout.api_chars[-1],
            tokens=self.total.tokens,
            last_usage=layout.last_usage,
            input_chars=len(newest.text) if newest is not None and newest.role == "user" else 0,
            window=self.window,
            marker_seen=layout.marker is not None,
            overflow_error_seen=self.overflow_error_seen,
            cache_age_ms=self.cache_age_ms,
            memory_lines=sum(1 for line in self.memories.split("\n") if line.strip()),
            manual=self.manual,
        )

    def _basis(self, start: int, stop: int) -> Basis:
        return span_basis(self.layout.sizes, self.layout.billed, start, stop)
