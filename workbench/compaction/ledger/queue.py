"""What may take room, step by step, in the order in which it gets it: what is worth most for its tokens comes first.

Two sorts of things compete: lines of the ledger, and units of the tail (messages that no cut may part). Either comes
in up to `LEVELS` characters of each of its texts, whole in the end, and each step to the next level is worth less than
the one before. The order depends on no budget, so whatever a budget has room for, a larger one has, too.

A line is worth how likely it is needed again, times how much it would be missed; a unit, what its newness says. The
weights were tuned by what agents needed later in recorded sessions (`benchmarks/keeping.py`, its tuning half).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from math import inf

from workbench.compaction.context import Context
from workbench.compaction.ledger.entries import EntryKind, LedgerEntry
from workbench.compaction.ledger.gather import OLD, FoundEntry, ledger_entries, numbering
from workbench.compaction.ledger.names import MentionedName, Sort, endings, names_of, texts_of
from workbench.compaction.ledger.shorter import TOLERANCE, longest_text
from workbench.compaction.ledger.text import SharedFolder, folder_of
from workbench.compaction.shape import Shape, newest_per_shape, per_shape
from workbench.session import Message, Span

WHOLE = 1 << 40
LEVELS: tuple[int, ...] = (200, 800, 3_200, WHOLE)
"""Characters of each text, step by step."""

SHORT_ENVIRONMENT = LEVELS[2]
"""Up to so many characters of what a tool says of its environment are there whole or not at all."""

ASKED_CHARS = 12_800
"""Up to so many characters of each of its texts the newest request, while it is unanswered, comes before everything but
rules; of what is longer the rest competes by its worth, so that a huge paste leaves room for the ledger."""

FEWEST_CHARS = 40
"""In fewer of each text nothing is told."""

BINDING = 1e6
"""Steps of at least this worth are of what the user wants: not even pins take their room."""
ALWAYS = 1e7
"""Those of at least this worth are there whatever the budget."""


@dataclass(frozen=True, slots=True)
class QueueStep:
    """Thing `thing`, a line or a unit, in up to `chars` characters of each text, where it had `before`; 0 for
    nothing."""

    worth: float
    is_line: bool
    thing: int
    before: int
    chars: int


@dataclass(frozen=True)
class Queue:
    """The steps, best first. `unit_of`: which unit each message is in, `OLD` for those before the first. `longest`:
    characters of each unit's longest text. `keys`: by what the lines that are mere names are known. `unnamed`: lines of
    files that their message does not name, as the shell's `src/*.py` does not. `front`: where the first message stands
    that is neither an instruction nor what a tool says of its environment before all else."""

    lines: tuple[FoundEntry, ...]
    units: tuple[Span, ...]
    unit_of: Sequence[int]
    longest: Sequence[int]
    keys: Mapping[int, str]
    unnamed: frozenset[int]
    front: int
    steps: tuple[QueueStep, ...]

    def is_indivisible(self, step: QueueStep) -> bool:
        """Whether the step's thing says nothing in part: a name, or what a tool says of its environment, which it knows
        by how it looks."""
        if step.is_line:
            return self.lines[step.thing].entry.kind in ("file", "identifier", "number", "url")
        return self.is_environment(step.thing)

    def is_environment(self, unit: int) -> bool:
        """Whether a unit is what a tool says of its environment before all else, in few words."""
        return self.units[unit].stop <= self.front and self.longest[unit] <= SHORT_ENVIRONMENT


def queue_of(context: Context) -> Queue:
    """What a compaction of this context may keep."""
    return _queue(context.shape, ledger_entries(context))


@newest_per_shape
def _queue(shape: Shape, told: tuple[FoundEntry, ...]) -> Queue:
    named = [*_named(shape, told)]
    anew = {line.entry.text for line, _ in named}
    own = (line for line in told if not (line.entry.in_passing and line.entry.text in anew))
    lines = (*own, *(line for line, _ in named))
    keys = {len(lines) - len(named) + place: key for place, (_, key) in enumerate(named)}
    units = _units(shape)
    unit_of = [OLD] * len(shape.messages)
    for number, unit in enumerate(units):
        unit_of[unit.start : unit.stop] = [number] * len(unit)
    longest = [max(map(longest_text, shape.messages[unit.start : unit.stop])) for unit in units]
    front = next((i for i in range(shape.lead, len(shape.messages)) if shape.messages[i].kind != "meta"), shape.lead)
    steps = [*_line_steps(shape, lines), *_unit_steps(shape, units, longest, front)]
    steps.sort(key=lambda step: -step.worth)
    return Queue(lines, units, unit_of, longest, keys, frozenset(_unnamed(shape, lines)), front, tuple(steps))


def _unnamed(shape: Shape, lines: Sequence[FoundEntry]) -> Iterator[int]:
    for number, line in enumerate(lines):
        if line.entry.kind == "file" and not line.entry.in_passing and line.last != OLD:
            name = "/".join(line.entry.text.rsplit("/", 2)[-2:])
            if not any(name in text for text in texts_of(shape.masked_at(line.last))):
                yield number


def _named(shape: Shape, told: Sequence[FoundEntry]) -> Iterator[tuple[FoundEntry, str]]:
    """Names as entries with their keys, without those that an entry of their own tells."""
    number = numbering(shape)
    own = {one.entry.text for one in told if not one.entry.in_passing}
    own.update(ending for one in told if one.entry.kind == "file" for ending in endings(one.entry.text))
    for name in names_of(shape):
        if name.text not in own and name.last != number.ledger:
            kind, state = _AS_ENTRY[name.sort]
            yield FoundEntry(LedgerEntry(kind, name.text, number(name.last), state), name.last, name.last), name.key


def _units(shape: Shape) -> tuple[Span, ...]:
    """The messages behind leading system messages and earlier summaries, in stretches that no cut may part: with a
    summary that calls a tool, as tools write it that took over the first call behind theirs."""
    known, torn = numbering(shape).ledger, shape.open_across
    ledger = -1 if known is None else known
    last = 1 + max(shape.lead - 1, *shape.summaries[-1:], ledger)
    start = next(cut for cut in range(last, -1, -1) if not torn[cut])
    if start <= ledger:
        start = next(cut for cut in range(last, len(shape.messages) + 1) if not torn[cut])
    cuts = [cut for cut in range(start, len(shape.messages) + 1) if not torn[cut]]
    return tuple(Span(a, b) for a, b in pairwise(dict.fromkeys([start, *cuts])))


# --- lines ------------------------------------------------------------------------------------------------------------

_FRAME = 24
"""Characters that a line takes beside its text; a name takes `_BETWEEN`."""
_BETWEEN = 5

_WORTH = {
    ("instruction", "gone"): 0.05,
    ("stated", "gone"): 0.01,
    ("decision", "answer"): 3.0,
    ("error", "open"): 1.0,
    ("error", "fixed"): 0.4,
    ("file", "created"): 1.2,
    ("file", "viewed"): 0.35,
    ("file", "deleted"): 0.2,
}
_WORTH_OF_KIND = {
    "instruction": 9.0,
    "request": 3.0,
    "decision": 1.5,
    "error": 0.6,
    "file": 0.6,
    "command": 0.9,
    "url": 0.15,
    "stated": 0.4,
}
COMMAND = 120
"""Of a command, before what came of it, so many characters, without what is around it (`cd … &&`, `| tail`)."""

_MORE, _OWN_WORDS = 0.5, 0.8
"""What each step is worth of the one before: of a line, and of what the user wrote."""

_NAMES = {
    "path": (0.17, 0.04, 0.6),
    "id": (0.17, 0.03, 0.8),
    "code": (0.02, 0.1, 0.6),
    "number": (0.06, 0.05, 1.3),
}
"""Of each sort of names how much one is worth that the agent used once, for how many uses it counts that somebody told
it, and by which power of its uses it is worth more."""

_AS_ENTRY: Mapping[Sort, tuple[EntryKind, str]] = {
    "path": ("file", "named"),
    "id": ("identifier", ""),
    "code": ("identifier", ""),
    "number": ("number", ""),
}
_CARRIED = MentionedName("", "", "id", 1, 1, OLD)
"""A name that only an earlier ledger tells."""

_OLDER, _OLDER_DEEDS = 0.3, 0.45
"""How fast what was said longer ago is worth less: by this power of how many messages ago, from `_NEW` on; files,
commands and names by the second."""
_NEW = 8


def _line_steps(shape: Shape, lines: Sequence[FoundEntry]) -> Iterator[QueueStep]:
    by_text = {name.text: name for name in names_of(shape)}
    in_folder = Counter(folder_of(line.entry) for line in lines)
    newest = len(shape.messages)
    for number, line in enumerate(lines):
        entry = line.entry
        power = _OLDER_DEEDS if entry.kind in ("file", "command", "identifier", "number") else _OLDER
        newness = (1 + (newest - max(line.last, 0)) / _NEW) ** -power
        if entry.in_passing:
            worth = _worth_of_name(by_text.get(entry.text, _CARRIED)) * newness
            yield QueueStep(4 * worth / (_length(entry, in_folder) + _BETWEEN), True, number, 0, WHOLE)
            continue
        worth = line.weight * _WORTH.get((entry.kind, entry.state), _WORTH_OF_KIND[entry.kind]) * newness
        length, before = len(entry.text) + len(entry.detail), 0
        levels, tolerance = LEVELS, TOLERANCE
        if entry.kind == "instruction":
            levels = LEVELS[1:]
        elif entry.kind == "command":
            levels, tolerance = (COMMAND, *LEVELS), 0
        elif entry.kind == "request" and entry.state != "open":
            tolerance = LEVELS[0]
        worth *= 4 / (min(levels[0], _length(entry, in_folder)) + _FRAME)
        for level in levels:
            last = length <= level + tolerance
            yield QueueStep(_binding(entry, before) or worth, True, number, before, WHOLE if last else level)
            if last:
                break
            worth, before = worth * (_OWN_WORDS if entry.kind == "request" else _MORE), level


def _length(entry: LedgerEntry, in_folder: Mapping[SharedFolder | None, int]) -> float:
    """Characters of an entry, of a folder's files each with its part of the folder's name."""
    if (folder := folder_of(entry)) is None:
        return len(entry.text) + len(entry.detail)
    return len(entry.text) - len(folder.path) * (1 - 1 / in_folder[folder])


def _worth_of_name(name: MentionedName) -> float:
    once, told, power = _NAMES[name.sort]
    times: float = told * min(name.count, 4) ** 0.5 + min(name.used, 8)
    return float(once * times**power)


def _binding(entry: LedgerEntry, before: int) -> float:
    """The worth of a step that the user wants above all, 0 for any other."""
    if entry.kind == "request" and entry.state == "open" and before < LEVELS[1]:
        return ALWAYS if not before else BINDING * 2
    if entry.kind == "instruction" and entry.state != "gone" and not before:
        return ALWAYS * (1 + entry.source * 1e-9)
    if entry.kind == "request" and entry.state == "first" and not before:
        return BINDING * 1.2
    return 0.0


# --- the tail ---------------------------------------------------------------------------------------------------------

_TAIL = 0.009
"""What a token of the newest messages is worth."""
_HALF = 0.008
"""At this share of all tokens before the end it is half of that."""
_AGES_CHARS = 2_000
"""A unit counts for no more characters of that: a huge result makes nothing before it old."""
_DEEPER = (1.0, 0.6, 0.35, 0.2)
"""And the share of it that each level is worth."""


@per_shape
def newest_answer(shape: Shape) -> tuple[int, ...]:
    """The index of the agent's newest answer, if there is one."""
    return _newest(shape, lambda one: one.role == "assistant" and one.kind == "normal")


@per_shape
def newest_words(shape: Shape) -> tuple[int, ...]:
    """The index of what the user wrote last, if they wrote anything."""
    return _newest(shape, lambda one: one.starts_round)


@per_shape
def least_tail(shape: Shape) -> tuple[int, ...]:
    """What is there whatever the budget, in few words if need be: the user's newest words, and what the agent has not
    read yet."""
    return (*newest_words(shape), *shape.unread)


@per_shape
def _agents_newest(shape: Shape) -> frozenset[int]:
    """The agent's newest answer and its newest words: there where the budget holds them, in `FEWEST_CHARS` at least."""
    worded = _newest(shape, lambda one: one.role == "assistant" and one.kind == "normal" and bool(one.text.strip()))
    return frozenset((*newest_answer(shape), *worded))


def _newest(shape: Shape, wanted: Callable[[Message], bool]) -> tuple[int, ...]:
    back = range(len(shape.messages) - 1, -1, -1)
    return tuple(islice((index for index in back if wanted(shape.messages[index])), 1))


def _unit_steps(shape: Shape, units: Sequence[Span], longest: Sequence[int], front: int) -> Iterator[QueueStep]:
    """A unit's first step comes behind that of every newer one, so that the tail has no holes. A short
    environment, up to message `front`, is there whole or not at all."""
    asked, unread, answers = newest_words(shape), frozenset(shape.unread), _agents_newest(shape)
    half, age = min(max(shape.chars[-1] / 4 * _HALF, 200), 2_000), 0.0
    for number in range(len(units) - 1, -1, -1):
        unit = units[number]
        worth = _TAIL / (1 + age / half)
        age += min(shape.chars[unit.stop] - shape.chars[unit.start], _AGES_CHARS) / 4
        asks = any(unit.start <= index < unit.stop for index in asked)
        own = asks and not unread.isdisjoint(asked)
        before, most = 0, inf
        if not answers.isdisjoint(range(unit.start, unit.stop)):
            yield QueueStep(BINDING * 1.5, False, number, before, FEWEST_CHARS)
            before = FEWEST_CHARS
        for level, share in _levels(own):
            last = longest[number] <= level + TOLERANCE
            if unit.stop <= front and longest[number] <= SHORT_ENVIRONMENT and not last:
                continue
            binding = _binding_request(before, own) if asks else 0.0
            first = shape.messages[unit.start]
            if before and first.starts_round and len(first.said) > before:
                share *= _WORTH_OF_KIND["request"] / 56 / _TAIL
            now = most = min(binding or worth * share, most)
            yield QueueStep(now, False, number, before, WHOLE if last else level)
            if last:
                break
            before = level


def _levels(own: bool) -> Iterator[tuple[int, float]]:
    """Characters and worth of each step of a unit; the unanswered request has one step more."""
    yield from zip(LEVELS[:-1], _DEEPER[:-1], strict=True)
    if own:
        yield ASKED_CHARS, _DEEPER[-1]
    yield WHOLE, _DEEPER[-1]


def _binding_request(before: int, own: bool) -> float:
    """Worth of a step of the newest request, 0.0 for one that competes. Its first words are always there; what follows
    them comes behind the rules and the first request, however long it is."""
    if not before:
        return ALWAYS * 2
    if before < LEVELS[1]:
        return BINDING * 5
    return BINDING if own and before < ASKED_CHARS else 0.0
