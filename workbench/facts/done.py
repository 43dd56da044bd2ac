"""What was done: paths touched, commands with their results, errors with their fixes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from workbench.base.text import clip_at_word
from workbench.facts.calls import Called, is_check, last_line
from workbench.facts.fact import Fact
from workbench.facts.tools import normal_path
from workbench.facts.wording import is_agents, scanned
from workbench.session import Message

ERROR_CHARS = 240
"""An error's line is cut to this many characters."""

SOON = 8
"""Calls within which another way of running a failed command counts as its fix."""

REFUSED = "refused by the user"

_WORD = re.compile(r"[^\s\"'`<>()\[\]{},;|*=，。、；：（）「」《》]{3,200}")
_FILE = re.compile(r"^(?:[A-Za-z]:)?[\w./\\@+~-]*[\w-]\.[A-Za-z][A-Za-z0-9]{0,7}$")
_BARE_FILE = re.compile(
    r"^[\w-][\w.-]*\.(?:py|tsx?|jsx?|go|rs|md|json|ya?ml|toml|sh|css|html|txt|sql|java|kt|rb|c|h|cpp|cfg|ini|lock|vue)$"
)

_TELLING = (
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
"""What names an error in a command's output, the most telling first."""
_SAYS_LITTLE = re.compile(
    r"^\W{0,3}(?:\S{1,20} )?warn(?:ing)?\b|ERROR task failed|\[build failed\]|\bscript \"?\S{1,60} exited with|"
    r"failed with error:|errors? were emitted|"
    r"^\W{0,4}Found \d|^npm (?:error|ERR!) (?:code|path|workspace|location|command|Lifecycle|errno|A complete log)|"
    r"exited with (?:exit )?code \d|^error: Recipe|^make(?:\[\d\])?: \*\*\*|^\s*\d+ [|│]",
    re.IGNORECASE,
)
"""Lines that say that something failed and not what."""
_NO_ERROR = re.compile(
    r"^(?:error|command aborted|aborted|interrupted|\(no output\)|cancelled|canceled)\W*$",
    re.IGNORECASE,
)
_CODES = re.compile(
    r"^(?:chunk id:.{0,40}|wall time\b.{0,40}|original token count:.{0,20}|output:|\(no output\)|"
    r"(?:command|process) exited with (?:exit )?code \d{1,3}\.?|exit code:? \d{1,3}|</?\w{2,20}>)$",
    re.IGNORECASE,
)
"""What the tool says around an output."""
_TAGS = re.compile(r"</?(?:tool_use_error|error|stderr|stdout|output|returncode)>")
_EXIT_LINE = re.compile(r"^\W{0,3}(?:exit[ _](?:code|status)|Traceback \(most)\b.{0,60}$", re.IGNORECASE)
_STRICT_ERROR = re.compile(r"^\s{0,8}(?:[\w.]{0,80}(?:Error|Exception): \S|(?:fatal|panic|error)(?:\[\w{1,10}\])?: \S)")

_PIPE_TAIL = re.compile(
    r"\s*(?:2>&1|\|\s*(?:tail|head|grep|cat|tee|sed|wc)\b(?:\"[^\"]{0,100}\"|'[^']{0,100}'|[^|&;\n\"']){0,200}"
    r"|;\s*echo [^;&|\n]{0,80})\s*$"
)
_CD = re.compile(r"^(?:cd [^&;|\n]{1,300}(?:&&|;)\s*|[A-Z_]{2,40}=\S{0,200}\s+)+")


def same_command(command: str) -> str:
    """A command without what does not change its meaning (`cd … &&`, `2>&1 | tail`); runs are compared by it."""
    core = " ".join(command.split())[:2000]
    core = _CD.sub("", core)
    while (shorter := _PIPE_TAIL.sub("", core)) != core:
        core = shorter
    return core


def paths(messages: Sequence[Message], calls: Sequence[Called]) -> Iterator[Fact]:
    """Files the calls touched, and files named in what user and agent said, once per message."""
    for called in calls:
        in_shell = any(action.kind == "command" for action in called.actions)
        # What a line that failed did before is there all the same; what its failing denies is no action of it.
        ok = None if in_shell and called.ok is False and not called.refused else called.ok
        for action in called.actions:
            if action.kind != "command":
                at = messages[called.index]
                yield Fact("path", normal_path(action.target), at.id, called.index, action.kind, ok)
    for index, message in enumerate(messages):
        for path in dict.fromkeys(_paths_in(message.text if is_agents(message) else message.said)):
            yield Fact("path", path, message.id, index, "mentioned")


def _paths_in(text: str) -> Iterator[str]:
    for word in _WORD.findall(scanned(text)):
        token = word.lstrip("@").rstrip(".:!?").split(":", 2)
        path = token[0] if len(token[0]) > 1 else ":".join(token[:2])
        if "." not in path or "//" in path or len(path) < 3:
            continue
        if ("/" in path or "\\" in path) and not _FILE.match(path):
            continue
        if "/" not in path and "\\" not in path and not _BARE_FILE.match(path):
            continue
        yield normal_path(path)


def commands(messages: Sequence[Message], calls: Sequence[Called]) -> Iterator[Fact]:
    for called in calls:
        for action in called.actions:
            if action.kind == "command":
                at = messages[called.index]
                said = REFUSED if called.refused else last_line(called.result)
                yield Fact("command", action.target, at.id, called.index, said, called.ok)


def errors(messages: Sequence[Message], calls: Sequence[Called]) -> Iterator[Fact]:
    """What went wrong in calls, and errors that the user pasted. `detail` names the call and, once fixed, the fix.

    An error is fixed when the same command, or the same tool on the same file, succeeded later; the fix is what was
    changed last before that.
    """
    keys = [_key(called) for called in calls]
    succeeded: dict[str, list[int]] = {}
    for number, called in enumerate(calls):
        if called.ok and keys[number]:
            succeeded.setdefault(keys[number], []).append(number)
    for number, called in enumerate(calls):
        if called.ok is not False or called.refused or called.result is None:
            continue
        later = next((n for n in succeeded.get(keys[number], ()) if n > number), None)
        other = _other_way(calls, number)
        if other is not None and (later is None or other < later):
            later = None
        of_command = any(action.kind == "command" for action in called.actions)
        line = error_line(called.result.text, of_command=of_command)
        if not line:
            continue
        at = called.result_index if called.result_index is not None else called.index
        detail = _came_from(called)
        if later is not None:
            detail += f"; {_fix(calls, number, later)}"
        elif other is not None:
            detail += f"; `{clip_at_word(same_command(calls[other].actions[-1].target), 80)}` succeeded soon after"
        yield Fact("error", line, messages[at].id, at, detail, later is not None or other is not None)
    for index, message in enumerate(messages):
        if pasted := next((line for line in scanned(message.said).split("\n") if _STRICT_ERROR.match(line)), ""):
            yield Fact("error", clip_at_word(pasted, ERROR_CHARS), message.id, index, "reported by the user")


def _key(called: Called) -> str:
    """What makes two calls the same attempt."""
    if not called.actions:
        return ""
    last = called.actions[-1]
    if last.kind == "command":
        return same_command(last.target)
    return f"{'read' if last.kind == 'viewed' else 'change'} {normal_path(last.target)}"


def _other_way(calls: Sequence[Called], failed: int) -> int | None:
    """The same program and subcommand (`git push`) with other arguments, where it succeeded within `SOON` calls.

    Not for tests and builds: another test that passes says nothing about the one that failed.
    """
    if _is_check(calls[failed]) or not calls[failed].actions or calls[failed].actions[-1].kind != "command":
        return None
    stem = _stem(calls[failed].actions[-1].target)
    for number, called in enumerate(calls[failed + 1 : failed + 1 + SOON], failed + 1):
        last = called.actions[-1] if called.actions else None
        if called.ok and last is not None and last.kind == "command" and stem and _stem(last.target) == stem:
            return number
    return None


def _stem(command: str) -> str:
    words = same_command(command).split(maxsplit=2)[:2]
    return " ".join(words) if len(words) == 2 and words[1][:1].isalpha() else ""


def _came_from(called: Called) -> str:
    if not called.actions:
        return called.call.name
    last = called.actions[-1]
    if last.kind == "command":
        return f"`{clip_at_word(same_command(last.target), 100)}`"
    return f"{called.call.name} {normal_path(last.target)}"


def _fix(calls: Sequence[Called], failed: int, later: int) -> str:
    """How the attempt came to succeed: for a test or build what was changed before, else what was run before."""
    if _is_check(calls[failed]):
        for number in range(later - 1, failed, -1):
            changed = [action for action in calls[number].actions if action.kind not in ("viewed", "command")]
            if changed and calls[number].ok is not False:
                return f"succeeded after {normal_path(changed[-1].target)} was {changed[-1].kind}"
    before = calls[later - 1]
    if later - 1 > failed and before.ok and before.actions and before.actions[-1].kind == "command":
        return f"succeeded after `{clip_at_word(same_command(before.actions[-1].target), 80)}`"
    return "succeeded when tried again"


def _is_check(called: Called) -> bool:
    return bool(called.actions) and called.actions[-1].kind == "command" and is_check(called.actions[-1].target)


def error_line(text: str, *, of_command: bool) -> str:
    """The line of a failed result that says what went wrong, "" where nothing does: a search without a hit is no error.

    A command's output is searched for an error's name; a tool's own message begins with it.
    """
    said = (line for line in _TAGS.sub("", scanned(text)).split("\n") if line.strip() and not _EXIT_LINE.match(line))
    lines = [line for line in said if not _CODES.match(line.strip()) and not _NO_ERROR.match(line.strip())]
    if not lines:
        return ""
    if not of_command:
        return clip_at_word(lines[0], ERROR_CHARS)
    telling = [line for line in lines if len(line) < 2000]
    for some in ([line for line in telling if not _SAYS_LITTLE.search(line)], telling):
        for pattern in _TELLING:
            for line in some:
                if pattern.match(line):
                    return clip_at_word(line, ERROR_CHARS)
    return ""
