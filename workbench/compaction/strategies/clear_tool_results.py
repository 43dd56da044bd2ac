"""`clear-tool-results`: replace old tool results with a marker; the messages stay, and no model is used.

Parameters and meaning are those of Anthropic's `clear_tool_uses_20250919` (anthropic-sdk-python,
`types/beta/beta_clear_tool_uses_20250919_edit_param.py`).

    before   call a · result a · call b · result b · … · call z · result z
    after    call a · [cleared] · call b · [cleared] · … · call z · result z
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import ClassVar, Literal, NamedTuple

from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.compaction.context import Context, Gauge
from workbench.compaction.fates import Painting, Stroke
from workbench.compaction.invariants import pinned_with_pairs, with_verdict
from workbench.compaction.outcome import Fate, FateSpan, KeptSpan, NewMessage, Outcome, Piece, unchanged
from workbench.compaction.policy import Converted, Policy, names_in, setting
from workbench.compaction.shape import Shape, per_shape
from workbench.compaction.spans import pieces_in_place, spans_of
from workbench.compaction.strategy import Compacting, ProgressStep, Remedy, Strategy, Traits, Trigger
from workbench.session import Block, Message, Span, Text, ToolResult, ToolUse
from workbench.tokens.sizes import Basis, Size, Sizes


class ClearToolResultsPolicy(Policy):
    """Fields of `clear_tool_uses_20250919`, flattened, with the API's defaults."""

    trigger: Literal["input_tokens", "tool_uses"] = setting(
        "input_tokens", "trigger", "Trigger by tokens of the context, or by the number of tool calls in it."
    )
    trigger_value: int = setting(
        100_000, "trigger", "Clear when the context reaches this value.", unit="tokens or tool calls", ge=1
    )
    keep_tool_uses: int = setting(3, "split", "Number of newest tool calls kept unchanged.", unit="tool calls", ge=0)
    clear_at_least_tokens: int = setting(
        0,
        "split",
        "Clear nothing unless this amount is saved: every change invalidates the prompt cache.",
        unit="tokens",
        ge=0,
    )
    exclude_tools: str = setting(
        "", "split", "Tools whose results are never cleared: names separated by commas. They still count as tool calls."
    )
    clear_tool_inputs: bool = setting(False, "result", "Also clear the inputs of the calls.")
    clear_inputs_of: str = setting(
        "",
        "result",
        "Clear inputs of these tools only: names separated by commas. Empty: all tools.",
        needs={"clear_tool_inputs": (True,)},
    )
    placeholder: str = setting(
        "[Old tool result content cleared]", "result", "Replaces a cleared result.", min_length=1
    )

    converted: ClassVar = {"earlier_summary": Converted()}


class AnsweredCall(NamedTuple):
    """A tool call with its result: indexes of the messages, and the tool's name."""

    id: str
    name: str
    call: int
    result: int


@per_shape
def answered_calls(shape: Shape) -> tuple[AnsweredCall, ...]:
    """Tool calls that have a result, in order."""
    names = {
        (block.id, index): block.name
        for index, message in enumerate(shape.messages)
        for block in message.blocks
        if isinstance(block, ToolUse)
    }
    pairs = ((id, call, result) for id, call, result in shape.pairs if call is not None and result is not None)
    found = [AnsweredCall(id, names[id, call], call, result) for id, call, result in pairs]
    return tuple(sorted(found, key=attrgetter("call", "result")))


@dataclass
class CallMeter:
    """Number of calls, open ones included."""

    value: int = 0

    def add(self, message: Message, chars: int, tokens: int) -> None:
        """Count the calls of a message."""
        self.value += len(message.calls)


def triggers(now: Gauge, policy: ClearToolResultsPolicy) -> tuple[Trigger, ...]:
    """Read the trigger that the policy selects."""
    limit = policy.trigger_value
    if policy.trigger == "tool_uses":
        uses = now.meters["tool calls"]
        return (Trigger("tool calls", uses, limit, "tool calls", uses >= limit),)
    return (Trigger("tokens", now.tokens, limit, "tokens", now.tokens >= limit),)


def compact(context: Context, policy: ClearToolResultsPolicy, trace: list[str]) -> Compacting:
    """Clear the results of old tool calls in place, and their inputs if the policy says so. Spared are the newest
    calls, excluded tools, and the calls of pinned and unanswered messages."""
    answered, clearing = answered_calls(context.shape), _clearing(context.shape, policy)
    pins = pinned_with_pairs(context)
    spared = clearing.spared(answered, policy.keep_tool_uses, pins | frozenset(context.shape.unread))
    other = clearing.other(context.messages, spared)
    chosen = len(clearing.uses) - len(spared)
    changed = len(clearing.all.new) - sum(instead is None for instead in other.values())
    trace.append(
        f"tool calls: {len(answered)} with results, the newest {min(policy.keep_tool_uses, len(answered))} kept; "
        f"{chosen} can be cleared, in {counted(changed, 'message')}"
    )
    if not changed:
        return unchanged(context.messages, "nothing to clear: every tool result is kept or already cleared", trace)
    cleared, _ = clearing.all.saved(context, other)
    if policy.clear_at_least_tokens and cleared < policy.clear_at_least_tokens:
        minimum = grouped(policy.clear_at_least_tokens)
        few = f"only {grouped(cleared)} tokens can be cleared; the minimum is {minimum}"
        return unchanged(context.messages, few, trace)
    yield ProgressStep("clear", f"{chosen} tool calls")
    return with_verdict(context, replace(clearing.all.outcome(context, other, pins), trace=tuple(trace)))


class _Clearing:
    """Replacements that clear every call that a policy allows, and the changes to them if some calls are not
    cleared."""

    def __init__(self, shape: Shape, policy: ClearToolResultsPolicy) -> None:
        self._excluded, only = names_in(policy.exclude_tools), names_in(policy.clear_inputs_of)
        self.placeholder = policy.placeholder
        self.uses = [use for use in answered_calls(shape) if use.name not in self._excluded]
        self._results: dict[int, set[str]] = {}
        self._inputs: dict[int, set[str]] = {}
        self._touching: dict[int, list[AnsweredCall]] = {}
        for use in self.uses:
            self._results.setdefault(use.result, set()).add(use.id)
            if policy.clear_tool_inputs and (not only or use.name in only):
                self._inputs.setdefault(use.call, set()).add(use.id)
            self._touching.setdefault(use.call, []).append(use)
            if use.result != use.call:
                self._touching.setdefault(use.result, []).append(use)
        new: dict[int, Message] = {}
        for index in sorted(self._results.keys() | self._inputs.keys()):
            message = shape.messages[index]
            results, inputs = self._results.get(index, _NONE), self._inputs.get(index, _NONE)
            changed = shape.once(_changed_message, (message,), results, inputs, self.placeholder)
            if changed is not message:
                new[index] = changed
        self.all = Replacements(len(shape.messages), new)

    def spared(self, answered: Sequence[AnsweredCall], keep: int, held: Collection[int]) -> frozenset[AnsweredCall]:
        """Calls not to clear: the `keep` newest, and those of a held message (a pin, or an unanswered message)."""
        newest = (use for use in answered[-keep:] if use.name not in self._excluded) if keep else ()
        theirs = (use for index in held for use in self._touching.get(index, ()))
        return frozenset((*newest, *theirs))

    def other(self, messages: Sequence[Message], spared: Collection[AnsweredCall]) -> dict[int, Message | None]:
        """Messages to use instead of replacements, by index, so that the spared calls are not cleared; None for the
        context's own message."""
        found: dict[int, Message | None] = {}
        for index in {index for use in spared for index in (use.call, use.result)} & self.all.new.keys():
            going = [use for use in self._touching[index] if use not in spared]
            results = {use.id for use in going if use.result == index} & self._results.get(index, _NONE)
            inputs = {use.id for use in going if use.call == index} & self._inputs.get(index, _NONE)
            changed = _changed_message(messages[index], results, inputs, self.placeholder)
            found[index] = None if changed is messages[index] else changed
        return found


_NONE: Set[str] = frozenset()


def _clearing(shape: Shape, policy: ClearToolResultsPolicy) -> _Clearing:
    """Clearing for the policy's tools and words, computed once. Pins and numbers are not part of it: they only exempt
    some calls."""
    known = _clearings(shape)
    key = (policy.placeholder, policy.exclude_tools, policy.clear_tool_inputs, policy.clear_inputs_of)
    found = known.get(key)
    if found is None:
        found = _Clearing(shape, policy)
        known.clear()  # while a placeholder is typed, only the newest clearing is kept
        known[key] = found
    return found


@per_shape
def _clearings(shape: Shape) -> dict[tuple[str, str, bool, str], _Clearing]:
    return {}


def _changed_message(message: Message, results: Set[str], inputs: Set[str], placeholder: str) -> Message:
    """Clear these results and inputs of a message; return the same object if there is nothing to clear."""
    blocks = tuple(_cleared(block, results, inputs, placeholder) for block in message.blocks)
    if all(new is old for new, old in zip(blocks, message.blocks, strict=True)):
        return message
    return replace(message, blocks=blocks, source=())


def _cleared(block: Block, results: Set[str], inputs: Set[str], placeholder: str) -> Block:
    """Clear the content of a block if its call is to be cleared; return the same object otherwise."""
    if isinstance(block, ToolResult) and block.call_id in results and block.text != placeholder:
        return ToolResult(block.call_id, (Text(placeholder),), block.is_error)
    if isinstance(block, ToolUse) and block.id in inputs and block.input:
        return ToolUse(block.id, block.name, {})
    return block


class Replacements:
    """Replacements `new` (by index) of some of `count` messages, and quick variations of them.

    A plan that clears 20 000 results differs from the next plan in a few of them. Computing all pieces, fates and sizes
    takes a tenth of a second; here only the differences from "all replaced" are computed.

    `other`: exceptions by index, with the message to use instead; None for the context's own message.
    """

    def __init__(self, count: int, new: Mapping[int, Message]) -> None:
        self.count = count
        self.new = new
        self._saved: tuple[Sizes, int, int] | None = None

    def outcome(self, context: Context, other: Mapping[int, Message | None], pins: Iterable[int]) -> Outcome:
        """Outcome that replaces messages of `context`; `pins` are the indexes of pinned messages."""
        pieces, size = self._pieces_with(other), self._size(context, other)
        if size.basis is Basis.ESTIMATE or not context.layout.has_estimates:
            context.know_size(pieces, size)  # else the basis depends on the kept messages
        return Outcome("compacted", "", context.messages, pieces, self._fates(other, pins))

    def saved(self, context: Context, other: Mapping[int, Message | None]) -> tuple[int, int]:
        """Tokens and characters saved."""
        tokens, chars = self._saved_by_all(context)
        for index, instead in other.items():
            less, shorter = _saved_by(context, index, self.new[index])
            tokens, chars = tokens - less, chars - shorter
            if instead is not None:
                less, shorter = _saved_by(context, index, instead)
                tokens, chars = tokens + less, chars + shorter
        return tokens, chars

    def _saved_by_all(self, context: Context) -> tuple[int, int]:
        sizes = context.layout.sizes
        if self._saved is None or self._saved[0] is not sizes:
            each_saved = [_saved_by(context, index, message) for index, message in self.new.items()]
            self._saved = (sizes, sum(tokens for tokens, _ in each_saved), sum(chars for _, chars in each_saved))
        return self._saved[1:]

    def _size(self, context: Context, other: Mapping[int, Message | None]) -> Size:
        layout, sizes = context.layout, context.layout.sizes
        tokens, chars = self.saved(context, other)
        any_replaced = len(self.new) > sum(instead is None for instead in other.values())
        doubtful = Basis.ESTIMATE in (sizes.overhead_basis, sizes.meter.basis if any_replaced else None)
        return Size(
            self.count,
            layout.shape.chars[-1] - chars,
            layout.tokens[-1] + sizes.overhead - tokens,
            Basis.ESTIMATE if doubtful else Basis.CALIBRATED,
        )

    # --- pieces and fates -------------------------------------------------------------------------------------------

    @cached_property
    def _pieces(self) -> tuple[Piece, ...]:
        return tuple(pieces_in_place(Span(0, self.count), self.new))

    @cached_property
    def _place(self) -> dict[int, int]:
        """Number of the piece of each replaced message."""
        return {piece.replaces[0].start: at for at, piece in enumerate(self._pieces) if isinstance(piece, NewMessage)}

    @cached_property
    def _painting(self) -> Painting:
        strokes = [Stroke(Fate.KEPT, [Span(0, self.count)]), Stroke(Fate.COMPRESSED, spans_of(sorted(self.new)))]
        return Painting(self.count, strokes)

    def _fates(self, other: Mapping[int, Message | None], pins: Iterable[int]) -> tuple[FateSpan, ...]:
        own = sorted(index for index, instead in other.items() if instead is None)
        return self._painting.over([Stroke(Fate.KEPT, spans_of(own)), Stroke(Fate.PINNED, spans_of(sorted(pins)))])

    def _pieces_with(self, other: Mapping[int, Message | None]) -> tuple[Piece, ...]:
        """Pieces with exceptions: those around `other` are rebuilt, all others reused."""
        out: list[Piece] = []
        done = here = kept_from = 0  # pieces appended, index that they reach, and first kept message not yet appended
        for index in sorted(other):
            place, instead = self._place[index], other[index]
            if done < place:
                _join(out, kept_from, here, self._pieces[done:place])
                kept_from = index
                if isinstance(last := out[-1], KeptSpan) and instead is None:
                    kept_from = last.start
                    out.pop()
            if instead is not None:
                if kept_from < index:
                    out.append(KeptSpan(kept_from, index))
                out.append(NewMessage(instead, (Span(index, index + 1),)))
                kept_from = index + 1
            done, here = place + 1, index + 1
        _join(out, kept_from, here, self._pieces[done:])
        return tuple(out)


def _join(out: list[Piece], kept_from: int, here: int, pieces: Sequence[Piece]) -> None:
    """Append the messages `kept_from`..`here` unchanged, then `pieces`, which follow them."""
    if kept_from < here:
        first = pieces[0] if pieces else None
        if isinstance(first, KeptSpan):
            out.append(KeptSpan(kept_from, first.stop))
            pieces = pieces[1:]
        else:
            out.append(KeptSpan(kept_from, here))
    out.extend(pieces)


def _saved_by(context: Context, index: int, message: Message) -> tuple[int, int]:
    layout, part = context.layout, context.layout.measured(message)
    tokens = layout.tokens[index + 1] - layout.tokens[index]
    return tokens - part.tokens, layout.shape.chars[index + 1] - layout.shape.chars[index] - part.chars


def remedy(bound: int) -> Remedy:
    """Return a policy with the API's defaults, whose trigger is half of `bound` tokens if that is lower."""
    policy = ClearToolResultsPolicy(trigger_value=min(100_000, max(1, bound // 2)))
    kept = f"all but the newest {policy.keep_tool_uses}"
    return Remedy("clear", f"Clearing old tool results from {grouped(policy.trigger_value)} tokens on, {kept},", policy)


STRATEGY = Strategy(
    id="clear-tool-results",
    title="Clear tool results",
    about="Replaces old tool results with a marker and keeps the newest. Uses no model.",
    traits=Traits(method="tool results cleared"),
    policy_type=ClearToolResultsPolicy,
    triggers=triggers,
    compact=compact,
    meters={"tool calls": lambda context, policy: CallMeter()},
    unit="tool call",
    movable=False,
    remedy=remedy,
)
