"""Rank everything that may enter a ledger's result, in steps; a budget takes the first steps that fit.

Two kinds of things compete: lines of the ledger, and units of the tail (messages that no cut may separate). Each is
divided into steps. A step keeps more characters of each of its texts (`LEVELS`), and the last one all of them. Steps
rank by priority, then by worth per token; each further step of a thing is worth less. The order does not depend on the
budget, so a larger budget keeps everything that a smaller one does.

A line's worth is the probability that it is needed again, times the damage if it is missing. A unit's worth is its
recency. The weights were tuned on what agents needed later in recorded sessions (`benchmarks/keeping.py`, its tuning
half).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

from workbench.compaction.context import Context
from workbench.compaction.ledger.entries import EntryKind, LedgerEntry
from workbench.compaction.ledger.gather import FRAME_OF_SENTENCE, OLD, FoundEntry, ledger_entries, numbering
from workbench.compaction.ledger.names import MentionedName, Sort, endings, names_of, texts_of
from workbench.compaction.ledger.shorter import TOLERANCE, longest_text
from workbench.compaction.shape import Shape, newest_per_shape, per_shape
from workbench.session import Message, Span

WHOLE = 1 << 40
LEVELS: tuple[int, ...] = (200, 800, 3_200, WHOLE)
"""Most characters of each text, step by step."""

SHORT_ENVIRONMENT = LEVELS[2]
"""Longest environment, in characters, that is kept whole or not at all."""

ASKED_CHARS = 12_800
"""Characters of each text of the unanswered newest request that rank before everything except rules. The rest competes
by worth, so that a huge paste leaves room for the ledger."""
ASKED_LEVELS = (*LEVELS[:2], ASKED_CHARS, WHOLE)

FEWEST_CHARS = 40
"""Fewest characters of a text that are worth keeping."""


class Priority(IntEnum):
    """Classes of steps, least urgent first. A step ranks before every step of a lower class."""

    WORTH = 0
    """Competes by worth per token, in the room left by pins."""
    UNANSWERED_REQUEST = 1
    """From this class upward: pins do not reduce the room."""
    FIRST_REQUEST = 2
    NEWEST_ANSWER = 3
    OPEN_REQUEST = 4
    NEWEST_REQUEST = 5
    OPEN_REQUEST_START = 6
    """From this class upward: kept whatever the budget."""
    RULE = 7
    NEWEST_REQUEST_START = 8


class Rank(NamedTuple):
    """Place of a step in the queue, highest first. `value` orders steps of one priority: worth per token; for rules the
    message number, so that the newest rule comes first."""

    priority: Priority
    value: float = 0.0


@dataclass(frozen=True, slots=True)
class QueueStep:
    """Step of thing number `thing`, a line or a unit, from `before` to `chars` characters of each text. `before` is 0
    in the thing's first step."""

    rank: Rank
    is_line: bool
    thing: int
    before: int
    chars: int


@dataclass(frozen=True)
class Queue:
    """Things to keep and their steps, best first.

    `unit_of`: unit number of each message, `OLD` before the first unit. `longest`: characters of each unit's longest
    text. `unnamed`: lines of files that their message does not name (a shell's `src/*.py`). `front`: index of the first
    message after those in which the agent gives its instructions and describes the environment.
    """

    lines: tuple[FoundEntry, ...]
    units: tuple[Span, ...]
    unit_of: Sequence[int]
    longest: Sequence[int]
    unnamed: frozenset[int]
    front: int
    steps: tuple[QueueStep, ...]

    def is_indivisible(self, step: QueueStep) -> bool:
        """True for things that are useless if incomplete: a name, or an environment, which agents recognize by its
        form."""
        if step.is_line:
            return self.lines[step.thing].entry.kind in ("file", "identifier", "number", "url")
        return self.is_environment(step.thing)

    def unit_of_line(self, line: int) -> int:
        """Unit with the newest message that has a line; `OLD` if none has."""
        last = self.lines[line].last
        return self.unit_of[last] if last != OLD else OLD

    def is_environment(self, unit: int) -> bool:
        """True for the short description of the environment with which the agent opens the context."""
        return self.units[unit].stop <= self.front and self.longest[unit] <= SHORT_ENVIRONMENT


USER_PERCENT = 75.0
"""Share of the room, in percent, in which the user's sentences come before everything else that competes by worth."""


def queue_of(context: Context, user_percent: float = USER_PERCENT) -> Queue:
    """Everything that a compaction of this context may keep, ranked."""
    return _queue(context.shape, (ledger_entries(context), user_percent))


@newest_per_shape
def _queue(shape: Shape, key: tuple[tuple[FoundEntry, ...], float]) -> Queue:
    found, user_percent = key
    named = [*_named(shape, found)]
    current = {line.entry.text for line in named}
    lines = (*(line for line in found if not (line.entry.in_passing and line.entry.text in current)), *named)
    units = _units(shape)
    unit_of = [OLD] * len(shape.messages)
    for number, unit in enumerate(units):
        unit_of[unit.start : unit.stop] = [number] * len(unit)
    longest = [max(map(longest_text, shape.messages[unit.start : unit.stop])) for unit in units]
    front = next((i for i in range(shape.lead, len(shape.messages)) if shape.messages[i].kind != "meta"), shape.lead)
    steps = [*_line_steps(shape, lines), *_unit_steps(shape, units, longest, front)]
    steps.sort(key=lambda step: step.rank, reverse=True)
    ordered = tuple(_with_share_for_user(steps, lines, units, shape, user_percent / 100))
    return Queue(lines, units, unit_of, longest, frozenset(_unnamed(shape, lines)), front, ordered)


def _with_share_for_user(
    steps: Sequence[QueueStep], lines: Sequence[FoundEntry], units: Sequence[Span], shape: Shape, share: float
) -> Iterator[QueueStep]:
    """Steps in the same order, except among those that compete by worth: as long as sentences of the user make up at
    most `share` of the characters so far, the next of them comes first. Every beginning of this order has the share, so
    the order does not depend on the budget."""
    competing = next((at for at, step in enumerate(steps) if step.rank.priority == Priority.WORTH), len(steps))
    yield from steps[:competing]
    said, others = deque[QueueStep](), deque[QueueStep]()
    for step in steps[competing:]:
        (said if step.is_line and _is_in_force(lines[step.thing].entry) else others).append(step)
    of_user = of_all = 0.0
    while said or others:
        is_behind = share > 0 and of_user <= share * of_all
        is_next = bool(said) and (not others or is_behind or said[0].rank >= others[0].rank)
        step = (said if is_next else others).popleft()
        yield step
        if step.is_line:
            chars = min(len(lines[step.thing].entry.text), step.chars) - step.before + FRAME_OF_SENTENCE
        else:
            unit = units[step.thing]
            chars = min(shape.chars[unit.stop] - shape.chars[unit.start], step.chars * len(unit)) - step.before
        of_all += chars
        of_user += chars if is_next else 0


def _is_in_force(entry: LedgerEntry) -> bool:
    """True for a sentence that the user typed and that still holds."""
    return entry.kind == "user" and entry.state != "gone" and not entry.is_pasted


def _unnamed(shape: Shape, lines: Sequence[FoundEntry]) -> Iterator[int]:
    for number, line in enumerate(lines):
        if line.entry.kind == "file" and not line.entry.in_passing and line.last != OLD:
            name = "/".join(line.entry.text.rsplit("/", 2)[-2:])
            if not any(name in text for text in texts_of(shape.masked_at(line.last))):
                yield number


def _named(shape: Shape, found: Sequence[FoundEntry]) -> Iterator[FoundEntry]:
    """Names as entries, except names that have an entry of their own."""
    number = numbering(shape)
    own = {one.entry.text for one in found if not one.entry.in_passing}
    own.update(ending for one in found if one.entry.kind == "file" for ending in endings(one.entry.text))
    for name in names_of(shape):
        if name.text not in own and name.last != number.ledger:
            kind, state = _AS_ENTRY[name.sort]
            yield FoundEntry(LedgerEntry(kind, name.text, number(name.last), state), name.last, name.last, name.key)


def _units(shape: Shape) -> tuple[Span, ...]:
    """Messages after leading system messages and earlier summaries, in spans that no cut may separate. A summary that
    calls a tool is part of the first unit: some agents put the first call after their summary into it."""
    ledger, torn = numbering(shape).ledger, shape.open_across
    last = 1 + max(shape.lead - 1, *shape.summaries[-1:], ledger)
    cuts = [cut for cut in range(len(shape.messages) + 1) if not torn[cut]]
    start = max(cut for cut in cuts if cut <= last)
    return tuple(Span(a, b) for a, b in pairwise(cuts) if a >= start and a > ledger)


# --- lines ------------------------------------------------------------------------------------------------------------

_FRAME = 24
"""Characters that a line takes in addition to its text. A name takes `_BETWEEN`."""
_BETWEEN = 5

_WORTH = {
    ("instruction", "gone"): 0.05,
    ("user", "gone"): 0.01,
    ("decision", "answer"): 3.0,
    ("error", "open"): 1.0,
    ("error", "fixed"): 0.4,
    ("file", "created"): 1.2,
    ("file", "viewed"): 0.35,
    ("file", "deleted"): 0.2,
}
_WORTH_OF_KIND = {
    "instruction": 9.0,
    "user": 3.0,
    "document": 3.0,
    "decision": 1.5,
    "agent": 3.0,
    "error": 0.6,
    "file": 0.6,
    "command": 0.9,
    "url": 0.15,
}
COMMAND = 120
"""Characters in the first step of a command, without its result."""

_MORE = 0.5
"""Worth of a line's step as a share of the step before it."""

_REQUEST_IN_TAIL = 0.054
"""Worth per token of further characters of a request in the tail."""

_NAMES = {
    "path": (0.17, 0.04, 0.6),
    "id": (0.17, 0.03, 0.8),
    "code": (0.02, 0.1, 0.6),
    "number": (0.06, 0.05, 1.3),
}
"""By kind of name: `once`, `mention` and `power` in worth = once · (uses + mention · √mentions) ^ power."""

_AS_ENTRY: Mapping[Sort, tuple[EntryKind, str]] = {
    "path": ("file", "named"),
    "id": ("identifier", ""),
    "code": ("identifier", ""),
    "number": ("number", ""),
}
_CARRIED = MentionedName("", "", "id", 1, 1, OLD)
"""Placeholder for a name that only an earlier ledger has."""

_OLDER, _OLDER_DEEDS, _NEW = 0.3, 0.45, 8
"""Decay with age: a worth, except a sentence's, is divided by (1 + messages since / `_NEW`) to this power; the second
is for files, commands and names."""


def _line_steps(shape: Shape, lines: Sequence[FoundEntry]) -> Iterator[QueueStep]:
    by_text = {name.text: name for name in names_of(shape)}
    newest = len(shape.messages)
    for number, line in enumerate(lines):
        entry = line.entry
        power = _OLDER_DEEDS if entry.kind in ("file", "command", "identifier", "number") else _OLDER
        newness = 1.0 if entry.is_sentence else (1 + (newest - max(line.last, 0)) / _NEW) ** -power
        if entry.in_passing:
            worth = _worth_of_name(by_text.get(entry.text, _CARRIED)) * newness
            rank = Rank(Priority.WORTH, 4 * worth / (_length(entry) + _BETWEEN))
            yield QueueStep(rank, True, number, 0, WHOLE)
            continue
        worth = line.weight * _WORTH.get((entry.kind, entry.state), _WORTH_OF_KIND[entry.kind]) * newness
        length, before = len(entry.text) + len(entry.detail), 0
        levels, tolerance = LEVELS, TOLERANCE
        if entry.kind == "command":
            levels, tolerance = (COMMAND, *LEVELS), 0
        elif entry.is_sentence or entry.kind == "instruction":
            levels = LEVELS[1:]
        frame = FRAME_OF_SENTENCE if entry.is_sentence else _FRAME
        worth *= 4 / (min(levels[0], _length(entry)) + frame)
        for level in levels:
            last = length <= level + tolerance
            chars = WHOLE if last else level
            priority = _priority_of_line(line, before)
            value = entry.source if priority is Priority.RULE else 0.0 if priority else worth
            yield QueueStep(Rank(priority, value), True, number, before, chars)
            if last:
                break
            worth, before = worth * _MORE, level


def _length(entry: LedgerEntry) -> int:
    """Characters of an entry; of a file only those of its name, because files share the lines of their folders."""
    text = entry.text.rpartition("/")[2] if entry.kind == "file" else entry.text
    return len(text) + len(entry.detail)


def _worth_of_name(name: MentionedName) -> float:
    once, mention, power = _NAMES[name.sort]
    times: float = mention * min(name.count, 4) ** 0.5 + min(name.used, 8)
    return float(once * times**power)


def _priority_of_line(line: FoundEntry, before: int) -> Priority:
    """Priority of a line's step."""
    entry, at = line.entry, line.start + before
    if entry.kind == "instruction" and entry.state != "gone" and not before:
        return Priority.RULE
    if entry.is_from_user and entry.state == "open" and at < LEVELS[1]:
        return Priority.OPEN_REQUEST if at >= LEVELS[0] else Priority.OPEN_REQUEST_START
    if entry.is_from_user and entry.state == "first" and at < LEVELS[0]:
        return Priority.FIRST_REQUEST
    return Priority.WORTH


# --- the tail ---------------------------------------------------------------------------------------------------------

_TAIL = 0.009
"""Worth of a token of the newest messages."""
_HALF = 0.008
"""Share of the context's tokens, counted from the end, after which that worth has halved; limited to 200–2 000
tokens."""
_AGES_CHARS = 2_000
"""Most characters of one unit that count for the age of the units before it."""
_DEEPER = (1.0, 0.6, 0.35, 0.2)
"""Worth of each level's step as a share of the unit's worth."""


@per_shape
def newest_answer(shape: Shape) -> int:
    """Index of the agent's newest answer; `OLD` if it has not answered."""
    return _newest(shape, lambda one: one.role == "assistant" and one.kind == "normal")


@per_shape
def newest_words(shape: Shape) -> int:
    """Index of the user's newest message; `OLD` if there is none."""
    return _newest(shape, lambda one: one.starts_round)


def _newest(shape: Shape, matches: Callable[[Message], bool]) -> int:
    back = range(len(shape.messages) - 1, -1, -1)
    return next((index for index in back if matches(shape.messages[index])), OLD)


def _unit_steps(shape: Shape, units: Sequence[Span], longest: Sequence[int], front: int) -> Iterator[QueueStep]:
    """Steps of the units. A unit's first step ranks after the first steps of all newer units, so that the tail has no
    gaps. A short environment before message `front` has only one step."""
    asked, answer = newest_words(shape), newest_answer(shape)
    half, age = min(max(shape.chars[-1] / 4 * _HALF, 200), 2_000), 0.0
    for number in range(len(units) - 1, -1, -1):
        unit = units[number]
        worth = _TAIL / (1 + age / half)
        age += min(shape.chars[unit.stop] - shape.chars[unit.start], _AGES_CHARS) / 4
        asks = unit.start <= asked < unit.stop
        unanswered = asks and asked in shape.unread
        before, rank = 0, Rank(max(Priority))
        if unit.start <= answer < unit.stop:
            yield QueueStep(Rank(Priority.NEWEST_ANSWER), False, number, before, FEWEST_CHARS)
            before = FEWEST_CHARS
        for level, share in zip(ASKED_LEVELS if unanswered else LEVELS, _DEEPER, strict=True):
            last = longest[number] <= level + TOLERANCE
            if unit.stop <= front and longest[number] <= SHORT_ENVIRONMENT and not last:
                continue
            first = shape.messages[unit.start]
            if before and first.starts_round and len(first.user_text) > before:
                share *= _REQUEST_IN_TAIL / _TAIL
            priority = _priority_of_request(before, unanswered) if asks else Priority.WORTH
            rank = min(Rank(priority, 0.0 if priority else worth * share), rank)
            yield QueueStep(rank, False, number, before, WHOLE if last else level)
            if last:
                break
            before = level


def _priority_of_request(before: int, unanswered: bool) -> Priority:
    """Priority of a step of the newest request. Its first characters are always kept; later ones rank after the rules
    and the first request, or compete by worth."""
    if not before:
        return Priority.NEWEST_REQUEST_START
    if before < LEVELS[1]:
        return Priority.NEWEST_REQUEST
    return Priority.UNANSWERED_REQUEST if unanswered and before < ASKED_CHARS else Priority.WORTH
