"""The plan for a budget, to the last token: what stays, in how many words, and the ledger's message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import count

from workbench.compaction.ledger.entries import LedgerEntry, counted_by_group
from workbench.compaction.ledger.gather import FoundEntry, numbering
from workbench.compaction.ledger.queue import FEWEST_CHARS, WHOLE, QueueStep
from workbench.compaction.ledger.room import LedgerFiller, LedgerSelection, LedgerTask, tail_says
from workbench.compaction.ledger.text import WORDS, Ledger, told_left_out, written
from workbench.compaction.spans import indexes_of, spans_of
from workbench.session import Message, Span, Text

LEFT_OUT_CHARS, LEFT_OUT_SHARE = 160, 0.05
"""About what the line takes that says what was left out; in a small budget that share of it, and it says less."""


@dataclass(frozen=True)
class LedgerPlan:
    """The messages from `cut` on stay, and some before it (`staying`); `shorter` are those in fewer words, by index.
    `said` is what the ledger says, `text` the ledger, and `takes` what all of it takes."""

    cut: int
    staying: tuple[int, ...]
    shorter: Mapping[int, Message]
    said: tuple[FoundEntry, ...]
    left_out: tuple[tuple[str, int], ...]
    text: str
    ledger_takes: int
    takes: int
    is_whole: bool = False
    """Whether nothing waits for room."""


def planned(ground: LedgerTask, budget: int, narrative: str = "") -> LedgerPlan:
    """The fullest plan that keeps to the budget. What the user wants and what is not read yet is there even if pins
    leave no room: then it takes more. Lines cost a little less or more together than apart: what that came to is
    known when they are written, and the queue is cut anew."""
    stays = ground.ruler.each(ground.always)
    empty = written(Ledger(10**6, tuple(range(len(ground.always))), (), narrative))
    room = int(budget * LEFT_OUT_SHARE)
    frame = ground.ruler.of_text(empty) + min(ground.ruler.of_text("left out " * (LEFT_OUT_CHARS // 9)), room)
    filling, error = LedgerFiller(ground), 0
    for again in range(4):
        found = filling.filled(budget - stays - frame - error, budget - frame - error)
        plan = _plan(ground, found, narrative, room)
        over = plan.ledger_takes - frame - found.in_lines - error
        if not over or (again and over < 0):
            break
        if over > 0:
            filling = LedgerFiller(ground)
        error += over
    return _filled_up(ground, found, plan, budget, narrative, room)


def _filled_up(
    ground: LedgerTask, found: LedgerSelection, plan: LedgerPlan, budget: int, narrative: str, room: int
) -> LedgerPlan:
    """With what is left given to the next step, in as many characters as fit: those that its own cost says, or, where
    all together takes more than the parts, so many fewer."""
    step, spare = found.next, budget - plan.takes
    if step is None:
        return replace(plan, is_whole=True)
    there = found.lines if step.is_line else found.units
    cost: Callable[[int, int], int] = ground.line_cost if step.is_line else ground.unit_cost
    now, in_units = there.get(step.thing, 0), found.in_units
    taken = cost(step.thing, now) if now else 0
    least = now or step.before or FEWEST_CHARS
    if least >= step.chars or (not now and ground.queue.is_indivisible(step)):
        return plan
    while spare > 0 and (now or cost(step.thing, least) <= taken + spare):
        chars = _most_chars(cost, step, least, taken + spare)
        if chars == now:
            break
        there[step.thing] = chars
        if not step.is_line:
            found.in_units = in_units + cost(step.thing, chars) - taken
        fuller = _plan(ground, found, narrative, room)
        if fuller.takes <= budget:
            return fuller
        spare -= fuller.takes - budget
    return plan


def _most_chars(cost: Callable[[int, int], int], step: QueueStep, least: int, most: int) -> int:
    """From `least` up, below what the step asks for, as many characters as cost no more than `most`."""
    chars = least
    for finer in (2.0, 1.25, 1.05, 1.01):
        for number in count(1):
            more = int(chars * finer)
            if more >= step.chars or number > 40 or cost(step.thing, more) > most:
                break
            chars = more
    return chars


def _plan(ground: LedgerTask, found: LedgerSelection, narrative: str, room: int) -> LedgerPlan:
    """The plan of what has room; what was left out may take `room` to be told."""
    queue, context = ground.queue, ground.context
    cut, number = len(context), len(queue.units) - 1
    while number in found.units and (ground.first is None or queue.units[number].start >= ground.first):
        cut, number = queue.units[number].start, number - 1
    if ground.first is not None:
        cut = min(max(cut, ground.first), len(context))
    apart = [queue.units[unit] for unit in found.units if queue.units[unit].start < cut]
    lead = context.shape.lead
    staying = {index for index in ground.always if lead <= index < cut}.union(indexes_of(apart))
    shorter = {
        index: message
        for unit, chars in found.units.items()
        if chars < WHOLE
        for index in range(queue.units[unit].start, queue.units[unit].stop)
        if index not in ground.always and (message := ground.message(index, chars)) is not context.messages[index]
    }
    said = tuple(_told(queue.lines[line], ground.line(line, chars).entry) for line, chars in found.lines.items())
    ledger = _ledger(ground, found, said, sorted(staying), cut, narrative)
    text = written(replace(ledger, left_out=_left_out(ground, ledger, room)))
    ledger_takes = ground.ruler.of_message(Message("ledger", "user", (Text(text),), kind="summary"))
    takes = ground.ruler.each(ground.always) + found.in_units + ledger_takes
    return LedgerPlan(cut, tuple(sorted(staying)), shorter, said, ledger.left_out, text, ledger_takes, takes)


def _told(one: FoundEntry, entry: LedgerEntry) -> FoundEntry:
    return one if entry is one.entry else replace(one, entry=entry)


def _ledger(
    ground: LedgerTask,
    found: LedgerSelection,
    said: tuple[FoundEntry, ...],
    staying: list[int],
    cut: int,
    narrative: str,
) -> Ledger:
    shape, queue = ground.context.shape, ground.queue
    lines = set(range(len(queue.lines) - len(queue.keys))).difference(found.elsewhere)
    missing = (n for n in sorted(lines) if n not in found.lines and not tail_says(ground, found, n))
    left_out = counted_by_group((queue.lines[line].entry for line in missing), ground.language)
    entries = sorted((one.entry for one in said), key=lambda entry: entry.source)
    pinned, upto = numbering(shape).after_cut(staying, cut)
    return Ledger(upto, pinned, tuple(entries), narrative, left_out, ground.language)


def _left_out(ground: LedgerTask, ledger: Ledger, room: int) -> tuple[tuple[str, int], ...]:
    """What a ledger tells of what was left out: of each group how many, or in all, or nothing."""
    of_all = ((WORDS[ground.language].entries, sum(count for _, count in ledger.left_out)),)
    for told in (ledger.left_out, of_all) if ledger.left_out else ():
        if ground.ruler.of_text(told_left_out(told, ground.language)) <= room:
            return told
    return ()


def spans(plan: LedgerPlan, stop: int) -> list[Span]:
    """The messages that stay behind the ledger, in their order."""
    return [*spans_of(plan.staying), Span(plan.cut, stop)]
