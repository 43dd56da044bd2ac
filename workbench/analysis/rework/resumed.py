"""First new step after a compaction."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property

from workbench.analysis.course import Course
from workbench.analysis.later_use import project_folder
from workbench.analysis.needed_items import plain_path
from workbench.analysis.rework.fetches import CallFiles, is_read_only
from workbench.facts.calls import ToolCall
from workbench.facts.shell_lines import simple_commands
from workbench.facts.tasks import changes_tasks
from workbench.facts.tools import normal_path, tool_name

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
        made = at.get(index, ())
        new = any((index, one.call.id) not in again and _is_new(one, paths, seen) for one, paths in made)
        ends = (
            not made
            and messages[index].text.strip()
            and (index + 1 == len(messages) or messages[index + 1].starts_round)
        )
        if new or ends:
            return NextStep(count, messages[index].id, course, range(first, index))
        count += len(made)
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
