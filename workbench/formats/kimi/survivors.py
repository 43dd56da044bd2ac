"""Select the user messages that Kimi Code keeps before a summary, and how much of each.

All are kept up to 20 000 tokens by Kimi Code's count; beyond that the first 2 000 and the last 18 000 with a note
between. The journal records only their number, so the selection is repeated here by Kimi Code's rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from workbench.session import Media, Message, Text

MOST, FIRST = 20_000, 2_000
"""Tokens of the user's messages that are kept, and the part of them for the oldest messages."""

_MEDIA = 2_000
"""Tokens that Kimi Code counts for an image, sound or video."""

ELIDED = (
    "<system-reminder>\nSome of this conversation's user messages were omitted here during compaction: the messages "
    "above this note are the oldest user input, the messages below are the most recent, and roughly {} tokens in "
    "between were dropped. The omitted content is covered by the compaction summary at the end of the conversation.\n"
    "</system-reminder>"
)


class Survivor(NamedTuple):
    """A kept message by its position among the user's; `text` is its kept part, None if it is complete."""

    place: int
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Survivors:
    """Messages kept before a summary. `omitted`: tokens dropped between head and tail, None if all are kept."""

    head: tuple[Survivor, ...]
    tail: tuple[Survivor, ...]
    omitted: int | None = None


def survivors_of(messages: Sequence[Message]) -> Survivors:
    """Select what is kept of the user's messages, oldest first."""
    sizes = [_size(message) for message in messages]
    if sum(sizes) <= MOST:
        return Survivors((), tuple(map(Survivor, range(len(messages)))))
    tail, dropped, at, room = [], "", len(messages), MOST - FIRST
    while at and room > 0:
        at -= 1
        if sizes[at] <= room:
            tail.append(Survivor(at))
            room -= sizes[at]
            continue
        text = _text(messages[at])
        end = _beginning_within(text[::-1], room)[::-1]
        tail.append(Survivor(at, end))
        dropped, room = text[: len(text) - len(end)], 0
    candidates = [(place, _text(messages[place]), sizes[place]) for place in range(at)]
    if dropped:
        candidates.append((at, dropped, _size_of([dropped])))
    head, room = [], FIRST
    for place, text, size in candidates:
        if room <= 0:
            break
        is_complete = size <= room and place < at
        head.append(Survivor(place, None if is_complete else _beginning_within(text, room)))
        room -= min(size, room)
    kept_tokens = sum(sizes[one.place] if one.text is None else _size_of([one.text]) for one in (*head, *tail))
    return Survivors(tuple(head), tuple(reversed(tail)), max(0, sum(sizes) - kept_tokens))


def _text(message: Message) -> str:
    return "".join(_texts(message))


def _texts(message: Message) -> Iterable[str]:
    return (block.text for block in message.blocks if isinstance(block, Text))


def _size(message: Message) -> int:
    media = sum(isinstance(block, Media) for block in message.blocks)
    return _size_of(_texts(message)) + _MEDIA * media


def _size_of(texts: Iterable[str]) -> int:
    """Tokens of a user's message by Kimi Code's count: a quarter per ASCII character, one per other character, rounded
    up per part, and one for the role."""
    return 1 + sum(-(-ascii // 4) + len(text) - ascii for text in texts for ascii in [sum(c < "\x80" for c in text)])


def _beginning_within(text: str, room: int) -> str:
    """Return the longest beginning of the text that fits `room` tokens."""
    ascii = other = 0
    for end, character in enumerate(text):
        if character < "\x80":
            ascii += 1
        else:
            other += 1
        if -(-ascii // 4) + other > room:
            return text[:end]
    return text
