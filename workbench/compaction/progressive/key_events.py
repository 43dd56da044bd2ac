"""Find key events of a session, with reasons: a finished task, a fixed error, a call that changed something, a user's
instruction."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.base.text import clip_at_word
from workbench.compaction.shape import Shape, per_shape
from workbench.compaction.shape_calls import calls_of
from workbench.facts.calls import ToolCall
from workbench.facts.commands_and_paths import core_command
from workbench.facts.error_states import attempt_key
from workbench.facts.errors import error_line
from workbench.facts.standing import is_instruction
from workbench.facts.tasks import tasks_of
from workbench.facts.tools import tool_name
from workbench.facts.wording import prose, sentences

WHY_CHARS = 120
"""Characters of a message that a reason quotes."""

_CHANGES_SOMETHING = re.compile(
    r"(?:^|[;&|(\n]\s{0,3}|\bsudo )(?:git (?:commit|push|merge|rebase|revert|tag|reset|cherry-pick|checkout -b|mv|rm)|"
    r"rm|mv|cp|mkdir|touch|ln|chmod|patch|sed -i|tee|(?:npm|pnpm|yarn|pip3?|uv|cargo|apt|apt-get|brew|go|gem|bundle|"
    r"poetry) (?:install|add|remove|uninstall|i|get|update|upgrade|publish)|docker (?:build|run|compose up)|"
    r"kubectl apply|terraform apply|alembic upgrade|psql|dropdb|createdb)\b"
)
_ACKNOWLEDGED = re.compile(
    r"\W*(?:(?:ok(?:ay)?|yes|yep|no|sure|thanks?|thank you|great|good|nice|perfect|please|continue|go on|go ahead|"
    r"proceed|好的?|是的?|对|继续|谢谢|可以|行|嗯)\W*){0,4}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ErrorFix:
    """Failed attempt and its fix, by message index. `error`: result of the failed call. `by`: call that last changed a
    file between failure and success, else `success`. `success`: call that succeeded. `line`: message of the error."""

    error: int
    by: int
    success: int
    line: str


@per_shape
def fixes_of(shape: Shape) -> tuple[ErrorFix, ...]:
    """Errors after which the same command, or the same tool on the same file, succeeded."""
    calls = calls_of(shape)
    found: list[ErrorFix] = []
    waiting: dict[str, list[int]] = {}
    changed: int | None = None
    for number, called in enumerate(calls):
        key = attempt_key(called)
        if called.ok is False and not called.refused and called.result_index is not None and key:
            waiting.setdefault(key, []).append(number)
        elif called.ok:
            for failed in waiting.pop(key, ()) if key else ():
                between = changed if changed is not None and changed > failed else number
                found.append(_error_fix(calls[failed], calls[between].index, called.index))
            if _files_changed(called):
                changed = number
    return tuple(sorted(found, key=lambda one: (one.error, one.success)))


def _error_fix(failed: ToolCall, by: int, success: int) -> ErrorFix:
    at = failed.result_index if failed.result_index is not None else failed.index
    of_command = any(action.kind == "command" for action in failed.actions)
    line = error_line(failed.result.text, of_command=of_command) if failed.result else ""
    return ErrorFix(at, by, success, clip_at_word(line, WHY_CHARS) or "failed without a message")


def _files_changed(called: ToolCall) -> list[str]:
    return [f"{action.kind} {action.target}" for action in called.actions if action.kind not in ("viewed", "command")]


@per_shape
def events_of(shape: Shape) -> Mapping[int, str]:
    """Reasons of events by message index. If several apply to a message, the first counts: instruction, finished task,
    answer after changes, fixed error, change."""
    found: dict[int, str] = {}
    for index, why in _all_events(shape):
        found.setdefault(index, why)
    return found


def _all_events(shape: Shape) -> list[tuple[int, str]]:
    calls = calls_of(shape)
    return [
        *_instructions(shape),
        *_finishing_calls(calls),
        *_answers_after_changes(shape, calls),
        *_fixed_errors(shape),
        *_changing_calls(calls),
    ]


def _instructions(shape: Shape) -> list[tuple[int, str]]:
    found = []
    for index, message in enumerate(shape.masked):
        if (message.starts_round or message.user_text) and not _ACKNOWLEDGED.fullmatch(message.user_text[:80]):
            standing = next((one for one in sentences(prose(message.user_text)) if is_instruction(one)), "")
            why = f"rule: {standing}" if standing else "the user's instruction"
            found.append((index, clip_at_word(why, WHY_CHARS)))
    return found


def _finishing_calls(calls: Sequence[ToolCall]) -> list[tuple[int, str]]:
    """Calls of the task list that finish a task."""
    found = []
    done: set[str] = set()
    one_by_one: list[ToolCall] = []
    for called in calls:
        if called.actions or called.ok is False:
            continue
        name = tool_name(called.call.name)
        if name in ("taskcreate", "taskupdate"):
            one_by_one.append(called)
            written = tasks_of(one_by_one) if _says_completed(called) else ()
        else:
            written = tasks_of((called,))
        now = {task.text for task in written if task.status == "completed"}
        if more := sorted(now - done):
            found.append((called.index, clip_at_word(f"task finished: {'; '.join(more)}", WHY_CHARS)))
        done |= now
    return found


def _says_completed(called: ToolCall) -> bool:
    return isinstance(called.call.input, dict) and called.call.input.get("status") == "completed"


def _answers_after_changes(shape: Shape, calls: Sequence[ToolCall]) -> list[tuple[int, str]]:
    """Answers that end a round in which something was changed."""
    changes = [called.index for called in calls if called.ok is not False and _files_changed(called)]
    found, at = [], 0
    for span in shape.rounds.rounds:
        began = at
        while at < len(changes) and changes[at] < span.stop:
            at += 1
        last = shape.messages[span.stop - 1]
        if at > began and last.role == "assistant" and not last.calls and last.text.strip():
            found.append((span.stop - 1, f"task finished: answer after {at - began} changes"))
    return found


def _fixed_errors(shape: Shape) -> list[tuple[int, str]]:
    found = []
    for fix in fixes_of(shape):
        found.append((fix.error, f"error, fixed later: {fix.line}"))
        found.append((fix.success, f"error fixed: {fix.line}"))
    return found


def _changing_calls(calls: Sequence[ToolCall]) -> list[tuple[int, str]]:
    found = ((called.index, changed_by(called)) for called in calls)
    return [(index, clip_at_word(f"change: {', '.join(what)}", WHY_CHARS)) for index, what in found if what]


def changed_by(called: ToolCall) -> list[str]:
    """Changes made by a call, in words: files, or the effect of its command line (a commit, an installed package)."""
    if called.ok is False:
        return []
    commands = [action.target for action in called.actions if action.kind == "command"]
    return _files_changed(called) + [
        f"ran {core_command(line)}" for line in commands if _CHANGES_SOMETHING.search(line[:2_000])
    ]
