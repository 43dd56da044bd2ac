"""Facts about errors: the failed call and the state of the error (resolved, open or unknown)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from workbench.facts.calls import OUTPUT_WRAPPER, ToolCall, last_line
from workbench.facts.error_states import ErrorStates, checks_of, is_command, may_find_nothing, quoted_command
from workbench.facts.fact import Fact
from workbench.facts.tools import normal_path
from workbench.facts.wording import searched_part
from workbench.session import Message

ERROR_CHARS = 240
"""Maximum length of an error line, in characters."""

_ERROR_PATTERNS = (
    re.compile(r"^\s{0,8}(?:E\s+)?\[?[\w.]{0,80}(?:Error|Exception|Panic)\b(?:[:\]( ]|$)(?<!^Error)"),
    re.compile(
        r"^\s{0,8}(?:panic:|fatal:|E   \S)|^.{0,160}\b(?:command not found|[Pp]ermission denied|"
        r"[Ss]egmentation fault)\b"
    ),
    re.compile(r"^\S{1,200}(?::\d{1,7}(?::\d{1,5})?|\(\d{1,7},\d{1,5}\)): [\w`\"'<@].{5}"),
    re.compile(r"^\s{0,8}(?:\[\w{1,20}\] )?(?:error(?:\[\w{1,10}\])?: |[×✗✘] \S)", re.IGNORECASE),
    re.compile(r"^\s{0,8}(?:--- FAIL|FAILED\b|\(fail\) )"),
    re.compile(
        r"^.{0,160}(?:\berror(?:\[\w{1,10}\])?:|\bfatal:|No such file or directory|npm ERR!|undefined: |cannot |"
        r"could not |\b(?:unknown|invalid|unrecognized|unexpected|unsupported|missing|undefined|unable to|not found|"
        r"not recognized|refused|denied|timed out|does not exist|doesn't exist|already exists|conflict|rejected)\b)",
        re.IGNORECASE,
    ),
    re.compile(
        r"^.{0,160}(?:\b[1-9]\d{0,6} (?:failed|failing|fail|failures?|errors?)\b|\bERROR\b)|^\s{0,8}FAIL\b",
        re.IGNORECASE,
    ),
)
"""Patterns of an error line in a command's output, the most specific first."""
_UNINFORMATIVE = re.compile(
    r"^\W{0,3}(?:\S{1,20} )?warn(?:ing)?\b|ERROR task failed|\[build failed\]|\bscript \"?\S{1,60} exited with|"
    r"failed with error:|errors? were emitted|"
    r"^\W{0,4}Found \d|^npm (?:error|ERR!) (?:code|path|workspace|location|command|Lifecycle|errno|A complete log)|"
    r"exited with (?:exit )?code \d|^error: Recipe|^make(?:\[\d\])?: \*\*\*|^\s*\d+ [|│]",
    re.IGNORECASE,
)
"""Lines that report a failure without its cause."""
_NO_ERROR = re.compile(
    r"^(?:error|command aborted|aborted|interrupted|\(no output\)|cancelled|canceled)\W*$",
    re.IGNORECASE,
)
_CODES = re.compile(
    r"^(?:\(no output\)|(?:command|process) exited with (?:exit )?code \d{1,3}\.?|exit code:? \d{1,3})$", re.IGNORECASE
)
_TAGS = re.compile(r"^Output: |</?(?:tool_use_error|error|stderr|stdout|output|returncode)>", re.MULTILINE)
_EXIT_LINE = re.compile(r"^\W{0,3}(?:exit[ _](?:code|status)|Traceback \(most)\b.{0,60}$", re.IGNORECASE)
_STRICT_ERROR = re.compile(r"^\s{0,8}(?:[\w.]{0,80}(?:Error|Exception): \S|(?:fatal|panic|error)(?:\[\w{1,10}\])?: \S)")


def error_facts(messages: Sequence[Message], calls: Sequence[ToolCall]) -> Iterator[Fact]:
    """Yield failed calls and errors pasted by the user. `detail` names the call, `by` the fix."""
    states = ErrorStates(messages, calls)
    for number, called in enumerate(calls):
        if called.ok is not False or called.refused or called.result is None:
            continue
        of_command = is_command(called)
        line = error_line(called.result.text, of_command=of_command)
        if not line and of_command and (checks_of(called) or not may_find_nothing(called)):
            line = _if_sentence(_cut(last_line(called.result)))
        if line:
            at = called.result_index if called.result_index is not None else called.index
            state, by = states.ending(number, line)
            yield Fact("error", line, messages[at].id, at, _call_text(called), state=state, by=by)
    for index, message in enumerate(messages):
        lines = searched_part(message.user_text).split("\n")
        if pasted := next((line for line in lines if _STRICT_ERROR.match(line)), ""):
            yield Fact("error", _cut(pasted), message.id, index, "reported by the user", state="unknown")


def _call_text(called: ToolCall) -> str:
    if not called.actions:
        return called.call.name
    return (
        quoted_command(called, 100)
        if is_command(called)
        else f"{called.call.name} {normal_path(called.actions[-1].target)}"
    )


def _if_sentence(line: str) -> str:
    """Return the line, or "" if it has fewer than three words."""
    return line if len(_WORD.findall(line)) >= 3 else ""


_WORD = re.compile(r"(?<!\S)[^\W\d_]{2,}(?!\w)")


def _cut(line: str) -> str:
    """Return an error line cut to `ERROR_CHARS`; white space within it is kept."""
    line = line.strip()
    return line if len(line) <= ERROR_CHARS else f"{line[: ERROR_CHARS - 1]}…"


def _is_wrapper(line: str) -> bool:
    return _CODES.match(line) is not None or OUTPUT_WRAPPER.match(line) is not None


def error_line(text: str, *, of_command: bool) -> str:
    """Return the line of a failed result that names the error, or "". A search without a hit is no error. In the output
    of a command the line is found by patterns; the message of any other tool begins with it.
    """
    candidates = (
        line for line in _TAGS.sub("", searched_part(text)).split("\n") if line.strip() and not _EXIT_LINE.match(line)
    )
    lines = [line for line in candidates if not _is_wrapper(line.strip()) and not _NO_ERROR.match(line.strip())]
    if not lines:
        return ""
    if not of_command:
        return _cut(lines[0])
    short_lines = [line for line in lines if len(line) < 2000]
    for some in ([line for line in short_lines if not _UNINFORMATIVE.search(line)], short_lines):
        for pattern in _ERROR_PATTERNS:
            for line in some:
                if pattern.match(line):
                    return _cut(line)
    return ""
