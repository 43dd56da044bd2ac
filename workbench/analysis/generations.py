"""Facts left after several compactions in a row.

Between two compactions the context grows by the messages that followed in the session, until it is as large as before
the first one. If the session has no more messages, its tail is repeated under new ids (`Generation.replayed`), which
makes the growth realistic in size but adds no content. Only facts of the first head are followed, and messages of the
growth do not keep them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.analysis.retention import (
    Retention,
    head_end,
    is_unreadable,
    new_messages,
    retention_of_head,
    unchanged_marks,
)
from workbench.analysis.rule_text import RuleVerdict
from workbench.analysis.watched_rules import judge_remaining
from workbench.base.figures import ordinal, percent
from workbench.compaction.context import Context, Layout
from workbench.compaction.outcome import Outcome, Status
from workbench.compaction.shape import Shape
from workbench.facts.fact import FactKind
from workbench.session import Block, Message, ToolResult, ToolUse
from workbench.tokens.sizes import Basis, Sizes

Compact = Callable[[Context], Outcome]


@dataclass(frozen=True)
class Generation:
    """One of several compactions. `before` and `after` are tokens of the whole context, `summary` of the new messages.
    `retention` covers the first head's facts. `grown` is the number of messages added since the previous compaction;
    `replayed`: some of them repeat the tail. `watched` has the state of each watched rule."""

    number: int
    status: Status
    before: int
    after: int
    summary: int
    grown: int
    replayed: bool
    retention: Retention
    watched: tuple[RuleVerdict, ...] = ()


@dataclass(frozen=True)
class Generations:
    """Several compactions in a row."""

    steps: tuple[Generation, ...]

    @property
    def survival(self) -> dict[FactKind, tuple[float | None, ...]]:
        """Share of the first head's facts that each generation keeps, by kind, 0 to 1; None if unknown."""
        kinds = self.steps[0].retention.kinds if self.steps else {}
        return {kind: tuple(step.retention.kinds[kind].share for step in self.steps) for kind in kinds}

    @property
    def overall(self) -> tuple[float | None, ...]:
        """Share of facts kept by each generation."""
        return tuple(step.retention.overall.share for step in self.steps)

    @property
    def right(self) -> tuple[float | None, ...]:
        """Share of facts kept and correct."""
        return tuple(step.retention.overall.right for step in self.steps)

    @property
    def weighted(self) -> tuple[float | None, ...]:
        """Share of facts kept by weight."""
        return tuple(step.retention.overall.weighted for step in self.steps)

    @property
    def finding(self) -> str:
        """Summary such as `82 % of the facts survive the first compaction, 2 % the second, 2 % the fifth`; "" if
        unknown."""
        shares = zip(self.steps, self.weighted, strict=True)
        known = [(_nth(step.number), percent(share)) for step, share in shares if share is not None]
        if not known:
            return ""
        (first, share), *others = dict.fromkeys((*known[:2], known[-1]))
        rest = (f"{share} the {which}" for which, share in others)
        return ", ".join((f"{share} of the facts survive the {first} compaction", *rest))

    @property
    def summary_tokens(self) -> tuple[int, ...]:
        """Tokens of the summary of each generation."""
        return tuple(step.summary for step in self.steps)


_ORDINALS = ("first", "second", "third", "fourth", "fifth")


def _nth(number: int) -> str:
    return _ORDINALS[number - 1] if number <= len(_ORDINALS) else ordinal(number)


@dataclass(frozen=True)
class RepeatedCompaction:
    """One of several compactions, and the rest of the first context after it: `unchanged_marks` marks the remaining
    messages, `new_messages` replace the others (None once a summary cannot be read). Neither includes growth."""

    number: int
    context: Context
    outcome: Outcome
    grown: int
    replayed: bool
    unchanged_marks: Sequence[int]
    new_messages: tuple[Message, ...] | None


def repeat_compaction(
    context: Context, compact: Compact, following: Sequence[Message], count: int
) -> Iterator[RepeatedCompaction]:
    """Compact `context` `count` times, at least once, with growth in between. Stops after a compaction that changes
    nothing. A split set by hand applies to the first compaction only."""
    outcome = compact(context)
    new = None if is_unreadable(outcome) else new_messages(outcome)
    turn = RepeatedCompaction(1, context, outcome, 0, False, unchanged_marks(outcome), new)
    yield turn
    target, rest, tail = context.total.tokens, list(following), _tail_to_repeat(context, outcome)
    while turn.number < count and turn.outcome.status != "unchanged":
        after = turn.context.from_outcome(turn.outcome)
        grown, replayed = _growth(after, target, rest, tail, turn.number + 1)
        here = _append_messages(after, grown)
        outcome = compact(here)
        stays, new = _remaining_messages(context, outcome, turn.unchanged_marks, turn.new_messages)
        turn = RepeatedCompaction(turn.number + 1, here, outcome, len(grown), replayed, stays, new)
        yield turn


def generations(
    context: Context, compact: Compact, following: Sequence[Message], count: int, watched: Sequence[str] = ()
) -> Generations:
    """Compact `context` `count` times, as `repeat_compaction` does, and judge the kept facts and rules each time."""
    found: list[Generation] = []
    stop = 0
    for turn in repeat_compaction(context, compact, following, count):
        stop = stop if found else head_end(turn.outcome)
        held = retention_of_head(context, stop, turn.unchanged_marks, turn.new_messages, following)
        system = turn.context.system_text(turn.outcome)
        judged = tuple(
            judge_remaining(one, context.shape, turn.unchanged_marks, turn.new_messages, system) for one in watched
        )
        found.append(_generation(turn, held, judged))
    return Generations(tuple(found))


def _generation(turn: RepeatedCompaction, held: Retention, watched: tuple[RuleVerdict, ...]) -> Generation:
    context, outcome = turn.context, turn.outcome
    return Generation(
        turn.number,
        outcome.status,
        context.total.tokens,
        context.outcome_size(outcome).tokens,
        context.measure(new_messages(outcome)).tokens,
        turn.grown,
        turn.replayed,
        held,
        watched,
    )


def _remaining_messages(
    first: Context, outcome: Outcome, remaining: Sequence[int], new: Sequence[Message] | None
) -> tuple[bytearray, tuple[Message, ...] | None]:
    """Return the marks of the first context's remaining messages, and the messages that replace the others (None once a
    summary cannot be read)."""
    ids = {message.id for message in outcome.messages}
    marks = bytearray(len(first))
    for id, index in first.layout.shape.index_of.items():
        marks[index] = bool(remaining[index]) and id in ids
    if new is None or is_unreadable(outcome):
        return marks, None
    earlier = [message for message in new if message.id in ids]
    known = {message.id for message in earlier}
    return marks, (*earlier, *(message for message in new_messages(outcome) if message.id not in known))


def _tail_to_repeat(context: Context, outcome: Outcome) -> list[Message]:
    """Return the messages to repeat once the session has no more: the tail, or the last round if the tail is
    shorter."""
    rounds = context.shape.rounds.rounds
    start = min(outcome.split, rounds[-1].start if rounds else 0)
    return [message for message in context.messages[start:] if message.kind == "normal" and message.role != "system"]


def _growth(
    context: Context, target: int, rest: list[Message], tail: Sequence[Message], number: int
) -> tuple[list[Message], bool]:
    """Return messages that fill the context to `target` tokens with complete tool pairs, and True if some repeat the
    tail. Removes the messages from `rest`."""
    meter, room = context.layout.sizes.meter, target - context.total.tokens
    grown: list[Message] = []
    open_calls: set[str] = set()
    replayed = not rest
    for message in _growth_messages(rest, tail, number):
        # Stop a tenth above the target even if calls are open: some never get a result.
        if grown and room <= 0 and (not open_calls or room < -target // 10):
            break
        replayed = replayed or not rest
        grown.append(message)
        room -= meter.tokens(message)
        open_calls.update(call.id for call in message.calls)
        open_calls.difference_update(answer.call_id for answer in message.results)
    return grown, replayed


def _growth_messages(rest: list[Message], tail: Sequence[Message], number: int) -> Iterator[Message]:
    while rest:
        yield rest.pop(0)
    lap = 0
    while tail:
        lap += 1
        yield from (_with_new_ids(message, f"~{number}.{lap}") for message in tail)


def _with_new_ids(message: Message, mark: str) -> Message:
    """Return the message under another id, its calls and results too."""
    return replace(
        message, id=message.id + mark, blocks=tuple(_blocks_with_new_ids(message.blocks, mark)), source=(), usage=None
    )


def _blocks_with_new_ids(blocks: Iterable[Block], mark: str) -> Iterator[Block]:
    for block in blocks:
        match block:
            case ToolUse(id, name, given):
                yield ToolUse(id + mark, name, given)
            case ToolResult(call_id, content, is_error):
                yield ToolResult(call_id + mark, content, is_error)
            case _:
                yield block


def _append_messages(context: Context, more: Sequence[Message]) -> Context:
    """Return the context with messages appended, sized by the meter."""
    sizes = context.layout.sizes
    tokens = array("q", sizes.tokens)
    tokens.extend(map(sizes.meter.tokens, more))
    basis: Basis | tuple[Basis, ...] = sizes.meter.basis
    if not isinstance(sizes.basis, Basis):
        basis = (*sizes.basis, *(sizes.meter.basis for _ in more))
    longer = Sizes(tokens, basis, sizes.overhead, sizes.overhead_basis, 0, sizes.meter)
    return context.with_(layout=Layout(context.shape.followed_by(Shape(more), 0, len(more)), longer), split_at=None)
