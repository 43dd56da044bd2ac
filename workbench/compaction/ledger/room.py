"""Take the first steps of the queue that fit a budget."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from workbench.compaction.context import Context
from workbench.compaction.invariants import with_pairs
from workbench.compaction.language import Language
from workbench.compaction.ledger.entries import LedgerEntry
from workbench.compaction.ledger.gather import OLD
from workbench.compaction.ledger.names import endings, names_in
from workbench.compaction.ledger.queue import (
    COMMAND,
    USER_PERCENT,
    WHOLE,
    Priority,
    Queue,
    QueueStep,
    least_tail,
    newest_answer,
    queue_of,
)
from workbench.compaction.ledger.ruler import Ruler
from workbench.compaction.ledger.shorter import LEAST_CHARS, TOLERANCE, beginning, clipped, shortened, uncut
from workbench.compaction.ledger.text import WORDS, folder_of, line_of
from workbench.compaction.shape import Shape, per_shape
from workbench.facts.commands_and_paths import core_command
from workbench.session import Message


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

    def message(self, index: int, chars: int) -> Message:
        """Message with at most `chars` characters of each text."""
        message = self.context.messages[index]
        if chars >= WHOLE:
            return message
        known = _shortened(self.context.shape)
        if (found := known.get((index, chars, self.language))) is None:
            shape = self.context.shape
            read, done, clean = (
                index not in _unread_with_calls(shape),
                index not in _waiting_calls(shape),
                shape.masked_at(index),
            )
            found = shortened(message, chars, self.language, read=read, done=done, clean=clean)
            known[index, chars, self.language] = found
        return found

    def unit_cost(self, unit: int, chars: int) -> int:
        """Size of a unit's messages, except those that are always kept."""
        span = self.queue.units[unit]
        return sum(self._cost(index, chars) for index in range(span.start, span.stop) if index not in self.always)

    def _cost(self, index: int, chars: int) -> int:
        if (message := self.message(index, chars)) is self.context.messages[index]:
            return self.ruler.span(index, index + 1)
        return self.ruler.of_new(message)

    def line(self, line: int, chars: int) -> LedgerLine:
        """Line with at most `chars` characters."""
        sizes = self.context.layout.sizes
        made_for, known = _lines(self.context.shape).get((self.ruler.unit, self.language), (None, {}))
        if made_for is not sizes:
            known = {}
            _lines(self.context.shape)[self.ruler.unit, self.language] = sizes, known
        if (found := known.get((line, chars))) is None:
            found = known[line, chars] = self._line(self.queue.lines[line].entry, chars)
        return found

    def _line(self, entry: LedgerEntry, chars: int) -> LedgerLine:
        if chars < WHOLE and entry.kind == "command":
            fits = len(entry.text) + len(entry.detail) <= chars
            core = core_command(entry.text)
            command = core if chars == COMMAND and core in entry.text else entry.text
            text = beginning(command, chars, self.language)
            entry = replace(entry, text=text, detail=entry.detail if fits else "")
        elif chars < WHOLE:
            entry = replace(entry, text=clipped(entry.text, chars, self.language), detail=entry.detail[:chars])
        of_text = self.ruler.of_text
        if folder := folder_of(entry):
            # An item includes the space before its number and the comma after its name; a path, no space.
            parts = of_text(f" {folder.item(entry)},"), of_text(folder.opening)
            return LedgerLine(entry, parts[0], tuple(endings(entry.text)), folder, parts[1])
        if entry.is_sentence:
            key = (entry.kind, entry.source, entry.state, entry.detail)
            names = tuple(name for name, _, _ in names_in(entry.text))
            beginning_of_item = of_text(line_of(replace(entry, text="")))
            return LedgerLine(entry, of_text(f" {entry.text}"), names, key, beginning_of_item)
        if entry.in_passing:
            return LedgerLine(entry, of_text(entry.text) + 1, (), (entry.kind, entry.source), _SHARED)
        text = line_of(entry)
        return LedgerLine(entry, of_text(text) + 1, tuple(key for key, _, _ in names_in(text)))

    def line_cost(self, line: int, chars: int) -> int:
        """Size of a line with at most `chars` characters."""
        return self.line(line, chars).cost


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """An entry as written into the ledger: its size, the names that it contains, the key of entries that share its
    line, and the size of what they share."""

    entry: LedgerEntry
    cost: int
    names: tuple[str, ...]
    shared_key: Hashable = None
    shared: int = 0


@per_shape
def _lines(shape: Shape) -> dict[tuple[str, Language], tuple[object, dict[tuple[int, int], LedgerLine]]]:
    return {}


@per_shape
def _shortened(shape: Shape) -> dict[tuple[int, int, Language], Message]:
    return {}


@per_shape
def _unread_with_calls(shape: Shape) -> frozenset[int]:
    """Unanswered messages and the newest answer, with the calls that they answer. Their thinking and media stay
    unchanged."""
    return with_pairs(shape, (*shape.unread, *newest_answer(shape)))


@per_shape
def _waiting_calls(shape: Shape) -> frozenset[int]:
    """Messages with calls that have no result yet."""
    return frozenset(pair.call for pair in shape.pairs if pair.result is None and pair.call is not None)


@dataclass
class LedgerSelection:
    """Selected lines and units with their number of characters, lines covered by another line (`elsewhere`), their
    sizes, and the first step that did not fit."""

    lines: dict[int, int] = field(default_factory=dict)
    units: dict[int, int] = field(default_factory=dict)
    elsewhere: set[int] = field(default_factory=set)
    in_units: int = 0
    in_lines: int = 0
    next: QueueStep | None = None


def tail_has(task: LedgerTask, found: LedgerSelection, line: int, chars: int = 1) -> bool:
    """True if the tail contains the first `chars` characters of a line."""
    return _unit_has(task, line, chars, found.units.get(_unit_of(task.queue, line), 0))


def _unit_of(queue: Queue, line: int) -> int:
    last = queue.lines[line].last
    return queue.unit_of[last] if last != OLD else OLD


def _unit_has(task: LedgerTask, line: int, chars: int, there: int) -> bool:
    """True if the unit of a line, with `there` characters of each text, contains the first `chars` characters of the
    line."""
    one = task.queue.lines[line]
    if there >= WHOLE:
        return line not in task.queue.unnamed
    if not one.entry.is_from_user or not there:
        return False
    text = task.context.shape.masking(task.message(one.last, there)).text
    return all(part in text for part in uncut(task.line(line, chars).entry.text))


_SHARED = 6
"""Size of a line of names without the names, in tokens or characters."""


class LedgerFiller:
    """Takes the queue's steps in turn until one does not fit; continues from there if more room is given. A fact in a
    complete message of the tail gets no line."""

    def __init__(self, task: LedgerTask) -> None:
        self.task = task
        self.queue = task.queue
        self.out = LedgerSelection()
        self._at = 0
        self._costs: dict[int, int] = {}
        self._lines_of: dict[int, list[int]] = {}
        self._present: set[Hashable] = set()
        """Keys of the ledger's contents: kinds with a heading, folders and sources with a line, names in other lines,
        and complete instructions by source and text."""

        for unit, chars in self._least():
            self._take_unit(unit, chars)

    def filled(self, room: int, binding_room: int) -> LedgerSelection:
        """Selection for `room`; `binding_room` is for steps above `Priority.WORTH`. Neither may shrink later."""
        self.out.next = None
        while self.out.next is None and self._at < len(self.queue.steps):
            step = self._grown_in_tail(self.queue.steps[self._at])
            if step.rank.priority >= Priority.OPEN_REQUEST_START:
                most = WHOLE
            else:
                most = binding_room if step.rank.priority > Priority.WORTH else room
            if self._line(step, most) if step.is_line else self._unit(step, most):
                self._at += 1
            else:
                self.out.next = step
        return self.out

    def _least(self) -> Iterable[tuple[int, int]]:
        """Units that are selected first: the minimum tail; if the tail is set by hand, all of its units, complete
        unless unanswered."""
        shape, first, unit_of = self.task.context.shape, self.task.first, self.queue.unit_of
        if first is not None and first > len(shape.messages):
            return
        if first is not None:
            unread = {unit_of[index] for index in with_pairs(shape, shape.unread)}
            for number, unit in enumerate(self.queue.units):
                if unit.start >= first:
                    yield number, LEAST_CHARS if number in unread else WHOLE
        least = shape.unread if first is not None else least_tail(shape)
        for number in dict.fromkeys(unit_of[index] for index in least):
            if number != OLD and number not in self.out.units:
                yield number, LEAST_CHARS

    def _grown_in_tail(self, step: QueueStep) -> QueueStep:
        """Turn a step of a user's sentence into a step of its unit that includes the sentence, if the tail has part of
        the message and that has no other text; else return it unchanged."""
        if not step.is_line or not (line := self.queue.lines[step.thing]).entry.is_from_user:
            return step
        unit = _unit_of(self.queue, step.thing)
        if unit not in self.out.units or line.entry.is_pasted:
            return step
        message = self.task.context.shape.masked_at(line.last)
        whole = len(message.user_text.strip())
        if len(message.text.strip()) != whole:
            return step
        # A shortened text keeps half of its characters at each end.
        needed = 2 * min(line.start + len(line.entry.text), whole - line.start)
        return replace(step, is_line=False, thing=unit, chars=min(needed, whole, step.chars))

    # --- messages ---

    def _unit(self, step: QueueStep, most: int) -> bool:
        now, first = self.out.units.get(step.thing, 0), self.task.first
        if now >= step.chars or (not now and first is not None and self.queue.units[step.thing].start < first):
            return True
        more = self._unit_cost(step.thing, step.chars) - self._unit_cost(step.thing, now)
        needless = sum(self._costs[line] for line in self._redundant_lines(step.thing, step.chars))
        if self.out.in_units + self.out.in_lines + more - needless > most:
            return False
        self._take_unit(step.thing, step.chars)
        return True

    def _take_unit(self, unit: int, chars: int) -> None:
        chars = WHOLE if self.queue.longest[unit] <= chars + TOLERANCE else chars
        out = self.out
        out.in_units += self._unit_cost(unit, chars) - self._unit_cost(unit, out.units.get(unit, 0))
        for line in self._redundant_lines(unit, chars):
            self._drop(unit, line)
        out.units[unit] = chars

    def _drop(self, unit: int, line: int) -> None:
        self.out.in_lines -= self._costs.pop(line)
        self._lines_of[unit].remove(line)
        del self.out.lines[line]

    def _unit_cost(self, unit: int, chars: int) -> int:
        return self.task.unit_cost(unit, chars) if chars else 0

    def _redundant_lines(self, unit: int, chars: int) -> list[int]:
        """Lines that a unit with so many characters makes unnecessary."""
        return [
            line for line in self._lines_of.get(unit, ()) if _unit_has(self.task, line, self.out.lines[line], chars)
        ]

    # --- lines ---

    def _line(self, step: QueueStep, most: int) -> bool:
        out, unit = self.out, _unit_of(self.queue, step.thing)
        if tail_has(self.task, out, step.thing, step.chars) or self.queue.keys.get(step.thing) in self._present:
            return True
        of_line = self.queue.lines[step.thing]
        if of_line.entry.is_pasted and of_line.last in self.task.context.shape.unread:
            # An unanswered message is kept, with as much of its pastes as there is room for.
            out.elsewhere.add(step.thing)
            return True
        line = self.task.line(step.thing, step.chars)
        entry, cost = line.entry, line.cost
        if not entry.detail and step.thing not in out.lines and (entry.source, entry.text) in self._present:
            out.elsewhere.add(step.thing)
            return True
        if entry.kind not in self._present:
            cost += self.task.ruler.of_text(f"## {WORDS[self.task.language].titles[entry.kind]}\n\n") + 1
        if line.shared_key is not None and line.shared_key not in self._present:
            cost += line.shared
        more = cost - self._costs.get(step.thing, 0)
        if out.in_units + out.in_lines + more > most:
            return False
        if step.chars >= WHOLE and entry.kind in ("instruction", "user", "document", "decision", "agent"):
            self._present.add((entry.source, entry.text))
        self._present.update((entry.kind, *line.names))
        if line.shared_key is not None:
            self._present.add(line.shared_key)
        if step.thing not in out.lines:
            self._lines_of.setdefault(unit, []).append(step.thing)
        self._costs[step.thing] = cost
        out.in_lines += more
        out.lines[step.thing] = step.chars
        return True
