"""The agent's task list after its last todo or plan call, and its tasks that run in the background."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from workbench.facts.calls import ToolCall
from workbench.facts.tools import tool_name
from workbench.session import Message, ToolUse

Status = Literal["pending", "in_progress", "completed", "cancelled"]

_LIST_TOOLS = {
    "todowrite",
    "todo_write",
    "update_plan",
    "write_todos",
    "manage_todo_list",
    "task_tracker",
    "update_todo_list",
}
_LIST_KEYS = ("todos", "plan", "todoList", "task_list", "tasks")
_TEXT_KEYS = ("content", "step", "title", "subject", "text", "description")
_STATUS: dict[str, Status] = {
    "completed": "completed",
    "complete": "completed",
    "done": "completed",
    "in_progress": "in_progress",
    "in-progress": "in_progress",
    "inprogress": "in_progress",
    "cancelled": "cancelled",
    "canceled": "cancelled",
    "deleted": "cancelled",
}
_CHECKBOX = re.compile(r"^\s*[-*]? ?\[(?P<mark>[ xX~/-])\] (?P<text>\S.{0,400})$", re.MULTILINE)
_MARKS: dict[str, Status] = {
    "x": "completed",
    "X": "completed",
    "-": "in_progress",
    "~": "in_progress",
    "/": "in_progress",
}
_NUMBER = re.compile(r"#(\d{1,6})\b")


@dataclass(frozen=True, slots=True)
class Task:
    """A task; `index` is the message of the last call that changed it."""

    text: str
    status: Status
    index: int


def changes_tasks(call: ToolUse) -> bool:
    """Return whether a call writes the task list or changes a task."""
    return tool_name(call.name) in (*_LIST_TOOLS, "taskcreate", "taskupdate")


def tasks_of(calls: Sequence[ToolCall]) -> tuple[Task, ...]:
    """Return the tasks after all `calls`, in list order; () if the agent has no list.

    A call that writes the whole list replaces it. Claude Code's newer `TaskCreate` and `TaskUpdate` change one task.
    """
    tasks: dict[str, Task] = {}
    for called in calls:
        name = tool_name(called.call.name)
        data = called.call.input
        if not isinstance(data, dict) or called.ok is False:
            continue
        if name in _LIST_TOOLS:
            written = _listed_tasks(data, called.index)
            if written is not None:
                tasks = {str(number): task for number, task in enumerate(written)}
        elif name == "taskcreate":
            tasks[_created_id(called) or f"new {len(tasks)}"] = Task(_text(data), "pending", called.index)
        elif name == "taskupdate":
            _update(tasks, data, called.index)
    return tuple(task for task in tasks.values() if task.text)


def _listed_tasks(data: dict[str, Any], index: int) -> list[Task] | None:
    for key in _LIST_KEYS:
        value = data.get(key)
        if isinstance(value, list):
            return [Task(_text(item), _status(item.get("status")), index) for item in value if isinstance(item, dict)]
        if isinstance(value, str):
            return [Task(m["text"].strip(), _MARKS.get(m["mark"], "pending"), index) for m in _CHECKBOX.finditer(value)]
    return None


def _text(item: dict[str, Any]) -> str:
    return next((" ".join(item[key].split()) for key in _TEXT_KEYS if isinstance(item.get(key), str) and item[key]), "")


def _status(value: object) -> Status:
    return _STATUS.get(value.lower(), "pending") if isinstance(value, str) else "pending"


def _created_id(called: ToolCall) -> str:
    found = _NUMBER.search(called.result.text[:200]) if called.result else None
    return found[1] if found else ""


def _update(tasks: dict[str, Task], data: dict[str, Any], index: int) -> None:
    id = str(data.get("taskId", data.get("id", "")))
    if id in tasks and "status" in data:
        tasks[id] = replace(tasks[id], status=_status(data["status"]), index=index)


# --- background tasks -------------------------------------------------------------------------------------------------

_STARTED = re.compile(
    r"^\W{0,2}(?:(?:command )?running in (?:the )?background with (?:session )?id:? (?P<shell>[\w-]{1,60})"
    r"|process running with session id (?P<session>\d{1,10})"
    r"|agent started in (?:the )?background with agent_id: (?P<agent>[\w-]{1,80})"
    r"|async agent launched[^\n]{0,80}\n\s*agentid: (?P<launched>[\w-]{1,60})"
    r"|(?:command with )?shellid: (?P<waited>[\w-]{1,60}) is still running)",
    re.IGNORECASE | re.MULTILINE,
)
"""Beginning of a background task in the result of its call, in the words of Claude Code, Codex and Copilot."""
_START_HINTS = ("running", "background", "launched")
_STILL = re.compile(r"still running|process running with|status\W{1,6}running", re.IGNORECASE)
_NOTICE = ("notification", "background", "finished")
_ENDS = re.compile(r"\b(?:kill|stop|cancel|terminate)", re.IGNORECASE)
_KILLS = re.compile(
    r"\b(?:p?kill|killall|taskkill|stop-process|fuser|docker (?:compose )?(?:down|stop|rm))\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class RunningTask:
    """A background task whose end is not recorded. `id` is the agent's own, `text` its command or description, `index`
    the message of the call that started it."""

    id: str
    text: str
    index: int


def running_tasks(messages: Sequence[Message], calls: Sequence[ToolCall]) -> tuple[RunningTask, ...]:
    """Return the background tasks that still run at the end as far as the session shows. `calls` are the calls of
    `messages`. A task ends with a call that fetches its output, unless the result says that it still runs; with a
    notice that names it, a call that stops it, or a command that kills processes."""
    running: dict[str, RunningTask] = {}
    for called in calls:
        data = called.call.input if isinstance(called.call.input, dict) else {}
        text = called.result.text if called.result else ""
        output = text[:2000] + "\n" + text[2000:][-500:]
        for id in [str(value) for value in data.values() if isinstance(value, str | int) and str(value) in running]:
            if text and (_ENDS.search(called.call.name) or not _STILL.search(output)):
                running.pop(id, None)
        if any(isinstance(value, str) and _KILLS.search(value) for value in data.values()):
            running.clear()
        low = output.lower()
        started = _STARTED.search(output) if any(hint in low for hint in _START_HINTS) else None
        if started:
            id = next(filter(None, started.groups()))
            words = next((data[key] for key in _COMMAND_KEYS if isinstance(data.get(key), str) and data[key]), "")
            running.setdefault(id, RunningTask(id, " ".join(words.split()), called.index))
    for index, message in enumerate(messages if running else ()):
        if message.role in ("user", "system") and any(word in message.text for word in _NOTICE):
            for id in [id for id, one in running.items() if one.index < index and id in message.text]:
                del running[id]
    return tuple(running.values())


_COMMAND_KEYS = ("command", "cmd", "description", "prompt", "name")
