"""Epochs of a conversation in which each summary replaces the messages before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from workbench.formats.kit.blocks import compacted, is_compaction
from workbench.session import Block, Compaction, Epoch, Message, Opaque


def epochs_at(
    messages: Sequence[Message], summaries: Sequence[int], trigger: str = "", lasting: Sequence[int] = ()
) -> Iterator[Epoch]:
    """Yield the epochs of a conversation. Each begins at a summary (index in `summaries`), the first at message 0; a
    summary at index 0 ends no epoch.

    lasting: indexes of messages sent with every later request, such as a system prompt among the messages.
    """
    start = number = 0
    for end in summaries:
        if end > start:
            number += 1
            yield Epoch(number, _members(start, end, lasting), Compaction(trigger, summary=messages[end].id))
        start = end
    yield Epoch(number + 1, _members(start, len(messages), lasting))


def mark_empty_compactions(epochs: Sequence[Epoch]) -> tuple[Epoch, ...]:
    """Return the epochs, with each removal that removed no message marked as an empty compaction."""
    found = [*epochs]
    for at, (before, after) in enumerate(pairwise(epochs)):
        ended = before.ended_by
        if ended is not None and ended.way == "removal" and set(after.members).issuperset(before.members):
            found[at] = replace(before, ended_by=replace(ended, way="empty"))
    return tuple(found)


def split_at_compactions(messages: Iterable[Message]) -> tuple[list[Message], list[int]]:
    """Split each response that contains the Messages API's own compaction: into the part before the block, the summary,
    and the part after it, which has the usage. Return the messages and the indexes of the summaries.

    Ids of later parts get a number as suffix.
    """
    parts: list[Message] = []
    summaries: list[int] = []
    for message in messages:
        if message.role != "assistant" or not any(map(_compacts, message.blocks)):
            parts.append(message)
            continue
        runs = [(is_block, tuple(run)) for is_block, run in groupby(message.blocks, key=_compacts)]
        for number, (is_block, blocks) in enumerate(runs, 1):
            id = message.id if number == 1 else f"{message.id}.{number}"
            if is_block:
                summary = tuple(compacted(block.raw) for block in blocks if isinstance(block, Opaque))
                summaries.append(len(parts))
                parts.append(replace(message, id=id, blocks=summary, kind="summary", usage=None))
            else:
                usage = message.usage if number == len(runs) else None
                parts.append(replace(message, id=id, blocks=blocks, kind="normal", usage=usage))
    return parts, summaries


def _compacts(block: Block) -> bool:
    return isinstance(block, Opaque) and is_compaction(block.raw)


def _members(start: int, stop: int, lasting: Sequence[int]) -> Sequence[int]:
    before = [place for place in lasting if place < start]
    return (*before, *range(start, stop)) if before else range(start, stop)
