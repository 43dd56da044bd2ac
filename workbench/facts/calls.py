"""Tool calls with their results: what was done, and whether it succeeded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.base.text import clip_at_word
from workbench.facts.tools import Action, actions_of
from workbench.session import Message, ToolResult, ToolUse

_EXIT = re.compile(
    r"""^\W{0,3}exit[ _](?:code|status)\W{1,3}(-?\d{1,5})"""
    r"""|\b(?:finished|completed|exited)[ ]with[ ](?:exit[ ])?(?:code|status)[ :]{1,2}(-?\d{1,5})"""
    r"""|["']exit_code["']:[ ]?(-?\d{1,5})""",
    re.IGNORECASE | re.MULTILINE,
)
_WRAPPER = re.compile(r"^(?:wall time\b.{0,40}|output:?|chunk id:.{0,40}|</?\w{2,20}>)$", re.IGNORECASE)
_RUNNING = ("command running in background", "process running with", "command is still running")
_REFUSED = (
    "the user doesn't want to proceed",
    "the user doesn't want to take this action",
    "[request interrupted by user",
    "user rejected",
    "the user denied",
    "this command requires approval",
    "permission to use",
)
_CHECK = re.compile(
    r"(?<![\w/.-])(?:tests?|pytest|jest|vitest|tox|nox|build|lint|check|tsc|mypy|ruff|credo|make|cargo|gradle|mvn|compile|"
    r"verify)(?![\w/.-])"
)
_QUOTE = re.compile(r"[\"']")
_FAILED_RUN = re.compile(
    r"^(?:--- FAIL|FAIL\b|FAILED\b|E   |error(?:\[\w{1,10}\])?:|npm ERR!|panic:|Traceback )"
    r"|^.{0,200}\b[1-9]\d{0,6} (?:failed|failing|errors?)\b",
    re.MULTILINE,
)


_OUTCOME = re.compile(
    r"\b\d{1,7} (?:tests?|passed|passing|failed|failing|failures?|errors?|warnings?|issues?|problems?|specs?)\b"
    r"|\b\d{1,7} files? changed\b"
    r"|\bno (?:issues|errors|problems|changes)\b|^(?:ok|PASS|FAIL|success\w{0,4}|done)\b",
    re.IGNORECASE,
)
"""A line that says how a run ended; it says more than the hint or the timing that comes after it."""


@dataclass(frozen=True, slots=True)
class Called:
    """A call at message `index`, its actions, and its result, None while it is open.

    `ok` is False for a result that failed, True for one that did not, None when that cannot be told.
    """

    index: int
    call: ToolUse
    actions: tuple[Action, ...]
    result: ToolResult | None = None
    result_index: int | None = None
    ok: bool | None = None

    @property
    def refused(self) -> bool:
        """Whether a person turned the call down: a choice of theirs, not an error."""
        return self.result is not None and self.result.is_error and is_refusal(self.result.text[:300])


def calls_in(messages: Sequence[Message]) -> tuple[Called, ...]:
    """Every call of `messages` in order. A file written again after it was seen counts as modified, not created."""
    results = _results_by_call(messages)
    seen_paths: set[str] = set()
    done: list[Called] = []
    for index, message in enumerate(messages):
        for call in message.calls:
            waiting = results.get(call.id)
            at, result = waiting.pop(0) if waiting else (None, None)
            actions = actions_of(call)
            ok = _succeeded(result, actions)
            actions = tuple(_known(action, seen_paths) for action in actions)
            if ok is not False:
                seen_paths.update(action.target for action in actions if action.kind != "command")
            done.append(Called(index, call, actions, result, at, ok))
    return tuple(done)


def _results_by_call(messages: Sequence[Message]) -> dict[str, list[tuple[int, ToolResult]]]:
    found: dict[str, list[tuple[int, ToolResult]]] = {}
    for index, message in enumerate(messages):
        if message.role in ("tool", "user"):
            for result in message.results:
                found.setdefault(result.call_id, []).append((index, result))
    return found


def _known(action: Action, seen: set[str]) -> Action:
    if action.kind == "created" and action.target in seen:
        return Action("modified", action.target)
    return action


def is_refusal(text: str) -> bool:
    low = text.lower()
    return any(words in low for words in _REFUSED)


def _succeeded(result: ToolResult | None, actions: tuple[Action, ...]) -> bool | None:
    if result is None:
        return None
    if result.is_error:
        return False
    commands = [action.target for action in actions if action.kind == "command"]
    if not commands:
        return True
    text = result.text
    ends = text[:300] + "\n" + text[-300:] if len(text) > 600 else text
    if any(words in ends[:300].lower() for words in _RUNNING):
        return None
    code = exit_code(ends)
    if code is not None and code != 0:
        return False
    # A test run piped through `tail`, or whose tool records no exit code, fails without saying so in its status.
    unsure = code is None or "|" in commands[-1]
    return not (unsure and is_check(commands[-1]) and _FAILED_RUN.search(text[-4000:]))


def is_check(command: str) -> bool:
    """Whether a command tests or builds, so that what it says depends on the files."""
    return _CHECK.search(_QUOTE.split(command[:400], 1)[0]) is not None


def exit_code(text: str) -> int | None:
    """The last exit code that `text` names, None where it names none."""
    codes = [code for groups in _EXIT.findall(text) for code in groups if code]
    return int(codes[-1]) if codes else None


def last_line(result: ToolResult | None, limit: int = 160) -> str:
    """The last line of a result, or the one near its end that says how the run ended; cut to `limit`."""
    if result is None:
        return ""
    said = [line.strip() for line in result.text[-4000:].split("\n")[-14:]]
    said = [line for line in said if _says_something(line)]
    if not said:
        return ""
    return clip_at_word(outcome_line(said), limit)


def outcome_line(lines: Sequence[str]) -> str:
    """Of the lines of an output the last that says how the run ended, else the last; `lines` must not be empty."""
    return next((line for line in reversed(lines[-14:]) if _OUTCOME.search(line[:400])), lines[-1])


def _says_something(line: str) -> bool:
    return any(map(str.isalnum, line)) and not _WRAPPER.match(line) and not _EXIT.search(line[:400])
