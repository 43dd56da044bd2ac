"""How soon after a compaction the agent took a step that it had not taken before it."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property

from workbench.analysis.course import Course
from workbench.analysis.later_use import folder_of
from workbench.analysis.needed import plain_path
from workbench.analysis.rework.fetched import looks, viewed
from workbench.facts.calls import Called
from workbench.facts.plan import changes_plan
from workbench.facts.shell_lines import simple_commands
from workbench.facts.tools import normal_path, tool_name

_ORIENTS = re.compile(
    r"grep|glob|^ls$|^list|^find|search_file|file_search|codebase|^tree$|^write_stdin$|bash_?output|^task_?(?:list|get|output)|"
    r"todo_?read|^wait|read_process|list_process"
)
"""Tools that look round in the project, or wait for what runs already."""


@dataclass(frozen=True)
class Resumed:
    """`calls` and `tokens` (of those calls, their results and what was said beside them: the messages `passed` of
    `course`) came before the answer that takes the first new step, `message`; "" where none was taken before the next
    compaction or the end."""

    calls: int
    message: str
    course: Course = field(repr=False, compare=False)
    passed: range

    @cached_property
    def tokens(self) -> int:
        return sum(self.course.sizes.tokens[self.passed.start : self.passed.stop])


def resumed(course: Course, calls: Sequence[Called], start: int, stop: int, again: Set[tuple[int, str]]) -> Resumed:
    """The first new step among the messages `start` to `stop`: a call that neither fetches again (`again`: those that
    do, by message and id) nor only looks round: at a file that was seen, through the project or its repository, at the
    plan, at what runs already; or an answer to the user without a call."""
    cwd = folder_of(course.session)
    messages = course.messages
    seen: set[str] = set()
    at: dict[int, list[Called]] = {}
    for called in calls:
        if called.index < start:
            seen.update(viewed(called, cwd))
            seen.update(plain_path(normal_path(one.target), cwd) for one in called.actions if one.kind != "command")
        elif called.index < stop:
            at.setdefault(called.index, []).append(called)
    first = next((index for index in range(start, stop) if messages[index].role == "assistant"), stop)
    count = 0
    for index in range(first, stop):
        if messages[index].role != "assistant":
            continue
        made = at.get(index, [])
        new = any((index, one.call.id) not in again and _is_new(one, cwd, seen) for one in made)
        ends = (
            not made
            and messages[index].text.strip()
            and (index + 1 == len(messages) or messages[index + 1].starts_round)
        )
        if new or ends:
            return Resumed(count, messages[index].id, course, range(first, index))
        count += len(made)
    return Resumed(count, "", course, range(first, stop))


def _is_new(called: Called, cwd: str, seen: Set[str]) -> bool:
    if changes_plan(called.call) or (not called.actions and _ORIENTS.search(tool_name(called.call.name))):
        return False
    if any(one.kind not in ("viewed", "command") for one in called.actions):
        return True
    paths = viewed(called, cwd)
    if paths:
        return any(path not in seen for path in paths)
    lines = [one.target for one in called.actions if one.kind == "command"]
    return not lines or any(not looks(one) for line in lines for one in simple_commands(line))
