"""What a budget has room for: the longest beginning of the queue that fits."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from workbench.compaction.context import Context
from workbench.compaction.keeping import with_pairs
from workbench.compaction.language import Language
from workbench.compaction.ledger.entries import LedgerEntry
from workbench.compaction.ledger.gather import OLD
from workbench.compaction.ledger.names import endings, names_in
from workbench.compaction.ledger.queue import (
    COMMAND,
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
    """What is filled and with what: `always` are the messages that stay as they are wherever there is room."""

    context: Context
    ruler: Ruler
    always: frozenset[int]
    language: Language
    first: int | None = None
    """Where the tail begins, if that is settled; beyond the last message there is none, whatever is not read yet."""

    @cached_property
    def queue(self) -> Queue:
        return queue_of(self.context)

    def message(self, index: int, chars: int) -> Message:
        """A message in up to so many characters of each text."""
        message = self.context.messages[index]
        if chars >= WHOLE:
            return message
        known = _shortened(self.context.shape)
        if (found := known.get((index, chars, self.language))) is None:
            shape = self.context.shape
            read, done, clean = index not in _as_called(shape), index not in _open(shape), shape.masked_at(index)
            found = shortened(message, chars, self.language, read=read, done=done, clean=clean)
            known[index, chars, self.language] = found
        return found

    def unit_cost(self, unit: int, chars: int) -> int:
        """What the messages of a unit take that do not stay anyway."""
        span = self.queue.units[unit]
        return sum(self._cost(index, chars) for index in range(span.start, span.stop) if index not in self.always)

    def _cost(self, index: int, chars: int) -> int:
        if (message := self.message(index, chars)) is self.context.messages[index]:
            return self.ruler.span(index, index + 1)
        return self.ruler.of_made(message)

    def line(self, line: int, chars: int) -> LedgerLine:
        """A line in up to so many characters."""
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
            told = core if chars == COMMAND and core in entry.text else entry.text
            text = beginning(told, chars, self.language)
            entry = replace(entry, text=text, detail=entry.detail if fits else "")
        elif chars < WHOLE:
            entry = replace(entry, text=clipped(entry.text, chars, self.language), detail=entry.detail[:chars])
        of_text = self.ruler.of_text
        if folder := folder_of(entry):
            # The blank before a number and the comma behind a name are of it, the blank before a path is not.
            parts = of_text(f" {folder.item(entry)},"), of_text(folder.opening)
            return LedgerLine(entry, parts[0], tuple(endings(entry.text)), folder, parts[1])
        if entry.in_passing:
            return LedgerLine(entry, of_text(entry.text) + 1, (), (entry.kind, entry.source), _SHARED)
        text = line_of(entry)
        return LedgerLine(entry, of_text(text) + 1, tuple(key for key, _, _ in names_in(text)))

    def line_cost(self, line: int, chars: int) -> int:
        return self.line(line, chars).cost


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """An entry as it may stand in the ledger, what it takes, the names that it tells, with which others it shares a
    line, and what that takes beside them."""

    entry: LedgerEntry
    cost: int
    names: tuple[str, ...]
    beside: Hashable = None
    shared: int = 0


@per_shape
def _lines(shape: Shape) -> dict[tuple[str, Language], tuple[object, dict[tuple[int, int], LedgerLine]]]:
    return {}


@per_shape
def _shortened(shape: Shape) -> dict[tuple[int, int, Language], Message]:
    return {}


@per_shape
def _as_called(shape: Shape) -> frozenset[int]:
    """What the agent has yet to read, with the calls that it answers: thinking and media of these are left alone."""
    return with_pairs(shape, (*shape.unread, *newest_answer(shape)))


@per_shape
def _open(shape: Shape) -> frozenset[int]:
    """The messages with calls that wait for their results."""
    return frozenset(pair.call for pair in shape.pairs if pair.result is None and pair.call is not None)


@dataclass
class LedgerSelection:
    """What has room: lines and units in how many characters, lines that another one tells (`elsewhere`), what they
    take, and the step that had none."""

    lines: dict[int, int] = field(default_factory=dict)
    units: dict[int, int] = field(default_factory=dict)
    elsewhere: set[int] = field(default_factory=set)
    in_units: int = 0
    in_lines: int = 0
    next: QueueStep | None = None


def tail_says(ground: LedgerTask, found: LedgerSelection, line: int, chars: int = 1) -> bool:
    """Whether the tail says what a line in so many characters would."""
    return _says(ground, line, chars, found.units.get(_unit_of(ground.queue, line), 0))


def _unit_of(queue: Queue, line: int) -> int:
    last = queue.lines[line].last
    return queue.unit_of[last] if last != OLD else OLD


def _says(ground: LedgerTask, line: int, chars: int, there: int) -> bool:
    """Whether the unit of a line, in as many characters as are `there`, says what the line does in `chars`."""
    one = ground.queue.lines[line]
    if there >= WHOLE:
        return line not in ground.queue.unnamed
    if one.entry.kind != "request" or not there:
        return False
    text = ground.context.shape.masking(ground.message(one.last, there)).text
    return all(part in text for part in uncut(ground.line(line, chars).entry.text))


_SHARED = 6
"""What a line of names takes beside them, in tokens or characters."""


class LedgerFiller:
    """The queue's steps in turn until one does not fit, and on from there when there is more room. What a message of
    the tail says whole needs no line."""

    def __init__(self, ground: LedgerTask) -> None:
        self.ground = ground
        self.queue = ground.queue
        self.out = LedgerSelection()
        self._at = 0
        self._costs: dict[int, int] = {}
        self._lines_of: dict[int, list[int]] = {}
        self._requests: dict[int, str] = {}
        self._there: set[Hashable] = set()
        """Kinds that have a heading, folders and sources that have a line, names that another line tells, and
        instructions that are told whole, by source and text."""

        for unit, chars in self._least():
            self._take_unit(unit, chars)

    def filled(self, room: int, binding_room: int) -> LedgerSelection:
        """What has room. Neither room is ever smaller than the time before."""
        self.out.next = None
        while self.out.next is None and self._at < len(self.queue.steps):
            step = self._where_it_stands(self.queue.steps[self._at])
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
        """What is there before anything else: the least tail; of a settled one all, whole but for what is unread."""
        shape, first, unit_of = self.ground.context.shape, self.ground.first, self.queue.unit_of
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

    def _where_it_stands(self, step: QueueStep) -> QueueStep:
        """More of a request that the tail has in part is told there and not twice, if its message says nothing else."""
        if not step.is_line or (line := self.queue.lines[step.thing]).entry.kind != "request":
            return step
        unit = _unit_of(self.queue, step.thing)
        if unit not in self.out.units or self.ground.context.shape.masked_at(line.last).said.strip() != line.entry.text:
            return step
        return replace(step, is_line=False, thing=unit, chars=min(step.chars, len(line.entry.text)))

    # --- messages ---

    def _unit(self, step: QueueStep, most: int) -> bool:
        now, first = self.out.units.get(step.thing, 0), self.ground.first
        if now >= step.chars or (not now and first is not None and self.queue.units[step.thing].start < first):
            return True
        more = self._unit_cost(step.thing, step.chars) - self._unit_cost(step.thing, now)
        needless = sum(self._costs[line] for line in self._needless(step.thing, step.chars))
        if self.out.in_units + self.out.in_lines + more - needless > most:
            return False
        self._take_unit(step.thing, step.chars)
        return True

    def _take_unit(self, unit: int, chars: int) -> None:
        chars = WHOLE if self.queue.longest[unit] <= chars + TOLERANCE else chars
        out = self.out
        out.in_units += self._unit_cost(unit, chars) - self._unit_cost(unit, out.units.get(unit, 0))
        for line in self._needless(unit, chars):
            self._drop(unit, line)
        out.units[unit] = chars

    def _drop(self, unit: int, line: int) -> None:
        self.out.in_lines -= self._costs.pop(line)
        self._lines_of[unit].remove(line)
        del self.out.lines[line]

    def _unit_cost(self, unit: int, chars: int) -> int:
        return self.ground.unit_cost(unit, chars) if chars else 0

    def _needless(self, unit: int, chars: int) -> list[int]:
        """The lines that a unit in so many characters makes needless."""
        return [line for line in self._lines_of.get(unit, ()) if _says(self.ground, line, self.out.lines[line], chars)]

    # --- lines ---

    def _request_of(self, line: int) -> str | None:
        """The request that is told whole and holds this statement or decision."""
        entry = self.queue.lines[line].entry
        leans = entry.kind in ("stated", "decision") and not entry.detail
        asked = self._requests.get(entry.source, "") if leans else ""
        return asked if asked and entry.text in asked else None

    def _line(self, step: QueueStep, most: int) -> bool:
        out, unit = self.out, _unit_of(self.queue, step.thing)
        if tail_says(self.ground, out, step.thing, step.chars) or self.queue.keys.get(step.thing) in self._there:
            return True
        line = self.ground.line(step.thing, step.chars)
        entry, cost = line.entry, line.cost
        if self._request_of(step.thing) is not None or (not entry.state and (entry.source, entry.text) in self._there):
            out.elsewhere.add(step.thing)
            return True
        if entry.kind not in self._there:
            cost += self.ground.ruler.of_text(f"## {WORDS[self.ground.language].titles[entry.kind]}\n\n") + 1
        if line.beside is not None and line.beside not in self._there:
            cost += line.shared
        more = cost - self._costs.get(step.thing, 0)
        if out.in_units + out.in_lines + more > most:
            return False
        if entry.kind == "request" and step.chars >= WHOLE:
            self._requests[entry.source] = entry.text
            for other in [one for one in self._lines_of.get(unit, ()) if self._request_of(one) == entry.text]:
                self._drop(unit, other)
                out.elsewhere.add(other)
        if entry.kind == "instruction" and step.chars >= WHOLE:
            self._there.add((entry.source, self.queue.lines[step.thing].entry.text))
        self._there.update((entry.kind, *line.names))
        if line.beside is not None:
            self._there.add(line.beside)
        if step.thing not in out.lines:
            self._lines_of.setdefault(unit, []).append(step.thing)
        self._costs[step.thing] = cost
        out.in_lines += more
        out.lines[step.thing] = step.chars
        return True
