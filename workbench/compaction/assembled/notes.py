"""Notes on a recorded session: files that the user mentions, files that changed outside the agent, the task list.

Nothing is read from disk and nothing is rewritten in place.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from workbench.base.text import clip_at_word
from workbench.compaction.context import Context
from workbench.compaction.shape import Shape, newest_per_shape, per_shape
from workbench.compaction.shape_calls import calls_of
from workbench.compaction.stored_history import StoredHistory
from workbench.facts.calls import ToolCall
from workbench.facts.envelope import result_envelope
from workbench.facts.tasks import Task, changes_tasks, tasks_of
from workbench.facts.tools import CHANGES, normal_path
from workbench.session import ToolResult

MOST = 5
"""Number of files that a reminder names; the rest is counted."""

_MENTION = re.compile(r"(?<![A-Za-z0-9])@([a-zA-Z0-9/._-]+(?:\.[a-zA-Z0-9]+)?)")
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)


def mentioned(text: str) -> tuple[str, ...]:
    """Paths in the project that a text mentions, in order, each once. A trailing full stop is not part of the path."""
    paths = (found.rstrip(".") for found in _MENTION.findall(text))
    return tuple(dict.fromkeys(path for path in paths if path and _in_project(path)))


def _in_project(path: str) -> bool:
    """True for a relative path that stays in its folder."""
    return not path.startswith("/") and posixpath.normpath(path).split("/")[0] != ".."


def reminder(paths: Sequence[str]) -> str:
    """Reminder with one line per file, at most `MOST`; "" without paths."""
    if not paths:
        return ""
    lines = [f"The user mentioned @{path}." for path in paths[:MOST]]
    if len(paths) > MOST:
        lines.append(f"(and {len(paths) - MOST} more…)")
    which = "this file" if len(paths) == 1 else "these files, one after another,"
    lines.append(f"You MUST read {which} with the Read tool before answering.")
    return "\n".join(("<system-reminder>", *lines, "</system-reminder>"))


def with_reminder(text: str, user_text: str) -> str:
    """A user's text as the model would get it: with a reminder of the files that the user's own words mention.
    Unchanged if they mention none, or if the reminder is already there."""
    words = reminder(mentioned(user_text))
    return f"{text}\n\n{words}" if words and words not in text else text


@dataclass(frozen=True, slots=True)
class ExternalChange:
    """The result at message `index` shows that `file` changed since the agent read it last."""

    index: int
    call_id: str
    file: str

    def __str__(self) -> str:
        return f"Note: {self.file} was modified externally."


_LINE = re.compile(r"^\s*(\d+)(?:→|\t)(.*)$", re.MULTILINE)
_MAY_WRITE = re.compile(
    r">|\btee\b|\b(?:mv|cp|rm|patch|install|dd|truncate|format|fmt|prettier|ruff|black|gofmt|make|rustfmt)\b"
    r"|\bsed\b.{0,40} -i|\bsed -i|\bperl -p?i|--(?:write|fix|in-place)\b"
    r"|\bgit (?:checkout|restore|stash|apply|pull|merge|rebase|reset|cherry-pick|revert|switch|clean|mv|rm|am)\b"
)
_MTIMES = ("mtime", "mtime_ms", "file_mtime", "file_mtime_ms", "last_modified")


@dataclass(frozen=True, slots=True)
class _FileState:
    """A file as the last read showed it: its lines by number, or its whole text if they have no numbers."""

    mtime: object
    lines: dict[str, str]
    text: str
    input: str


def external_changes(calls: Iterable[ToolCall]) -> tuple[ExternalChange, ...]:
    """Files that were read again with another recorded mtime or another line, although the agent did not change them in
    between.

    An edit of the file explains a difference, and so does any command that may write (a redirection, `sed -i`, a
    formatter, `git checkout`), because it may have changed this file. O(text of the reads).
    """
    known: dict[str, _FileState] = {}
    changes: list[ExternalChange] = []
    for called in calls:
        kinds = {action.kind for action in called.actions}
        if "command" in kinds and any(_MAY_WRITE.search(a.target) for a in called.actions if a.kind == "command"):
            known.clear()
        for action in called.actions:
            if action.kind in CHANGES and called.ok is not False:
                known.pop(normal_path(action.target), None)
        if kinds == {"viewed"} and len(called.actions) == 1 and called.result is not None and called.ok:
            at = called.index if called.result_index is None else called.result_index
            path = normal_path(called.actions[0].target)
            seen = _file_state(called, called.result)
            before = known.get(path)
            if before is not None and _has_changed(before, seen):
                changes.append(ExternalChange(at, called.call.id, called.actions[0].target))
            lines = {**before.lines, **seen.lines} if before is not None else seen.lines
            known[path] = _FileState(seen.mtime, lines, seen.text, seen.input)
    return tuple(changes)


def _file_state(called: ToolCall, result: ToolResult) -> _FileState:
    data = result_envelope(result)["data"]
    fields = data if isinstance(data, dict) else {"content": data}
    content = fields.get("content")
    text = _REMINDER.sub("", content).rstrip() if isinstance(content, str) else ""
    mtime = next((fields[key] for key in _MTIMES if fields.get(key) is not None), None)
    return _FileState(mtime, dict(_LINE.findall(text)), text, str(called.call.input))


def _has_changed(before: _FileState, now: _FileState) -> bool:
    if before.mtime is not None and now.mtime is not None:
        return before.mtime != now.mtime
    if before.lines and now.lines:
        return any(before.lines.get(number, line) != line for number, line in now.lines.items())
    if before.lines or now.lines:
        return False  # One of them is not a listing but, for example, a note that nothing changed.
    return before.input == now.input and before.text != now.text


TASK_CHARS = 80


def recap(tasks: Sequence[Task]) -> str:
    """Number of finished tasks, the current one and the next one; "" without tasks."""
    if not tasks:
        return ""
    parts = [f"{sum(task.status == 'completed' for task in tasks)} of {len(tasks)} done"]
    for status, words in (("in_progress", "in progress"), ("pending", "next")):
        first = next((task for task in tasks if task.status == status), None)
        if first is not None:
            parts.append(f"{words}: {clip_at_word(first.text, TASK_CHARS)}")
    return "; ".join(parts)


def recap_of(context: Context) -> str:
    """Recap after the session's last todo call, even if a compaction removed that call, because the agent's list is not
    part of its history. "" if the agent had no list."""
    return _recap_of(context.shape, context.stored_history)


@newest_per_shape
def _recap_of(shape: Shape, stored_history: StoredHistory) -> str:
    return recap(tasks_of((*calls_of(stored_history.shape), *calls_of(shape))))


@dataclass(frozen=True, slots=True)
class SessionNote:
    """Note on the message at `index`. `text`: reminder of a request, note on the result of the call `call_id`, or recap
    after the call at `index`. `files`: files named in the note."""

    index: int
    kind: Literal["mention", "changed", "recap"]
    text: str
    files: tuple[str, ...] = ()
    call_id: str = ""


def notes_of(shape: Shape) -> tuple[SessionNote, ...]:
    """Every note, in the order of the messages."""
    return tuple(noted for index in range(len(shape.messages)) for noted in notes_at(shape, index))


def notes_at(shape: Shape, index: int) -> Iterator[SessionNote]:
    """Notes on the message at `index`. Notes on results and lists are computed once for the whole shape, which takes
    seconds for 60 000 messages."""
    message = shape.masked_at(index)
    if message.starts_round and (paths := mentioned(message.user_text)):
        yield SessionNote(index, "mention", reminder(paths), paths)
    if message.results:
        for change in _changes(shape).get(index, ()):
            yield SessionNote(index, "changed", str(change), (change.file,), change.call_id)
    if any(map(changes_tasks, message.calls)) and (words := _recaps(shape).get(index)):
        yield SessionNote(index, "recap", words)


@per_shape
def _changes(shape: Shape) -> dict[int, tuple[ExternalChange, ...]]:
    found: dict[int, tuple[ExternalChange, ...]] = {}
    for change in external_changes(calls_of(shape)):
        found[change.index] = (*found.get(change.index, ()), change)
    return found


@per_shape
def _recaps(shape: Shape) -> dict[int, str]:
    calls = [called for called in calls_of(shape) if changes_tasks(called.call)]
    return {called.index: recap(tasks_of(calls[:number])) for number, called in enumerate(calls, 1)}
