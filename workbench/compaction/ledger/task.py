"""Measure lines and messages for a budget, in tokens or in characters, because agents count in either."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from workbench.compaction.context import Context
from workbench.compaction.invariants import with_pairs
from workbench.compaction.language import Language
from workbench.compaction.ledger.entries import LedgerEntry
from workbench.compaction.ledger.gather import OLD
from workbench.compaction.ledger.names import endings, names_in
from workbench.compaction.ledger.queue import USER_PERCENT, WHOLE, Queue, QueueStep, newest_answer, queue_of
from workbench.compaction.ledger.shorter import beginning, clipped, shortened
from workbench.compaction.ledger.text import folder_of, line_of
from workbench.compaction.shape import Shape, newest_per_shape, per_shape
from workbench.session import Message
from workbench.tokens import Sizes


@dataclass(frozen=True, slots=True)
class Ruler:
    """Measure for a budget. `sums`: prefix sums of the context's messages."""

    unit: Literal["tokens", "characters"]
    sums: array[int]
    of_text: Callable[[str], int]
    of_new: Callable[[Message], int]
    """Size of a new message; cached."""

    def span(self, start: int, stop: int) -> int:
        """Size of messages `start`..`stop`."""
        return self.sums[stop] - self.sums[start]

    def each(self, indexes: Iterable[int]) -> int:
        """Size of the messages at these indexes."""
        return sum(self.span(index, index + 1) for index in indexes)


def in_tokens(context: Context) -> Ruler:
    """Measure in tokens: messages by their figures in the context, new text by its meter."""
    layout = context.layout
    return Ruler("tokens", layout.tokens, layout.sizes.meter.text_tokens, lambda one: layout.measured(one).tokens)


def in_characters(context: Context) -> Ruler:
    """Measure in characters."""
    return Ruler("characters", context.shape.chars, len, lambda one: context.layout.measured(one).chars)


@dataclass(frozen=True)
class LedgerTask:
    """Context and settings to fill a budget from. `always`: messages that are kept unchanged if there is room."""

    context: Context
    ruler: Ruler
    always: frozenset[int]
    language: Language
    user_percent: float = USER_PERCENT
    first: int | None = None
    """Index of the tail's first message, if set. Beyond the last message: there is no tail, and unanswered messages are
    dropped."""

    @cached_property
    def queue(self) -> Queue:
        """Everything that may be kept, ranked."""
        return queue_of(self.context, self.user_percent)

    @cached_property
    def _lines(self) -> dict[tuple[int, int], LedgerLine]:
        return _lines(self.context.shape, (self.ruler.unit, self.language, self.context.layout.sizes))

    def message(self, index: int, chars: int) -> Message:
        """Message with at most `chars` characters of each text."""
        message = self.context.messages[index]
        if chars >= WHOLE:
            return message
        known = _shortened(self.context.shape)
        if (found := known.get((index, chars, self.language))) is None:
            shape = self.context.shape
            read, done = index not in _unread_with_calls(shape), index not in _waiting_calls(shape)
            found = shortened(message, chars, self.language, read=read, done=done, clean=shape.masked_at(index))
            known[index, chars, self.language] = found
        return found

    def cost(self, step: QueueStep, chars: int) -> int:
        """Size of a step's line or unit with at most `chars` characters of each text; 0 without any."""
        if step.is_line:
            return self.line(step.thing, chars).cost if chars else 0
        return self.unit_cost(step.thing, chars)

    def unit_cost(self, unit: int, chars: int) -> int:
        """Size of a unit's messages, except those that are always kept."""
        if not chars:
            return 0
        span = self.queue.units[unit]
        return sum(self._cost(index, chars) for index in range(span.start, span.stop) if index not in self.always)

    def _cost(self, index: int, chars: int) -> int:
        if (message := self.message(index, chars)) is self.context.messages[index]:
            return self.ruler.span(index, index + 1)
        return self.ruler.of_new(message)

    def line(self, line: int, chars: int) -> LedgerLine:
        """Line with at most `chars` characters."""
        known = self._lines
        if (found := known.get((line, chars))) is None:
            found = known[line, chars] = self._line(self.queue.lines[line].entry, chars)
        return found

    def _line(self, entry: LedgerEntry, chars: int) -> LedgerLine:
        if chars < WHOLE and entry.kind == "command":
            fits = len(entry.text) + len(entry.detail) <= chars
            text = beginning(entry.text, chars, self.language)
            entry = replace(entry, text=text, detail=entry.detail if fits else "")
        elif chars < WHOLE:
            entry = replace(entry, text=clipped(entry.text, chars, self.language), detail=entry.detail[:chars])
        of_text = self.ruler.of_text
        if folder := folder_of(entry):
            # The item is measured with the space before its number and the comma after its name.
            file = of_text(f" {folder.item(entry)},")
            return LedgerLine(entry, file, tuple(endings(entry.text)), folder, of_text(folder.opening))
        if entry.is_sentence:
            names = tuple(key for key, _, _ in names_in(entry.text))
            item = line_of(replace(entry, text=""))
            return LedgerLine(entry, of_text(f" {entry.text}"), names, entry.shared_key, of_text(item))
        if entry.in_passing:
            return LedgerLine(entry, of_text(entry.text) + 1, (), entry.shared_key, _SHARED)
        text = line_of(entry)
        return LedgerLine(entry, of_text(text) + 1, tuple(key for key, _, _ in names_in(text)))


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """An entry as written into the ledger: its size, the names that it contains, the key of entries that share its
    line, and the size of what they share."""

    entry: LedgerEntry
    cost: int
    names: tuple[str, ...]
    shared_key: Hashable = None
    shared: int = 0


@newest_per_shape
def _lines(shape: Shape, key: tuple[str, Language, Sizes]) -> dict[tuple[int, int], LedgerLine]:
    return {}


@per_shape
def _shortened(shape: Shape) -> dict[tuple[int, int, Language], Message]:
    return {}


@per_shape
def _unread_with_calls(shape: Shape) -> frozenset[int]:
    """Unanswered messages and the newest answer, with the calls that they answer. Their thinking and media stay
    unchanged."""
    answer = newest_answer(shape)
    return with_pairs(shape, shape.unread if answer == OLD else (*shape.unread, answer))


@per_shape
def _waiting_calls(shape: Shape) -> frozenset[int]:
    """Messages with calls that have no result yet."""
    return frozenset(pair.call for pair in shape.pairs if pair.result is None and pair.call is not None)


_SHARED = 6
"""Size of a line of names without the names, in tokens or characters."""
