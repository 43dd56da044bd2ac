"""What is left after several compactions: compact, go on, compact again.

Between two compactions the context grows by the messages that followed in the session until it is as large as before
the first one. Where the session has no more, its tail is repeated under new ids (`Generation.replayed`): the growth is
right then, and what is said in it is not news. Followed are the facts of the first head; what the growth says of them
does not count as held.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.analysis.retention import Retention, head_end, is_unreadable, kept_marks, new_messages, retention_of_head
from workbench.analysis.watched_rules import RuleVerdict, judge_remaining
from workbench.base.figures import ordinal, percent
from workbench.compaction.context import Context
from workbench.compaction.layout import Layout
from workbench.compaction.outcome import Outcome, Status
from workbench.compaction.shape import Shape
from workbench.facts.fact import FactKind
from workbench.session import Block, Message, ToolResult, ToolUse
from workbench.tokens.sizes import Basis, Sizes

Compact = Callable[[Context], Outcome]


@dataclass(frozen=True)
class Generation:
    """One compaction of several. `before` and `after` are tokens of the whole context, `summary` those of the messages
    that were made. `retention` is of the first head's facts. `grown` counts the messages that came before it since the
    last one, `replayed` says that the session had no more of them. `watched` is how each sentence stands that was asked
    for."""

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
    steps: tuple[Generation, ...]

    @property
    def survival(self) -> dict[FactKind, tuple[float | None, ...]]:
        """By kind the share of the first head's facts that each generation still holds, 0 to 1; None where nobody can
        tell."""
        kinds = self.steps[0].retention.kinds if self.steps else {}
        return {kind: tuple(step.retention.kinds[kind].share for step in self.steps) for kind in kinds}

    @property
    def overall(self) -> tuple[float | None, ...]:
        return tuple(step.retention.overall.share for step in self.steps)

    @property
    def right(self) -> tuple[float | None, ...]:
        return tuple(step.retention.overall.right for step in self.steps)

    @property
    def weighted(self) -> tuple[float | None, ...]:
        return tuple(step.retention.overall.weighted for step in self.steps)

    @property
    def finding(self) -> str:
        """What it comes to: `82 % of what mattered survives the first compaction, 2 % the second, 2 % the fifth`; ""
        where nobody can tell."""
        shares = zip(self.steps, self.weighted, strict=True)
        known = [(_nth(step.number), percent(share)) for step, share in shares if share is not None]
        if not known:
            return ""
        (first, share), *others = dict.fromkeys((*known[:2], known[-1]))
        rest = (f"{share} the {which}" for which, share in others)
        return ", ".join((f"{share} of the facts survive the {first} compaction", *rest))

    @property
    def summary_tokens(self) -> tuple[int, ...]:
        return tuple(step.summary for step in self.steps)


_ORDINALS = ("first", "second", "third", "fourth", "fifth")


def _nth(number: int) -> str:
    return _ORDINALS[number - 1] if number <= len(_ORDINALS) else ordinal(number)


@dataclass(frozen=True)
class Turn:
    """One compaction of several, and what it left of the first context: `stays` marks the messages of it that are still
    there, `made` stand for the others, None from where on nobody can read that. What it grew by counts in neither."""

    number: int
    context: Context
    outcome: Outcome
    grown: int
    replayed: bool
    stays: Sequence[int]
    made: tuple[Message, ...] | None


def turns(context: Context, compact: Compact, following: Sequence[Message], count: int) -> Iterator[Turn]:
    """Compact `context` `count` times (at least once), letting it grow in between. Stops early where a compaction
    changes nothing. A split set by hand holds for the first one only."""
    outcome = compact(context)
    made = None if is_unreadable(outcome) else new_messages(outcome)
    turn = Turn(1, context, outcome, 0, False, kept_marks(outcome), made)
    yield turn
    target, rest, tail = context.total.tokens, list(following), _tail(context, outcome)
    while turn.number < count and turn.outcome.status != "unchanged":
        after = turn.context.from_outcome(turn.outcome)
        grown, replayed = _growth(after, target, rest, tail, turn.number + 1)
        here = _extended(after, grown)
        outcome = compact(here)
        stays, made = _left(context, outcome, turn.stays, turn.made)
        turn = Turn(turn.number + 1, here, outcome, len(grown), replayed, stays, made)
        yield turn


def generations(
    context: Context, compact: Compact, following: Sequence[Message], count: int, watched: Sequence[str] = ()
) -> Generations:
    """Compact `context` `count` times, as `turns` does, and judge each time what is left."""
    found: list[Generation] = []
    stop = 0
    for turn in turns(context, compact, following, count):
        stop = stop if found else head_end(turn.outcome)
        held = retention_of_head(context, stop, turn.stays, turn.made, following)
        beside = turn.context.system_text(turn.outcome)
        judged = tuple(judge_remaining(one, context.shape, turn.stays, turn.made, beside) for one in watched)
        found.append(_step(turn, held, judged))
    return Generations(tuple(found))


def _step(turn: Turn, held: Retention, watched: tuple[RuleVerdict, ...]) -> Generation:
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


def _left(
    first: Context, outcome: Outcome, present: Sequence[int], made: Sequence[Message] | None
) -> tuple[bytearray, tuple[Message, ...] | None]:
    """Which messages of the first context are still there, and what stands for the others by now; None from where on
    nobody can read that."""
    ids = {message.id for message in outcome.messages}
    marks = bytearray(len(first))
    for id, index in first.layout.shape.index_of.items():
        marks[index] = bool(present[index]) and id in ids
    if made is None or is_unreadable(outcome):
        return marks, None
    earlier = [message for message in made if message.id in ids]
    known = {message.id for message in earlier}
    return marks, (*earlier, *(message for message in new_messages(outcome) if message.id not in known))


def _tail(context: Context, outcome: Outcome) -> list[Message]:
    """What is repeated where the session has no more: the tail, or the last round where the tail is shorter."""
    rounds = context.shape.rounds.rounds
    start = min(outcome.split, rounds[-1].start if rounds else 0)
    return [message for message in context.messages[start:] if message.kind == "normal" and message.role != "system"]


def _growth(
    context: Context, target: int, rest: list[Message], tail: Sequence[Message], number: int
) -> tuple[list[Message], bool]:
    """Messages that fill the context up to `target` tokens, tool pairs whole; what is taken of `rest` is gone."""
    meter, room = context.layout.sizes.meter, target - context.total.tokens
    grown: list[Message] = []
    open_calls: set[str] = set()
    replayed = not rest
    for message in _endless(rest, tail, number):
        # A call that the session left open has no result to wait for.
        if grown and room <= 0 and (not open_calls or room < -target // 10):
            break
        replayed = replayed or not rest
        grown.append(message)
        room -= meter.tokens(message)
        open_calls.update(call.id for call in message.calls)
        open_calls.difference_update(answer.call_id for answer in message.results)
    return grown, replayed


def _endless(rest: list[Message], tail: Sequence[Message], number: int) -> Iterator[Message]:
    while rest:
        yield rest.pop(0)
    lap = 0
    while tail:
        lap += 1
        yield from (_again(message, f"~{number}.{lap}") for message in tail)


def _again(message: Message, mark: str) -> Message:
    """The message under another id, its calls and results too."""
    return replace(message, id=message.id + mark, blocks=tuple(_marked(message.blocks, mark)), source=(), usage=None)


def _marked(blocks: Iterable[Block], mark: str) -> Iterator[Block]:
    for block in blocks:
        match block:
            case ToolUse(id, name, given):
                yield ToolUse(id + mark, name, given)
            case ToolResult(call_id, content, is_error):
                yield ToolResult(call_id + mark, content, is_error)
            case _:
                yield block


def _extended(context: Context, more: Sequence[Message]) -> Context:
    """The context with messages appended; new ones count what the meter says."""
    sizes = context.layout.sizes
    tokens = array("q", sizes.tokens)
    tokens.extend(map(sizes.meter.tokens, more))
    basis: Basis | tuple[Basis, ...] = sizes.meter.basis
    if not isinstance(sizes.basis, Basis):
        basis = (*sizes.basis, *(sizes.meter.basis for _ in more))
    longer = Sizes(tokens, basis, sizes.overhead, sizes.overhead_basis, 0, sizes.meter)
    return context.with_(layout=Layout(context.shape.followed_by(Shape(more), 0, len(more)), longer), split_at=None)
