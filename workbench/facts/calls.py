"""Tool calls with their actions, results and success."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from workbench.base.session_caches import session_cache
from workbench.facts import powershell
from workbench.facts.shell import Effect, effects
from workbench.facts.shell_lines import status_covers
from workbench.facts.text_calls import text_calls
from workbench.facts.tools import CHANGES, ActionKind, ToolAction, actions_of, normal_path, tool_name
from workbench.session import Message, ToolResult, ToolUse

_EXIT = re.compile(
    r"""^\W{0,3}exit[ _](?:code|status)\W{1,8}?(-?\d{1,5})"""
    r"""|\b(?:finished|completed|exited)[ ]with[ ](?:exit[ ])?(?:code|status)[ :]{1,2}(-?\d{1,5})"""
    r"""|["']exit_code["']:[ ]?(-?\d{1,5})""",
    re.IGNORECASE | re.MULTILINE,
)
_EXIT_HINTS = ("exit", "finished", "completed")
"""Every match of `_EXIT` contains one of these words. A plain search for them is much faster."""
OUTPUT_WRAPPER = re.compile(
    r"^(?:wall time\b.{0,40}|output:?|chunk id:.{0,40}|original token count:.{0,20}|</?\w{2,20}>|"
    r"(?:error|signal|background pids|process group pgid|directory|output): (?:\((?:none|root|empty)\)|\d{1,9}))$",
    re.IGNORECASE,
)
"""Lines that a tool adds around a command's output."""
_RUNNING = ("command running in background", "process running with", "command is still running")
_REFUSED = (
    "the user doesn't want to proceed",
    "the user doesn't want to take this action",
    "[request interrupted by user",
    "user rejected",
    "rejected by user",
    "rejected by the user",
    "the user denied",
    "denied by the user",
    "user declined",
    "cancelled by user",
    "user cancelled",
    "this command requires approval",
    "permission to use",
)
_REFUSES = re.compile(
    r"\W{0,3}(?:the user (?:doesn't want|denied|rejected|declined)|user (?:rejected|denied|declined|cancelled)|"
    r"request interrupted by user|(?:patch|exec(?:ution)?|command|call|operation|tool)(?: \w+)? (?:was )?"
    r"(?:rejected|declined|denied|cancelled) by (?:the )?user)",
    re.IGNORECASE,
)
"""Beginning of a result that reports the user's refusal without an error mark."""
_EDIT_FAILED = re.compile(
    r"\A\W{0,3}(?:(?:apply_)?patch (?:verification )?(?:failed|rejected)|failed to (?:apply|find)|could not find|"
    r"no changes made|string to replace not found|old_str(?:ing)? (?:not|was not|did not)|no match found|"
    r"error(?: applying| editing| writing|:))",
    re.IGNORECASE,
)
"""Beginning of a message that an edit changed nothing, from editors that do not mark errors."""
_CHECK = re.compile(
    r"(?<![\w/.-])(?:tests?|pytest|jest|vitest|mocha|tox|nox|build|lint|check|tsc|mypy|ruff|credo|cargo|gradle|mvn|compile|"
    r"vet|make(?! (?:logs?|run|dev|up|down|clean|install|start|stop|serve|deploy|shell)\b)|"
    r"verify)(?![\w/.-])"
)
_QUOTE = re.compile(r"[\"']")
_FAILED_LINE = re.compile(
    r"\n(?:--- FAIL|FAIL\b|FAILED\b|E   |error(?:\[\w{1,10}\])?:|npm (?:ERR!|error)|panic:|Traceback | ?ELIFECYCLE)"
)
_FAILED_COUNTS = (
    re.compile(r"[1-9](?<!\w[1-9])\d{0,6} (?:failed|failing|errors?)\b"),
    re.compile(r": error TS\d{3,5}:"),
    re.compile(r"Failed: (?<!\wFailed: )[1-9]"),
)
"""Counts of failures in a test or build output, near the beginning of a line. They begin with literal text, because
patterns anchored at the line are many times slower."""
_COUNT_COLUMN = 201
"""Maximum distance of a failure count from the preceding line end, in characters."""
_FAILURE_HINTS = (
    "FAIL", "E   ", "error", "npm ERR!", "panic:", "Traceback ", "ELIFECYCLE", "failed", "failing", "Failed: ",
)  # fmt: skip
"""Every match of `_FAILED_LINE` and `_FAILED_COUNTS` contains one."""
_NONE_FAILED = re.compile(r"\b0 fail(?:ed|ing|ures?)?\b(?!.{0,600}\b[1-9]\d{0,6} (?:fail|error))", re.DOTALL)
_PASSED_RUN = re.compile(
    r"\b[1-9]\d{0,6} (?:tests? |specs? |examples? )?(?:passed|passing|pass|succeeded)\b"
    r"|\b(?:0|no) (?:failed|fail|failing|failures|errors|issues|problems|warnings)\b"
    r"|^(?:ok|PASS|PASSED|OK)\b(?! so)|^test result: ok|\bBUILD SUCCESS|\bBuild succeeded|\bCompiled successfully"
    r"|\b[Aa]ll (?:tests|checks) pass|\bSuccess: no issues|\bFailed: 0\b|\bNo fixes applied",
    re.MULTILINE,
)
"""Text of a successful test or build, used where no exit status is recorded."""
_SUCCESS_HINTS = (
    " pass", " succeeded", *(f"{none} {what}" for none in ("0", "no") for what in (
        "fail", "errors", "issues", "problems", "warnings",
    )), "\nok", "\nPASS", "\nOK", "\ntest result: ok", "BUILD SUCCESS", "Compiled successfully", "Failed: 0",
    "No fixes applied",
)  # fmt: skip
"""Every match of `_PASSED_RUN`, with the line end before it, contains one. Plain search takes 1/20 of the time."""


_OUTCOME = re.compile(
    r"\b\d{1,7} (?:tests?|passed|passing|failed|failing|failures?|errors?|warnings?|issues?|problems?|specs?)\b"
    r"|\b\d{1,7} files? changed\b"
    r"|\bno (?:issues|errors|problems|changes)\b|^(?:ok|PASS|FAIL|success\w{0,4}|done)\b",
    re.IGNORECASE,
)
"""Line that reports the result of a run; a hint or timing may follow it."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call in message `index` with its actions and result (None while open).

    `ok` is True for a successful result, False for a failed one, None if unknown (such as a test in a pipe whose output
    does not tell). For a background command it comes from the result that a later call fetched. `refused`: the user
    rejected the call, which is not an error. Effects of a command line on files (`workbench.facts.shell`) come before
    the command itself, without those that the result denies.
    """

    index: int
    call: ToolUse
    actions: tuple[ToolAction, ...]
    result: ToolResult | None = None
    result_index: int | None = None
    ok: bool | None = None
    refused: bool = False


def calls_in(messages: Sequence[Message]) -> tuple[ToolCall, ...]:
    """Return all calls of `messages` in order. Writing a file seen earlier modifies it; any other write creates it.
    Deleting or reverting a folder also affects the known files in it."""
    known: dict[str, ActionKind] = {}
    done: list[ToolCall] = []
    running: dict[str, int] = {}
    opened = ""
    for index, call, at, result in calls_with_results(messages):
        done.append(_build_call(index, call, at, result, known, opened))
        if tool_name(call.name) in _OPEN_TOOLS and done[-1].actions:
            opened = done[-1].actions[-1].target
        if result is None:
            continue
        if running and (name := next((one for one in _input_values(call) if one in running), "")):
            number = running[name]
            done[number] = replace(done[number], ok=_background_status(done[number], result))
        elif done[-1].ok is None and (name := _background_id(result.text[:2000])):
            running[name] = len(done) - 1
    return tuple(done)


def calls_with_results(messages: Sequence[Message]) -> Iterator[tuple[int, ToolUse, int | None, ToolResult | None]]:
    """Yield (message index, call, result's message index, result) for every call; the last two are None while it is
    open."""
    results = _results_by_call(messages)
    for index, message in enumerate(messages):
        for block in message.blocks:
            if isinstance(block, ToolUse):
                waiting = results.get(block.id)
                at, result = waiting.pop(0) if waiting else (None, None)
                yield index, block, at, result


_BACKGROUND_ID = re.compile(
    r"running (?:in (?:the )?background )?with (?:session )?id:? ([\w-]{1,60})|shellid: ([\w-]{1,60}) is still running",
    re.IGNORECASE,
)
"""Id under which the output of a background command can be fetched later."""


def _background_id(text: str) -> str:
    low = text.lower()
    started = _BACKGROUND_ID.search(text) if "running" in low or "shellid" in low else None
    return started[1] or started[2] if started else ""


def _input_values(call: ToolUse) -> list[str]:
    values = call.input.values() if isinstance(call.input, dict) else ()
    return [str(value) for value in values if isinstance(value, str | int)]


def _background_status(called: ToolCall, later: ToolResult) -> bool | None:
    """Return whether a background command succeeded, by the exit code in `later`, a fetched result; its known status if
    that has none."""
    if exit_code(f"{later.text[:300]}\n{later.text[-300:]}") is None:
        return called.ok
    return _succeeded(later, called.actions, refused=_is_refused(later))


_OPEN_TOOLS = ("open", "create")
_EDIT_OPEN_FILE = ("edit", "insert")
"""Tools of SWE-agent: the first open a file, the others edit the open file without naming it."""


def all_calls(messages: Sequence[Message]) -> tuple[ToolCall, ...]:
    """Return the recorded calls; if there are none, the calls written as text (`workbench.facts.text_calls`)."""
    known: dict[str, ActionKind] = {}
    return calls_in(messages) or tuple(
        _build_call(index, call, index + 1, result, known) for index, call, result in text_calls(messages)
    )


def _build_call(
    index: int,
    call: ToolUse,
    at: int | None,
    result: ToolResult | None,
    known: dict[str, ActionKind],
    opened: str = "",
) -> ToolCall:
    """Build a call with its actions and update `known`: the last action on each file."""
    requested = actions_of(call)
    if opened and not requested and tool_name(call.name) in _EDIT_OPEN_FILE:
        requested = (ToolAction("modified", opened),)
    refused = result is not None and _is_refused(result)
    ok = _succeeded(result, requested, refused=refused)
    if shells := [action.target for action in requested if action.kind == "command"]:
        effects_of = powershell.effects if tool_name(call.name) in _POWERSHELLS else effects
        done = [effect for line in shells for effect in effects_of(line) if not refused]
        requested = (*_shell_actions(done, result, ok, known), *requested)
    actions = tuple([_as_modified(action, known) for action in requested])
    for action in actions if ok is not False else ():
        if action.kind == "deleted":
            known.pop(normal_path(action.target), None)
        elif action.kind != "command":
            known[normal_path(action.target)] = action.kind
        elif "commit" in action.target and _COMMITS.search(action.target):
            known.update(dict.fromkeys(known, "viewed"))
    return ToolCall(index, call, actions, result, at, ok, refused)


_COMMITS = re.compile(r"\bgit (?:\S+ ){0,4}commit\b")
"""After a commit, a checkout no longer reverts earlier changes."""
_POWERSHELLS = ("powershell", "pwsh")


def _shell_actions(
    found: Iterable[Effect], result: ToolResult | None, ok: bool | None, known: dict[str, ActionKind]
) -> Iterator[ToolAction]:
    """Yield the effects of command lines on files, except those that the result denies."""
    text = "" if result is None else result.text[:4000]
    for effect in dict.fromkeys(found):
        if not _is_denied(effect, text, ok):
            yield from dict.fromkeys(ToolAction(kind, path) for kind, path in _affected_paths(effect, known))


def _is_denied(effect: Effect, text: str, ok: bool | None) -> bool:
    """Return whether the result shows that the effect did not happen."""
    if ok is False and effect.last and effect.program:
        named = _COMPLAINS.findall(text) if effect.program in _CONTINUES_ON_ERROR else ()
        return not named or any(effect.path == one or effect.path.endswith("/" + one) for one in named)
    if effect.program == "git":
        return ok is False and re.search(r"^(?:error|fatal): ", text, re.MULTILINE) is not None
    # zsh writes the file after the reason, other shells before it.
    zsh_message = rf"^\S+: (?:no such|permission|is a|not a)[\w ]+: {re.escape(effect.path)}$"
    if not effect.program and f": {effect.path}" in text and re.search(zsh_message, text, re.M):
        return True
    subject = f"{effect.program or effect.path}: "
    return subject in text and re.search(rf"^(?:\S+: )?(?:line \d+: )?{re.escape(subject)}", text, re.M) is not None


_CONTINUES_ON_ERROR = frozenset(("rm", "rmdir"))
"""Programs that report each file they fail on and still process the others."""
_COMPLAINS = re.compile(
    r"^(?:\S+: )?(?:line \d+: )?rm(?:dir)?: (?:cannot remove |failed to remove )?['‘]?([^'’\n]+?)['’]?: ", re.M
)


def _affected_paths(effect: Effect, known: dict[str, ActionKind]) -> Iterator[tuple[ActionKind, str]]:
    """Yield (kind, path) for the known files that match a pattern, or for the path and the known files below it.
    Reverting a folder affects only modified files, because git does not know new ones."""
    kind, path = effect.kind, effect.path
    if "*" in path or "?" in path:
        depth = path.count("/")
        yield from ((kind, one) for one in known if one.count("/") == depth and fnmatchcase(one, path))
        return
    under = "" if path == "." else path + "/"
    if kind == "deleted":
        yield from ((kind, one) for one in list(known) if one.startswith(under))
    if kind == "reverted":
        within = [one for one in known if one.startswith(under) and (under or not one.startswith(("/", "~")))]
        yield from ((kind, one) for one in within if known[one] == "modified")
        if within or "." not in path.rpartition("/")[2].strip("."):
            return
    yield kind, path


def _results_by_call(messages: Sequence[Message]) -> dict[str, list[tuple[int, ToolResult]]]:
    found: dict[str, list[tuple[int, ToolResult]]] = {}
    for index, message in enumerate(messages):
        if message.role in ("tool", "user"):
            for block in message.blocks:
                if isinstance(block, ToolResult):
                    found.setdefault(block.call_id, []).append((index, block))
    return found


def _as_modified(action: ToolAction, known: dict[str, ActionKind]) -> ToolAction:
    if action.kind == "created" and normal_path(action.target) in known:
        return ToolAction("modified", action.target)
    return action


def _is_refused(result: ToolResult) -> bool:
    start = result.text[:300]
    return is_refusal(start) if result.is_error else _REFUSES.match(start) is not None


def is_refusal(text: str) -> bool:
    low = text.lower()
    return any(words in low for words in _REFUSED)


def _succeeded(result: ToolResult | None, actions: tuple[ToolAction, ...], *, refused: bool) -> bool | None:
    if result is None:
        return None
    text = result.text
    if result.is_error or refused:
        return False
    lines = [action.target for action in actions if action.kind == "command"]
    if not lines:
        return not (any(action.kind in CHANGES for action in actions) and _EDIT_FAILED.match(text[:200]))
    ends = text[:300] + "\n" + text[-300:] if len(text) > 600 else text
    start = ends[:300].lower()
    if "running" in start and any(words in start for words in _RUNNING):
        return None
    code = exit_code(ends)
    if code is not None and code != 0:
        return False
    if not is_check(lines[-1]):
        return True
    proves_success = status_covers(lines[-1], is_check)
    if code is not None and proves_success:
        return True
    # A test run piped through `tail`, or from a tool without exit codes, can fail without a failure status.
    end = text[-4000:]
    if any(one in end for one in _FAILURE_HINTS) and _reports_failure(end) and not _NONE_FAILED.search(text[-600:]):
        return False
    if proves_success:
        return True
    lined = "\n" + end
    return True if any(one in lined for one in _SUCCESS_HINTS) and _PASSED_RUN.search(end) else None


def _reports_failure(end: str) -> bool:
    if _FAILED_LINE.search("\n" + end):
        return True
    counts = (found.start() for pattern in _FAILED_COUNTS for found in pattern.finditer(end))
    return any(at - end.rfind("\n", 0, at) <= _COUNT_COLUMN for at in counts)


@session_cache(4096)
def is_check(command: str) -> bool:
    """Return whether a command tests or builds, so that its result depends on the files."""
    return _CHECK.search(_QUOTE.split(command[:400], 1)[0]) is not None


def exit_code(text: str) -> int | None:
    """Return the last exit code in `text`, or None."""
    low = text.lower()
    if not any(word in low for word in _EXIT_HINTS):
        return None
    codes = [code for groups in _EXIT.findall(text) for code in groups if code]
    return int(codes[-1]) if codes else None


def last_line(result: ToolResult | None) -> str:
    """Return the line that reports the outcome, near the end of a result; else the last line. "" without a result."""
    if result is None:
        return ""
    lines = [line.strip() for line in reversed(result.text[-4000:].split("\n")[-14:])]
    lines = [line for line in lines if _WRITTEN.search(line) and not OUTPUT_WRAPPER.match(line)]
    lines = [line for line in lines if exit_code(line[:400]) is None]
    return next((line for line in lines if _OUTCOME.search(line[:400])), "".join(lines[:1]))


_WRITTEN = re.compile(r"[^\W_]")
