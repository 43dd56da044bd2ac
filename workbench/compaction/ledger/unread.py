"""What the agent has not read yet, in the room that there is: whole, or each text with its beginning and its end."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.base.figures import grouped
from workbench.compaction.context import Context
from workbench.compaction.keeping import with_pairs
from workbench.compaction.language import Language
from workbench.compaction.ledger.ruler import Ruler
from workbench.compaction.ledger.text import WORDS
from workbench.session import Block, Message, Span, Text, ToolResult

LEAST_CHARS = 200
"""A text is never shortened to fewer characters, however small the budget; what is said of the rest not counted."""


@dataclass(frozen=True, slots=True)
class Unread:
    """Indexes of messages that stay, those in fewer words (`shorter`) by their index, and what all of them take."""

    indexes: frozenset[int]
    shorter: Mapping[int, Message]
    takes: int

    def within(self, span: Span) -> Mapping[int, Message]:
        """Those in fewer words of a stretch of messages."""
        return {index: message for index, message in self.shorter.items() if span.start <= index < span.stop}


def unread_within(
    context: Context, ruler: Ruler, room: int, binding: int, always: Collection[int], language: Language
) -> Unread:
    """What is not read yet, with the calls whose results it is, without what stays `always`: in no more than `room`, if
    that can be, but for the person's own words, which may take as much as what is `binding`."""
    indexes = with_pairs(context.shape, context.shape.unread).difference(always)
    unread = [index for index in context.shape.unread if index in indexes]
    own = [index for index in unread if context.messages[index].starts_round]
    takes = ruler.each(indexes.difference(unread))
    shorter: dict[int, Message] = {}
    for several, most in ((own, max(room, binding)), (sorted({*unread}.difference(own)), room)):
        found, taken = _fitted(context, ruler, most - takes, several, language)
        shorter |= found
        takes += taken
    return Unread(indexes, shorter, takes)


def _fitted(
    context: Context, ruler: Ruler, room: int, indexes: Sequence[int], language: Language
) -> tuple[Mapping[int, Message], int]:
    """Those of these messages that are in fewer words, and what all take: the longest texts are shortened, all to one
    length, until that is no more than `room`, or `LEAST_CHARS` are left of each."""
    whole = ruler.each(indexes)
    if whole <= room:
        return {}, whole
    messages = {index: context.messages[index] for index in indexes}
    lengths = [len(text) for message in messages.values() for text in _texts(message)]
    chars = max(_level(lengths, room * sum(lengths) // max(whole, 1)), LEAST_CHARS)
    while True:
        shorter = {index: new for index, old in messages.items() if (new := shortened(old, chars, language)) is not old}
        takes = sum(
            ruler.of_message(shorter[index]) if index in shorter else ruler.span(index, index + 1) for index in indexes
        )
        if takes <= room or chars == LEAST_CHARS:
            return shorter, takes
        chars = max(min(chars * room // takes, chars - 1 - chars // 50), LEAST_CHARS)


def _level(lengths: Sequence[int], chars: int) -> int:
    """The length to which the longest may be cut so that all together have about `chars`."""
    for place, length in enumerate(sorted(lengths)):
        share = chars // (len(lengths) - place)
        if length >= share:
            return share
        chars -= length
    return max(lengths, default=0)


def shortened(message: Message, chars: int, language: Language) -> Message:
    """The message with every text and tool result over `chars` without its middle, which is said; the same object where
    none is so long. Its id stays; it has no `source`, for no record holds its new words."""

    def short(text: str) -> str:
        if len(text) <= chars:
            return text
        end = chars // 2
        gone = WORDS[language].shortened.format(count=grouped(len(text) - chars))
        return f"{text[: chars - end]}\n{gone}\n{text[-end:]}"

    if all(len(text) <= chars for text in _texts(message)):
        return message
    return replace(message, blocks=tuple(_with_texts(block, short) for block in message.blocks), source=())


def _texts(message: Message) -> list[str]:
    parts = (
        part for block in message.blocks for part in (block.content if isinstance(block, ToolResult) else (block,))
    )
    return [part.text for part in parts if isinstance(part, Text)]


def _with_texts(block: Block, made: Callable[[str], str]) -> Block:
    if isinstance(block, Text):
        return replace(block, text=made(block.text))
    if isinstance(block, ToolResult):
        parts = (replace(part, text=made(part.text)) if isinstance(part, Text) else part for part in block.content)
        return replace(block, content=tuple(parts))
    return block
