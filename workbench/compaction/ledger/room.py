"""Take the first steps of the queue that fit a budget."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace

from workbench.compaction.invariants import with_pairs
from workbench.compaction.ledger.gather import OLD
from workbench.compaction.ledger.queue import WHOLE, Priority, QueueStep, newest_words
from workbench.compaction.ledger.shorter import LEAST_CHARS, TOLERANCE, uncut
from workbench.compaction.ledger.task import LedgerTask
from workbench.compaction.ledger.text import WORDS


class LedgerSelection:
    """Lines and units selected from the queue, each with its number of characters.

    `fill` takes the queue's steps in turn until one, `next`, does not fit; called again, it continues from there. A
    fact in a complete message of the tail gets no line. `elsewhere`: lines whose text another line has. `in_units`,
    `in_lines`: sizes.
    """

    def __init__(self, task: LedgerTask) -> None:
        self.task = task
        self.queue = task.queue
        self.lines: dict[int, int] = {}
        self.units: dict[int, int] = {}
        self.elsewhere: set[int] = set()
        self.in_units = self.in_lines = 0
        self.next: QueueStep | None = None
        self._at = 0
        self._costs: dict[int, int] = {}
        self._lines_of: dict[int, list[int]] = {}
        self._present: set[Hashable] = set()
        """Keys of the ledger's contents: kinds with a heading, folders and sources with a line, names in other lines,
        and complete sentences by source and text."""

        for unit, chars in self._least():
            self._take_unit(unit, chars)

    def fill(self, room: int, binding_room: int) -> None:
        """Select what fits into `room`; `binding_room` is for steps above `Priority.WORTH`. Neither may shrink
        later."""
        self.next = None
        while self.next is None and self._at < len(self.queue.steps):
            step = self._grown_in_tail(self.queue.steps[self._at])
            if step.rank.priority >= Priority.OPEN_REQUEST_START:
                most = WHOLE
            else:
                most = binding_room if step.rank.priority > Priority.WORTH else room
            if self._line(step, most) if step.is_line else self._unit(step, most):
                self._at += 1
            else:
                self.next = step

    def _least(self) -> Iterable[tuple[int, int]]:
        """Units that are selected first: the user's newest message, and unanswered ones; if the tail is set by hand,
        all of its units, complete unless unanswered."""
        shape, first, unit_of = self.task.context.shape, self.task.first, self.queue.unit_of
        if first is not None and first > len(shape.messages):
            return
        if first is not None:
            unread = {unit_of[index] for index in with_pairs(shape, shape.unread)}
            for number, unit in enumerate(self.queue.units):
                if unit.start >= first:
                    yield number, LEAST_CHARS if number in unread else WHOLE
        asked = newest_words(shape)
        least = shape.unread if first is not None or asked == OLD else (asked, *shape.unread)
        for number in dict.fromkeys(unit_of[index] for index in least):
            if number != OLD and number not in self.units:
                yield number, LEAST_CHARS

    def _grown_in_tail(self, step: QueueStep) -> QueueStep:
        """Turn a step of a user's sentence into a step of its unit that includes the sentence, if the tail has part of
        the message and that has no other text; else return it unchanged."""
        if not step.is_line or not (line := self.queue.lines[step.thing]).entry.is_from_user:
            return step
        unit = self.queue.unit_of_line(step.thing)
        if unit not in self.units or line.entry.is_pasted:
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
        now, first = self.units.get(step.thing, 0), self.task.first
        if now >= step.chars or (not now and first is not None and self.queue.units[step.thing].start < first):
            return True
        more = self.task.unit_cost(step.thing, step.chars) - self.task.unit_cost(step.thing, now)
        needless = sum(self._costs[line] for line in self._redundant_lines(step.thing, step.chars))
        if self.in_units + self.in_lines + more - needless > most:
            return False
        self._take_unit(step.thing, step.chars)
        return True

    def _take_unit(self, unit: int, chars: int) -> None:
        chars = WHOLE if self.queue.longest[unit] <= chars + TOLERANCE else chars
        self.in_units += self.task.unit_cost(unit, chars) - self.task.unit_cost(unit, self.units.get(unit, 0))
        for line in self._redundant_lines(unit, chars):
            self.in_lines -= self._costs.pop(line)
            self._lines_of[unit].remove(line)
            del self.lines[line]
        self.units[unit] = chars

    def _redundant_lines(self, unit: int, chars: int) -> list[int]:
        """Lines that a unit with so many characters makes unnecessary."""
        return [line for line in self._lines_of.get(unit, ()) if self._unit_has(line, self.lines[line], chars)]

    def tail_has(self, line: int, chars: int = 1) -> bool:
        """True if the tail contains the first `chars` characters of a line."""
        return self._unit_has(line, chars, self.units.get(self.queue.unit_of_line(line), 0))

    def _unit_has(self, line: int, chars: int, there: int) -> bool:
        """True if the unit of a line, with `there` characters of each text, contains the first `chars` characters of
        the line."""
        one = self.queue.lines[line]
        if there >= WHOLE:
            return line not in self.queue.unnamed
        if not one.entry.is_from_user or not there:
            return False
        text = self.task.context.shape.masking(self.task.message(one.last, there)).text
        return all(part in text for part in uncut(self.task.line(line, chars).entry.text))

    # --- lines ---

    def _line(self, step: QueueStep, most: int) -> bool:
        number, of_line = step.thing, self.queue.lines[step.thing]
        if self.tail_has(number, step.chars) or of_line.name in self._present:
            return True
        line = self.task.line(number, step.chars)
        entry, cost = line.entry, line.cost
        # An unanswered message is kept, with as much of its pastes as there is room for.
        is_kept_paste = entry.is_pasted and of_line.last in self.task.context.shape.unread
        is_repeated = not entry.detail and number not in self.lines and (entry.source, entry.text) in self._present
        if is_kept_paste or is_repeated:
            self.elsewhere.add(number)
            return True
        if entry.kind not in self._present:
            cost += self.task.ruler.of_text(f"## {WORDS[self.task.language].titles[entry.kind]}\n\n") + 1
        if line.shared_key is not None and line.shared_key not in self._present:
            cost += line.shared
        more = cost - self._costs.get(number, 0)
        if self.in_units + self.in_lines + more > most:
            return False
        if step.chars >= WHOLE and (entry.is_sentence or entry.kind in ("instruction", "decision")):
            self._present.add((entry.source, entry.text))
        self._present.update((entry.kind, *line.names))
        if line.shared_key is not None:
            self._present.add(line.shared_key)
        if number not in self.lines:
            self._lines_of.setdefault(self.queue.unit_of_line(number), []).append(number)
        self._costs[number] = cost
        self.in_lines += more
        self.lines[number] = step.chars
        return True
