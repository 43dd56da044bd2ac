"""Plan the result for a budget, to the last token: the kept messages, their lengths, and the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from workbench.base.secrets import without_secrets
from workbench.base.text import clip_at_sentence
from workbench.compaction.context import Context
from workbench.compaction.language import Language
from workbench.compaction.ledger.entries import counted_by_group
from workbench.compaction.ledger.gather import FoundEntry, narratives_of, numbering
from workbench.compaction.ledger.queue import FEWEST_CHARS, WHOLE, QueueStep
from workbench.compaction.ledger.room import LedgerSelection
from workbench.compaction.ledger.task import LedgerTask, in_tokens
from workbench.compaction.ledger.text import WORDS, Ledger, omitted_line, written
from workbench.compaction.spans import indexes_of, spans_of
from workbench.session import Message, Span, Text

LEFT_OUT_CHARS, LEFT_OUT_SHARE = 160, 0.05
"""Characters reserved for the line that counts omitted entries, and the largest share of the budget for it."""


@dataclass(frozen=True)
class LedgerPlan:
    """Plan of a result. Messages from `cut` on are kept, and some before it (`staying`). `shorter`: shortened messages
    by index. `entries`: entries in the ledger. `left_out`: counts of omitted entries by group. `text`: the ledger's
    text. `ledger_takes` and `takes`: size of the ledger and of the complete result, in the ruler's unit."""

    cut: int
    staying: tuple[int, ...]
    shorter: Mapping[int, Message]
    entries: tuple[FoundEntry, ...]
    left_out: tuple[tuple[str, int], ...]
    text: str
    ledger_takes: int
    takes: int
    is_whole: bool = False
    """True if nothing was omitted for lack of room."""


def planned(task: LedgerTask, budget: int, narrative: str = "") -> LedgerPlan:
    """Return the fullest plan within the budget. It exceeds the budget if rules, beginnings of open requests and the
    minimum tail need more, because these are always kept. Pins can also make it exceed the budget, because they do not
    reduce the room of steps above `Priority.WORTH`. The size of all lines together, known only when they are written,
    differs slightly from the sum of their sizes; the selection is then repeated with the difference."""
    always = task.ruler.each(task.always)
    empty = written(Ledger(10**6, tuple(range(len(task.always))), (), narrative))
    left_out = task.ruler.of_text("left out " * (LEFT_OUT_CHARS // 9))
    frame = task.ruler.of_text(empty) + min(left_out, int(budget * LEFT_OUT_SHARE))
    found, error = LedgerSelection(task), 0
    for again in range(4):
        found.fill(budget - always - frame - error, budget - frame - error)
        plan = _plan(found, budget, narrative)
        over = plan.ledger_takes - frame - found.in_lines - error
        if not over or (again and over < 0):
            break
        if over > 0:
            found = LedgerSelection(task)
        error += over
    return _fill_rest(found, plan, budget, narrative)


def ledger_text(context: Context, budget_tokens: int, language: Language = "en") -> str:
    """Ledger of the whole context in at most `budget_tokens` tokens; the text of earlier summaries is its narrative."""
    narrative = clip_at_sentence(without_secrets(narratives_of(context, context.shape.summaries)), budget_tokens // 2)
    task = LedgerTask(context, in_tokens(context), frozenset(), language, first=len(context) + 1)
    return planned(task, budget_tokens, narrative).text


def _fill_rest(found: LedgerSelection, plan: LedgerPlan, budget: int, narrative: str) -> LedgerPlan:
    """Give the remaining room to the next step, with as many characters as fit: fewer if everything together is larger
    than the sum of its parts."""
    step, spare = found.next, budget - plan.takes
    if step is None:
        return replace(plan, is_whole=True)
    task, there = found.task, found.lines if step.is_line else found.units
    now, in_units = there.get(step.thing, 0), found.in_units
    taken, least = task.cost(step, now), now or step.before or FEWEST_CHARS
    if least >= step.chars or (not now and found.queue.is_indivisible(step)):
        return plan
    while spare > 0 and (now or task.cost(step, least) <= taken + spare):
        chars = _most_chars(task, step, least, taken + spare)
        if chars == now:
            break
        there[step.thing] = chars
        if not step.is_line:
            found.in_units = in_units + task.cost(step, chars) - taken
        fuller = _plan(found, budget, narrative)
        if fuller.takes <= budget:
            return fuller
        spare -= fuller.takes - budget
    return plan


def _most_chars(task: LedgerTask, step: QueueStep, least: int, most: int) -> int:
    """Most characters, from `least` to less than the step's, that cost at most `most`."""
    above = min(2 * least, step.chars)
    while above < step.chars and task.cost(step, above) <= most:
        least, above = above, min(2 * above, step.chars)
    while above - least > 1:
        middle = (least + above) // 2
        least, above = (middle, above) if task.cost(step, middle) <= most else (least, middle)
    return least


def _plan(found: LedgerSelection, budget: int, narrative: str) -> LedgerPlan:
    """Plan of the selected things."""
    task, queue, context = found.task, found.queue, found.task.context
    cut, number = len(context), len(queue.units) - 1
    while number in found.units and (task.first is None or queue.units[number].start >= task.first):
        cut, number = queue.units[number].start, number - 1
    if task.first is not None:
        cut = min(max(cut, task.first), len(context))
    apart = [queue.units[unit] for unit in found.units if queue.units[unit].start < cut]
    kept = {index for index in task.always if context.shape.lead <= index < cut}.union(indexes_of(apart))
    staying = tuple(sorted(kept))
    shorter = {
        index: message
        for unit, chars in found.units.items()
        if chars < WHOLE
        for index in range(queue.units[unit].start, queue.units[unit].stop)
        if index not in task.always and (message := task.message(index, chars)) is not context.messages[index]
    }
    lines = ((queue.lines[line], task.line(line, chars).entry) for line, chars in found.lines.items())
    entries = tuple(one if entry is one.entry else replace(one, entry=entry) for one, entry in lines)
    in_order = tuple(one.entry for one in sorted(entries, key=lambda one: (one.entry.source, one.start)))
    pinned, upto = numbering(context.shape).after_cut(staying, cut)
    left_out = _left_out(found)
    in_total = ((WORDS[task.language].entries, sum(count for _, count in left_out)),) if left_out else ()
    fitting = (
        counts
        for counts in (left_out, in_total)
        if task.ruler.of_text(omitted_line(counts, task.language)) <= int(budget * LEFT_OUT_SHARE)
    )
    text = written(Ledger(upto, pinned, in_order, narrative, next(fitting, ()), task.language))
    ledger_takes = task.ruler.of_new(Message("ledger", "user", (Text(text),), kind="summary"))
    takes = task.ruler.each(task.always) + found.in_units + ledger_takes
    return LedgerPlan(cut, staying, shorter, entries, left_out, text, ledger_takes, takes)


def _left_out(found: LedgerSelection) -> tuple[tuple[str, int], ...]:
    """Counts of omitted entries by group. Mere names are not counted."""
    queue = found.queue
    entries = (
        one.entry
        for line, one in enumerate(queue.lines)
        if not one.name and line not in found.lines and line not in found.elsewhere and not found.tail_has(line)
    )
    return counted_by_group(entries, found.task.language)


def spans(plan: LedgerPlan, stop: int) -> list[Span]:
    """Kept messages of a context of `stop` messages, in order."""
    return [*spans_of(plan.staying), Span(plan.cut, stop)]
