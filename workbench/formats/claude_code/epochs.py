"""The epochs of a Claude Code session: the context from one recorded making of room to the next."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from msgspec import Struct

from workbench.formats.claude_code.events import CLEARED, PERSISTED, Event
from workbench.session import Block, Compaction, Epoch, Message, Text, Thinking, ToolResult


class Recorded(Struct, frozen=True):
    """What a file records of making room: `at` by the number of the boundary it is, or of the answer it was told in;
    `loose` are those that are no link of the chain, with the record each is. `kept(event)` are the numbers of the
    messages that an event keeps, `numbers(uuids)` those of lines."""

    at: Mapping[int, Event]
    loose: Sequence[tuple[int, Event]]
    kept: Callable[[Event], Sequence[int]]
    numbers: Callable[[Iterable[str]], Sequence[int]]


@dataclass(slots=True)
class _Context:
    """The context as it grows along the branch. `messages` are the file's, and behind them what stands in the place of
    some (`instead`, and back `stood_for`); what `copies` stand for was seen as it was before. `waiting` are kept
    messages by the number of the message behind which they stand."""

    messages: list[Message]
    members: list[int] = field(default_factory=list)
    epochs: list[Epoch] = field(default_factory=list)
    instead: dict[int, int] = field(default_factory=dict)
    stood_for: dict[int, int] = field(default_factory=dict)
    copies: set[int] = field(default_factory=set)
    waiting: dict[int | None, list[int]] = field(default_factory=dict)

    def close(self, end: Compaction | None) -> None:
        for number in [*self.waiting]:
            self.members += self.waiting.pop(number)
        copies = self.copies.intersection(self.members)
        self.epochs.append(Epoch(len(self.epochs) + 1, array("q", self.members), end, frozenset(copies)))

    def first(self, number: int) -> int:
        """The message of the file that `number` is or stands for."""
        return self.stood_for.get(number, number)

    def put(self, number: int, message: Message) -> int:
        """Put another message in the place of `number`; the number of that one."""
        other = len(self.messages)
        self.instead[number], self.stood_for[other] = other, self.first(number)
        self.messages.append(message)
        return other

    def current(self, number: int) -> int:
        """The message that stands for `number` by now."""
        while number in self.instead:
            number = self.instead[number]
        return number


class Divided(Struct, frozen=True):
    """The messages, those that stand for others after a clearing behind these; the branch and the epochs in them."""

    messages: tuple[Message, ...]
    branch: list[int]
    epochs: tuple[Epoch, ...]


def divided(messages: Sequence[Message], branch: Sequence[int], sent: Sequence[bool], recorded: Recorded) -> Divided:
    """The epochs of a branch. A boundary with nothing before it divides nothing, nor does what clears nothing that was
    sent."""
    context = _Context(list(messages))
    loose = [*recorded.loose]
    for number in branch:
        message = messages[number]
        while loose and loose[0][0] < message.source[0]:
            _apply(context, loose.pop(0)[1], recorded)
        if event := recorded.at.get(number):
            _apply(context, event, recorded)
        if message.kind == "boundary" or not sent[number]:
            continue
        context.members.append(number)
        if context.waiting:
            context.members += context.waiting.pop(number, [])
            if message.kind == "summary":
                context.members += context.waiting.pop(None, [])
    for _, event in loose:
        _apply(context, event, recorded)
    context.close(None)
    return _in_place(context, branch)


def _in_place(context: _Context, branch: Sequence[int]) -> Divided:
    """With every message that stands for another behind that one, where the file's view shows it."""
    if not context.stood_for:
        return Divided(tuple(context.messages), [*branch], tuple(_with_summaries(context)))
    order = sorted(range(len(context.messages)), key=lambda number: (context.first(number), number))
    place = {number: at for at, number in enumerate(order)}
    epochs = tuple(
        replace(
            epoch,
            members=array("q", (place[number] for number in epoch.members)),
            copies=frozenset(place[number] for number in epoch.copies),
        )
        for epoch in _with_summaries(context)
    )
    return Divided(tuple(context.messages[number] for number in order), [place[number] for number in branch], epochs)


def _with_summaries(context: _Context) -> Iterable[Epoch]:
    """Each epoch that a summary ended, with the id of that summary: the first of the epoch after it."""
    for index, epoch in enumerate(context.epochs):
        if epoch.ended_by is not None and epoch.ended_by.way == "summary":
            after = map(context.messages.__getitem__, context.epochs[index + 1].members)
            summary = next((message.id for message in after if message.kind == "summary"), None)
            epoch = replace(epoch, ended_by=replace(epoch.ended_by, summary=summary))
        yield epoch


def _apply(context: _Context, event: Event, recorded: Recorded) -> None:
    if event.compaction.way == "summary":
        _summarise(context, event, recorded)
        return
    gone = set(map(context.current, recorded.numbers(event.removed)))
    left = [number for number in context.members if number not in gone]
    changed = _cleared(context, left, event)
    answers = [at for at, number in enumerate(left) if context.messages[number].role == "assistant"]
    seen = {number for number in left[: answers[-1] + 1] if number in changed} if answers else set()
    if seen or len(left) < len(context.members):
        context.close(event.compaction)
    for number, message in changed.items():
        other = context.put(number, message)
        context.copies |= {other} if number in seen else set()
    now = map(context.current, left)
    context.members = [number for number in now if context.messages[number].blocks]


def _summarise(context: _Context, event: Event, recorded: Recorded) -> None:
    kept = [context.current(number) for number in recorded.kept(event)]
    if context.members or context.epochs:
        context.close(replace(event.compaction, kept=tuple(context.messages[number].id for number in kept)))
    anchor = next(iter(recorded.numbers([event.kept.anchor])), None)
    beginning = anchor is not None and context.messages[anchor].kind == "boundary"
    context.members = kept if beginning else []
    context.waiting = {} if beginning or not kept else {anchor: kept}


def _cleared(context: _Context, members: Sequence[int], event: Event) -> dict[int, Message]:
    """The messages that say less after the event, by number."""
    messages = [(number, context.messages[number]) for number in members]
    answered = [result.call_id for _, message in messages for result in message.results]
    names = {call.id: call.name for _, message in messages for call in message.calls}
    first = next((at for at, id in enumerate(answered) if id in event.results), 0)
    older = [*answered[: event.oldest_results], *(id for id in answered[:first] if names.get(id) in event.tools)]
    results = {**{id: event.instead(id) for id in older}, **event.results}
    thought = (number for number in members if _thinks(context.messages[context.first(number)]))
    silent = set(islice(thought, event.oldest_thoughts))
    found: dict[int, Message] = {}
    for number, message in messages:
        spoken = (block for block in message.blocks if not (number in silent and isinstance(block, Thinking)))
        blocks = tuple(_emptied(block, results) for block in spoken)
        if blocks != message.blocks:
            # What stands here instead was made when room was made: no older bill speaks of it.
            time = event.compaction.time or message.time
            found[number] = replace(
                message, id=f"{message.id}~cleared", blocks=blocks, time=time, usage=None, source=()
            )
    return found


def _thinks(message: Message) -> bool:
    return any(isinstance(block, Thinking) for block in message.blocks)


def _emptied(block: Block, results: Mapping[str, str]) -> Block:
    if not isinstance(block, ToolResult) or block.call_id not in results:
        return block
    if block.text == CLEARED or block.text.startswith(PERSISTED):
        return block
    return replace(block, content=(Text(results[block.call_id]),), said="")
