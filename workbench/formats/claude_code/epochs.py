"""Epochs of a Claude Code session: the context between two recorded compactions."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from msgspec import Struct

from workbench.formats.claude_code.events import CLEARED, PERSISTED, Event
from workbench.session import Block, Compaction, Epoch, Message, Text, Thinking, ToolResult


class RecordedEvents(Struct, frozen=True):
    """Compactions that a file records. `by_message`: by the number of the boundary or answer that records each.
    `loose`: record index and event of lines outside the chain. `preserved_numbers(event)` returns the messages that an
    event keeps, `numbers(uuids)` the messages of lines."""

    by_message: Mapping[int, Event]
    loose: Sequence[tuple[int, Event]]
    preserved_numbers: Callable[[Event], Sequence[int]]
    numbers: Callable[[Iterable[str]], Sequence[int]]


@dataclass(slots=True)
class _Context:
    """The context while the branch is followed. `messages`: the file's messages, then the replacements of cleared ones
    (`replacements`: message to replacement; `originals`: back). `copies`: replacements of messages that an earlier call
    sent complete. `waiting`: preserved messages by the message that they follow."""

    messages: list[Message]
    members: list[int] = field(default_factory=list)
    epochs: list[Epoch] = field(default_factory=list)
    replacements: dict[int, int] = field(default_factory=dict)
    originals: dict[int, int] = field(default_factory=dict)
    copies: set[int] = field(default_factory=set)
    waiting: dict[int | None, list[int]] = field(default_factory=dict)

    def close(self, end: Compaction | None) -> None:
        for number in [*self.waiting]:
            self.members += self.waiting.pop(number)
        copies = self.copies.intersection(self.members)
        self.epochs.append(Epoch(len(self.epochs) + 1, array("q", self.members), end, frozenset(copies)))

    def original(self, number: int) -> int:
        """Return the number of the original message in the file."""
        return self.originals.get(number, number)

    def replace_message(self, number: int, message: Message) -> int:
        """Replace message `number`; return the number of the replacement."""
        other = len(self.messages)
        self.replacements[number], self.originals[other] = other, self.original(number)
        self.messages.append(message)
        return other

    def current(self, number: int) -> int:
        """Return the newest replacement of message `number`, or `number`."""
        while number in self.replacements:
            number = self.replacements[number]
        return number


class BranchEpochs(Struct, frozen=True):
    """All messages, each replacement after its original, and the branch and epochs by message number."""

    messages: tuple[Message, ...]
    branch: list[int]
    epochs: tuple[Epoch, ...]


def divide_into_epochs(
    messages: Sequence[Message], branch: Sequence[int], sent: Sequence[bool], recorded: RecordedEvents
) -> BranchEpochs:
    """Divide a branch into epochs. A boundary with an empty context before it ends no epoch, nor does a clearing that
    changes nothing already sent."""
    context = _Context(list(messages))
    loose = [*recorded.loose]
    for number in branch:
        message = messages[number]
        while loose and loose[0][0] < message.source[0]:
            _apply(context, loose.pop(0)[1], recorded)
        if event := recorded.by_message.get(number):
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
    return _in_file_order(context, branch)


def _in_file_order(context: _Context, branch: Sequence[int]) -> BranchEpochs:
    """Return the result with every replacement right after its original, where the file view shows it."""
    if not context.originals:
        return BranchEpochs(tuple(context.messages), [*branch], tuple(_with_summaries(context)))
    order = sorted(range(len(context.messages)), key=lambda number: (context.original(number), number))
    place = {number: at for at, number in enumerate(order)}
    epochs = tuple(
        replace(
            epoch,
            members=array("q", (place[number] for number in epoch.members)),
            copies=frozenset(place[number] for number in epoch.copies),
        )
        for epoch in _with_summaries(context)
    )
    return BranchEpochs(
        tuple(context.messages[number] for number in order), [place[number] for number in branch], epochs
    )


def _with_summaries(context: _Context) -> Iterable[Epoch]:
    """Yield the epochs; `ended_by.summary` is the id of the first summary message in the next epoch."""
    for index, epoch in enumerate(context.epochs):
        if epoch.ended_by is not None and epoch.ended_by.way == "summary":
            after = map(context.messages.__getitem__, context.epochs[index + 1].members)
            summary = next((message.id for message in after if message.kind == "summary"), None)
            epoch = replace(epoch, ended_by=replace(epoch.ended_by, summary=summary))
        yield epoch


def _apply(context: _Context, event: Event, recorded: RecordedEvents) -> None:
    if event.compaction.way == "summary":
        _apply_summary(context, event, recorded)
        return
    removed = set(map(context.current, recorded.numbers(event.removed)))
    remaining = [number for number in context.members if number not in removed]
    changed = _cleared_messages(context, remaining, event)
    answers = [at for at, number in enumerate(remaining) if context.messages[number].role == "assistant"]
    seen = {number for number in remaining[: answers[-1] + 1] if number in changed} if answers else set()
    if seen or len(remaining) < len(context.members):
        context.close(event.compaction)
    for number, message in changed.items():
        other = context.replace_message(number, message)
        context.copies |= {other} if number in seen else set()
    now = map(context.current, remaining)
    context.members = [number for number in now if context.messages[number].blocks]


def _apply_summary(context: _Context, event: Event, recorded: RecordedEvents) -> None:
    preserved = [context.current(number) for number in recorded.preserved_numbers(event)]
    if context.members or context.epochs:
        context.close(replace(event.compaction, kept_ids=tuple(context.messages[number].id for number in preserved)))
    anchor = next(iter(recorded.numbers([event.preserved.anchor])), None)
    beginning = anchor is not None and context.messages[anchor].kind == "boundary"
    context.members = preserved if beginning else []
    context.waiting = {} if beginning or not preserved else {anchor: preserved}


def _cleared_messages(context: _Context, members: Sequence[int], event: Event) -> dict[int, Message]:
    """Return the shortened messages after a clearing, each by the number of the message that it replaces."""
    messages = [(number, context.messages[number]) for number in members]
    answered = [result.call_id for _, message in messages for result in message.results]
    names = {call.id: call.name for _, message in messages for call in message.calls}
    first = next((at for at, id in enumerate(answered) if id in event.results), 0)
    older = [*answered[: event.oldest_results], *(id for id in answered[:first] if names.get(id) in event.tools)]
    results = {**{id: event.replacement(id) for id in older}, **event.results}
    with_thinking = (number for number in members if _thinks(context.messages[context.original(number)]))
    without_thinking = set(islice(with_thinking, event.oldest_thoughts))
    found: dict[int, Message] = {}
    for number, message in messages:
        remaining_blocks = (
            block for block in message.blocks if not (number in without_thinking and isinstance(block, Thinking))
        )
        blocks = tuple(_cleared_block(block, results) for block in remaining_blocks)
        if blocks != message.blocks:
            # The replacement dates from the compaction, so the usage of earlier calls does not count it.
            time = event.compaction.time or message.time
            found[number] = replace(
                message, id=f"{message.id}~cleared", blocks=blocks, time=time, usage=None, source=()
            )
    return found


def _thinks(message: Message) -> bool:
    return any(isinstance(block, Thinking) for block in message.blocks)


def _cleared_block(block: Block, results: Mapping[str, str]) -> Block:
    if not isinstance(block, ToolResult) or block.call_id not in results:
        return block
    if block.text == CLEARED or block.text.startswith(PERSISTED):
        return block
    return replace(block, content=(Text(results[block.call_id]),), user_text="")
