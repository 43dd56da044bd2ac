"""Rework after each recorded compaction of a session, `rework`, and the first new step after it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from msgspec import Struct

from workbench.analysis.course import Course
from workbench.analysis.mentions import plain_path
from workbench.analysis.needed_items import project_folder
from workbench.analysis.recorded_compactions import RecordedCompaction, recorded_compactions
from workbench.analysis.rework.edits import repeated_edits
from workbench.analysis.rework.fetches import CallFiles, RepeatedFetch, is_read_only, repeated_fetches, viewed
from workbench.analysis.rework.removed import RemovedText
from workbench.analysis.rework.repeated_statements import repeated_questions, repeated_statements
from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.facts.answers import typed_texts
from workbench.facts.calls import ToolCall, all_calls
from workbench.facts.shell_lines import simple_commands
from workbench.facts.standing import RuleFinder, rules_in_text
from workbench.facts.tasks import changes_tasks
from workbench.facts.tools import normal_path, tool_name
from workbench.session import Message
from workbench.session.masked import searched_message
from workbench.tokens.sizes import visible_chars

_ORIENTS = re.compile(
    r"grep|glob|^ls$|^list|^find|search_file|file_search|codebase|^tree$|^write_stdin$|bash_?output|^task_?(?:list|get|output)|"
    r"todo_?read|^wait|read_process|list_process"
)
"""Tools that look around in the project, or wait for running work."""


@dataclass(frozen=True)
class NextStep:
    """Work between a compaction and the first new step after it.

    `message` is the id of the answer that takes the step, "" if none does before the next compaction or the end of the
    session. `calls` is the number of calls before it; `passed` is the range of messages before it in `course`.
    """

    calls: int
    message: str
    course: Course = field(repr=False, compare=False)
    passed: range

    @cached_property
    def tokens(self) -> int:
        """Tokens of the calls and results before the new step."""
        return sum(self.course.sizes.tokens[self.passed.start : self.passed.stop])


Kind = Literal["file", "command", "search", "question", "said", "undone", "redone"]

KINDS: dict[Kind, tuple[str, str]] = {
    "file": ("file read again", "file reads repeated"),
    "command": ("command run again", "commands run again"),
    "search": ("search repeated", "searches repeated"),
    "question": ("question asked again", "questions asked again"),
    "said": ("thing the user said again", "things the user said again"),
    "undone": ("edit undone", "edits undone"),
    "redone": ("edit made again", "edits made again"),
}
"""Names of the kinds, singular and plural."""


class ReworkItem(Struct, frozen=True):
    """One repeated piece of work. `what` is the file, command line or sentence; `before` and `after` are the ids of the
    messages with the first work and its repetition; `tokens` is the size of the repetition: a result, an edit or a
    message."""

    kind: Kind
    what: str
    before: str
    after: str
    tokens: int


@dataclass(frozen=True)
class Rework:
    """Rework caused by one recorded compaction, and the first new work after it. `calls` is the number of calls up to
    the next compaction. An item belongs to the compaction that removed the repeated content, however much later it
    occurs."""

    compaction: RecordedCompaction
    calls: int
    resumed: NextStep
    items: tuple[ReworkItem, ...]

    @cached_property
    def kinds(self) -> dict[Kind, int]:
        """Number of items by kind; kinds without one are left out."""
        count = Counter(item.kind for item in self.items)
        return {kind: count[kind] for kind in KINDS if count[kind]}

    @property
    def tokens(self) -> int:
        """Tokens of all items."""
        return sum(item.tokens for item in self.items)

    def __str__(self) -> str:
        return _count_words(self.items)


def _count_words(items: Sequence[ReworkItem]) -> str:
    count = Counter(item.kind for item in items)
    counts = [f"{count[kind]} {names[count[kind] > 1]}" for kind, names in KINDS.items() if count[kind]]
    return ", ".join(counts) or "no rework"


def rework_report(several: Sequence[Rework]) -> str:
    """Return a sentence on the rework after several recorded compactions."""
    items = [item for one in several for item in one.items]
    longest = max((one.resumed.calls for one in several), default=0)
    intro = f"After {counted(len(several), 'recorded compaction')}"
    cost = f", {grouped(sum(item.tokens for item in items))} tokens of rework" if items else ""
    up_to = "up to " if len(several) > 1 else ""
    return f"{intro}: {_count_words(items)}{cost}; the next new step came after {up_to}{counted(longest, 'call')}."


def rework(course: Course, rules_in: RuleFinder = rules_in_text) -> tuple[Rework, ...]:
    """Return the rework after every recorded compaction of a course, in order. Linear in the messages. `rules_in` finds
    the rules in a user's text."""
    if len(course.starts) < 2:
        return ()
    removed, cwd = RemovedText(course), project_folder(course.session)
    messages = tuple(map(_without_secrets, course.messages))
    calls = all_calls(messages)
    shown = [(called, viewed(called, cwd)) for called in calls]
    fetched = tuple(repeated_fetches(shown, removed, cwd))
    again = {(one.after.index, one.after.call.id) for one in fetched}
    items: dict[int, list[ReworkItem]] = {}
    for of, _, item in sorted(_items(course, messages, calls, fetched, removed, rules_in), key=lambda one: one[1]):
        items.setdefault(of, []).append(item)
    epochs = [at for at, number in enumerate(course.numbers[:-1]) if course.session.epochs[number - 1].ended_by]
    stops = (*course.starts, len(course.messages))
    spans = [range(stops[epoch + 1], stops[epoch + 2]) for epoch in epochs]
    indexes = [called.index for called in calls]
    return tuple(
        Rework(
            recorded,
            bisect_left(indexes, span.stop) - bisect_left(indexes, span.start),
            step,
            tuple(items.get(epoch, ())),
        )
        for recorded, epoch, span, step in zip(
            recorded_compactions(course), epochs, spans, next_steps(course, shown, spans, again), strict=True
        )
    )


def _without_secrets(message: Message) -> Message:
    """Return a message masked for display. A message with nothing but results stays unmasked, because results are only
    compared."""
    return message if message.results and not (message.user_text or message.calls) else searched_message(message)


def _items(
    course: Course,
    messages: Sequence[Message],
    calls: Sequence[ToolCall],
    fetched: Sequence[RepeatedFetch],
    removed: RemovedText,
    rules_in: RuleFinder,
) -> Iterator[tuple[int, int, ReworkItem]]:
    """Yield each item with the epoch of its compaction and the index of its message."""
    cwd = project_folder(course.session)
    words = list(typed_texts(messages))

    def item(kind: Kind, what: str, before: int, after: int, cost: int) -> ReworkItem:
        return ReworkItem(kind, what, messages[before].id, messages[after].id, cost)

    for fetch in fetched:
        cost = _result_tokens(course, fetch.after)
        yield fetch.epoch, fetch.after.index, item(fetch.kind, fetch.what, fetch.before.index, fetch.after.index, cost)
    for edit in repeated_edits(calls, removed, cwd, words):
        cost = course.sizes.tokens[edit.after.index]
        yield edit.epoch, edit.after.index, item(edit.kind, edit.path, edit.before.index, edit.after.index, cost)
    for said in (*repeated_statements(words, removed, rules_in), *repeated_questions(messages, calls, removed)):
        cost = course.sizes.tokens[said.after]
        yield said.epoch, said.after, item(said.kind, said.sentence, said.before, said.after, cost)


def _result_tokens(course: Course, called: ToolCall) -> int:
    """Return the tokens of a call's result: its part of its message."""
    if called.result is None or called.result_index is None:
        return 0
    message, tokens = course.messages[called.result_index], course.sizes.tokens[called.result_index]
    if len(message.blocks) < 2:
        return tokens
    return tokens * visible_chars(Message("", message.role, (called.result,))) // max(1, visible_chars(message))


def next_steps(
    course: Course, calls: Sequence[CallFiles], spans: Iterable[range], again: Set[tuple[int, str]]
) -> Iterator[NextStep]:
    """Yield a `NextStep` for each of `spans`, ranges of messages between compactions in order.

    A new step is an answer to the user without a call, or a call that does more than repeat a fetch or look around
    (known files, project, repository, plan, running work). `again` has message index and id of the calls that repeat a
    fetch.
    """
    cwd = project_folder(course.session)
    at: dict[int, list[CallFiles]] = {}
    for one in calls:
        at.setdefault(one[0].index, []).append(one)
    seen: set[str] = set()
    before = iter(calls)
    called, paths = next(before, (None, ()))
    for span in spans:
        while called is not None and called.index < span.start:
            seen.update(paths)
            seen.update(plain_path(normal_path(one.target), cwd) for one in called.actions if one.kind != "command")
            called, paths = next(before, (None, ()))
        yield _first_step(course, at, span, again, seen)


def _first_step(
    course: Course, at: Mapping[int, Sequence[CallFiles]], span: range, again: Set[tuple[int, str]], seen: Set[str]
) -> NextStep:
    messages, stop = course.messages, span.stop
    first = next((index for index in span if messages[index].role == "assistant"), stop)
    count = 0
    for index in range(first, stop):
        if messages[index].role != "assistant":
            continue
        calls = at.get(index, ())
        new = any((index, one.call.id) not in again and _is_new(one, paths, seen) for one, paths in calls)
        ends = (
            not calls
            and messages[index].text.strip()
            and (index + 1 == len(messages) or messages[index + 1].starts_round)
        )
        if new or ends:
            return NextStep(count, messages[index].id, course, range(first, index))
        count += len(calls)
    return NextStep(count, "", course, range(first, stop))


def _is_new(called: ToolCall, paths: Sequence[str], seen: Set[str]) -> bool:
    if changes_tasks(called.call) or (not called.actions and _ORIENTS.search(tool_name(called.call.name))):
        return False
    if any(one.kind not in ("viewed", "command") for one in called.actions):
        return True
    if paths:
        return any(path not in seen for path in paths)
    lines = [one.target for one in called.actions if one.kind == "command"]
    return not lines or any(not is_read_only(one) for line in lines for one in simple_commands(line))
