"""State of each failure at the end of the messages: resolved, open or unknown, judged by later calls and by the agent's
last report."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from workbench.base.text import clip_at_word
from workbench.facts.calls import ToolCall, is_check
from workbench.facts.commands_and_paths import core_command
from workbench.facts.fact import ErrorState
from workbench.facts.shell_lines import simple_commands
from workbench.facts.tools import CHANGES, normal_path
from workbench.facts.wording import is_agent_message, sentences
from workbench.session import Message

RETRY_CALLS = 8
"""Number of calls within which a similar command that succeeds resolves a failed one."""

FIX_CALLS = 60
"""Number of calls within which the failed part of a command line, run again in any line, resolves the failure."""

REPORT_TEXTS = 40
"""Number of the agent's newest texts that are searched for reports about an error."""


class ErrorStates:
    """States of failures, derived from later calls. Built in linear time, then read only."""

    def __init__(self, messages: Sequence[Message], calls: Sequence[ToolCall]) -> None:
        self._calls = calls
        self._keys = [attempt_key(called) for called in calls]
        self._passed: dict[str, list[int]] = {}
        self._failed: dict[str, list[int]] = {}
        self._unknown: dict[str, int] = {}
        self._written: dict[str, list[tuple[int, str]]] = {}
        self._changed: dict[str, int] = {}
        self._last_action = -1
        for number, (called, key) in enumerate(zip(calls, self._keys, strict=True)):
            for attempt in (key, *checks_of(called)) if key else ():
                if called.ok is None:
                    self._unknown[attempt] = number
                else:
                    (self._passed if called.ok else self._failed).setdefault(attempt, []).append(number)
            for path in _changed_paths(called) if called.ok is not False else ():
                if called.ok:
                    self._written.setdefault(posixpath.basename(path), []).append((number, path))
                if not _PROSE.search(path):  # no test or build depends on prose
                    self._changed[""] = self._changed[_folder(path)] = number
            if called.ok is not False and not _is_read_only(called):
                self._last_action = number
        self._last_request = max((index for index, message in enumerate(messages) if message.starts_round), default=-1)
        self._reports = [(at, text) for at, one in enumerate(messages) if is_agent_message(one) and (text := one.text)][
            -REPORT_TEXTS:
        ]

    def ending(self, failed: int, line: str) -> tuple[ErrorState, str]:
        """Return the state of call `failed` with this error line, and what resolved it.

        Resolved: the same attempt succeeded later, another call changed the file that this one failed to change, the
        call's checks passed or no longer report the error, or a similar command soon succeeded. Open, for a call with
        checks: their newest run failed and no relevant file was changed since (prose is never relevant; after an error
        of the environment no file is), or the agent reports that it still fails. Open, for any other call that is not
        read-only: no request follows, and later calls failed or are read-only. Open: a fetch that never succeeds.
        """
        first = min(self._resolutions(failed, line), key=lambda found: found[0], default=None)
        if first is not None:
            return "resolved", first[1]
        return ("open" if self._is_open(failed, line) else "unknown"), ""

    def _resolutions(self, failed: int, line: str) -> Iterator[tuple[int, str]]:
        calls, called = self._calls, self._calls[failed]
        again = _first_after(self._passed.get(self._keys[failed], ()), failed)
        if again is not None:
            yield again, self._describe_fix(failed, again)
        if (written := self._written_after(failed)) is not None:
            yield written, self._describe_fix(failed, written)
        checks = _named_as_failed(called) or checks_of(called)
        if checks:
            yield from self._later_without_error(failed, line, checks)
            passing_calls = [self._passes(part, failed) for part in checks]
            if None not in passing_calls:
                last = max(number for number in passing_calls if number is not None)
                yield last, self._describe_fix(failed, last)
            name = _test_name(line)
            program = checks[-1].split(" ")[0] if name or _LOCATED.match(line) else ""
            for number in range(failed + 1, min(failed + 1 + FIX_CALLS, len(calls))) if name or program else ():
                one = calls[number]
                if not one.ok or one.result is None:
                    continue
                if any(
                    check.startswith(program + " ") and _covers_project(check) for check in checks_of(one) if program
                ) or (name and name in one.result.text and checks_of(one)):
                    yield number, self._describe_fix(failed, number)
                    return
        elif is_command(called):
            yield from self._later_variants(failed, line.partition(": ")[0])

    def _written_after(self, failed: int) -> int | None:
        """Return the first call after `failed` that changed the file that `failed` meant to change."""
        target = self._calls[failed].actions[-1:]
        if not target or target[0].kind not in CHANGES:
            return None
        path = normal_path(target[0].target)
        later = self._written.get(posixpath.basename(path), ())
        return next((at for at, other in later if at > failed and _is_same_file(path, other)), None)

    def _passes(self, check: str, failed: int) -> int | None:
        """Return the first call after `failed` in which the check passed, with or without its `--fix` option."""
        found = [_first_after(self._passed.get(name, ()), failed) for name in {check, _FIX_FLAG.sub("", check)}]
        return min((number for number in found if number is not None), default=None)

    def _later_without_error(self, failed: int, line: str, checks: Sequence[str]) -> Iterator[tuple[int, str]]:
        """Yield the next failed run of a check whose output no longer contains the error. Only for errors that every
        run reports: of a test, a file or the environment."""
        if not (_test_name(line) or _LOCATED.match(line) or _ENVIRONMENT_ERROR.search(line)):
            return
        again = [number for part in checks if (number := _first_after(self._failed.get(part, ()), failed)) is not None]
        core = _PLACE.sub("", line).strip("… ")
        for number in sorted(again):
            result = self._calls[number].result
            if _CUT_OUTPUT.search(self._calls[number].actions[-1].target):
                return
            if result is not None and core not in _PLACE.sub("", result.text):
                yield number, self._describe_fix(failed, number).replace("succeeded", "no longer among the failures")
                return

    def _later_variants(self, failed: int, program: str) -> Iterator[tuple[int, str]]:
        """Yield the first later success of the failed part of a command line, of the same script, or of the same
        program and subcommand (`git push`), or the command that concludes a merge, rebase or the like."""
        parts = simple_commands(self._calls[failed].actions[-1].target)
        last = next((part for part in parts if part.startswith(program + " ")), parts[-1] if parts else "")
        stem = _command_stem(last)
        for number in range(failed + 1, min(failed + 1 + FIX_CALLS, len(self._calls))):
            one = self._calls[number]
            if not one.ok or not is_command(one):
                continue
            later = simple_commands(one.actions[-1].target)
            soon = number <= failed + RETRY_CALLS
            if last in later or (soon and stem and any(_command_stem(part) == stem for part in later)):
                yield number, f"{quoted_command(one)} succeeded soon after"
                return
            if any(part.startswith(_CONCLUSIONS.get(stem, ())) for part in later):
                yield number, f"concluded by {quoted_command(one)}"
                return

    def _is_open(self, failed: int, line: str) -> bool:
        called = self._calls[failed]
        if _fetched_url(called):
            return True
        if not (parts := checks_of(called)):
            return self._last_action <= failed and called.index > self._last_request and not _is_read_only(called)
        parts = (*parts, self._keys[failed])
        newest = max(self._failed[part][-1] for part in parts if part in self._failed)
        unsure = max(self._unknown.get(part, -1) for part in parts)
        if newest < unsure:
            return False
        located = _LOCATED.match(line)
        changed = self._changed.get(_folder(located[1]) if located else "", -1)
        return newest >= changed or _ENVIRONMENT_ERROR.search(line) is not None or self._reported_failing(newest, line)

    def _reported_failing(self, newest: int, line: str) -> bool:
        """Return whether the agent's last report that mentions the error's test or file says that it still fails."""
        located = _LOCATED.match(line)
        name = _test_name(line) or (posixpath.basename(located[1]) if located else "")
        later = [text for at, text in self._reports if name and name in text and at > self._calls[newest].index]
        reports = [one for one in sentences(later[-1]) if name in one] if later else []
        return any(map(_STILL_FAILING.search, reports))

    def _describe_fix(self, failed: int, later: int) -> str:
        """Describe the fix: for a test or build the last change before it passed, else the command just before;
        "succeeded when tried again" without either."""
        if checks_of(self._calls[failed]):
            for number in range(later - 1, failed, -1):
                changed = [action for action in self._calls[number].actions if action.kind in CHANGES]
                if changed and self._calls[number].ok is not False:
                    return f"succeeded after {normal_path(changed[-1].target)} was {changed[-1].kind}"
        before = self._calls[later - 1]
        if later - 1 > failed and before.ok and is_command(before):
            return f"succeeded after {quoted_command(before)}"
        return "succeeded when tried again"


def _first_after(numbers: Sequence[int], after: int) -> int | None:
    at = bisect_right(numbers, after)
    return numbers[at] if at < len(numbers) else None


def _is_same_file(path: str, other: str) -> bool:
    """Return whether one path ends with the other: a relative and an absolute path may name the same file."""
    longer, shorter = sorted((f"/{path.lstrip('/')}", f"/{other.lstrip('/')}"), key=len, reverse=True)
    return longer.endswith(shorter)


def _covers_project(check: str) -> bool:
    """Return whether a test or build covers the whole project (`go test ./...`), and with it any part that failed
    before."""
    return "./..." in check.split() and " -run" not in check


def is_command(called: ToolCall) -> bool:
    return bool(called.actions) and called.actions[-1].kind == "command"


def quoted_command(called: ToolCall, most: int = 80) -> str:
    return f"`{clip_at_word(core_command(called.actions[-1].target), most)}`"


def checks_of(called: ToolCall) -> tuple[str, ...]:
    """Return the tests and builds that a call runs, each as a simple command."""
    if not is_command(called) or not is_check(called.actions[-1].target):
        return ()
    return tuple(part for part in simple_commands(called.actions[-1].target) if is_check(part))


_FIX_FLAG = re.compile(r"(?<=\w):fix\b| --(?:fix|write)\b")
_NAMED_AS_FAILED = re.compile(r"[\[\"]([\w:.-]{2,60})[\]\"] (?:ERROR|failed|exited with)")
_CUT_OUTPUT = re.compile(r"\|\s*(?:tail|head|grep|rg|select-)", re.IGNORECASE)
"""Filters that hide an unknown part of an output."""
_PLACE = re.compile(r":\d+(?::\d+)?|\(\d[\d.]*m?s\)")


def _named_as_failed(called: ToolCall) -> tuple[str, ...]:
    """Return the tests and builds of a call that its result names as failed."""
    names = set() if called.result is None else set(_NAMED_AS_FAILED.findall(called.result.text[-2000:]))
    return tuple(part for part in checks_of(called) if part.split(" ")[-1] in names)


_PROSE = re.compile(r"\.(?:md|mdx|txt|rst|adoc|log)$", re.IGNORECASE)
_ENVIRONMENT_ERROR = re.compile(
    r"command not found|not recognized as|not installed|\brequires? (?!.{0,80}\bargument)|permission denied|"
    r"not trusted|parsing config|connection refused|could not resolve host|no space left|out of memory|cannot connect",
    re.IGNORECASE,
)
"""Errors of the environment, which no file change resolves."""
_LOCATED = re.compile(r"^\W{0,8}(\S{1,200}\.\w{1,8})(?::\d{1,7}|\(\d{1,7},)")
_STILL_FAILING = re.compile(
    r"\bstill (?:fail|broken|open|red)|\bpre-?existing\b|\bknown (?:issue|failure)|\b(?:not|n't)(?: yet)?(?: been)? "
    r"(?:fix|resolv|pass)|\bremain\w{0,3} (?:open|broken|red|failing|unresolved)",
    re.IGNORECASE,
)


def _changed_paths(called: ToolCall) -> list[str]:
    return [normal_path(action.target) for action in called.actions if action.kind in CHANGES]


def _folder(path: str) -> str:
    """Return the last part of a file's folder, "" for none. Relative and absolute paths give the same."""
    return posixpath.basename(posixpath.dirname(normal_path(path)))


def _fetched_url(called: ToolCall) -> str:
    """Return the URL that a call fetches, "" for other calls."""
    call_input = called.call.input
    address = call_input.get("url") if isinstance(call_input, dict) and not called.actions else None
    return address if isinstance(address, str) else ""


_MAY_FIND_NOTHING = re.compile(
    r"(?:\S*grep|rg|ag|diff|cmp|test|\[|\[\[|which|type|command|pgrep|jq|git (?:diff|grep)|exit|false|read)\b"
)


def may_find_nothing(called: ToolCall) -> bool:
    """Return whether a failure of a command line may only mean that nothing was found or differs: it is read-only, or
    runs a search, comparison or test."""
    parts = simple_commands(called.actions[-1].target)
    return not parts or _is_read_only(called) or any(map(_MAY_FIND_NOTHING.match, parts))


READ_ONLY_COMMAND = re.compile(
    r"(?:(?:get|write|select|test|measure|format)-\w+|ls|cat|cd|pwd|echo|grep|rg|find|head|tail|wc|which|tree|sleep|"
    r"sed -n|less|file|stat|type|ps|env|printenv|"
    r"git (?:status|diff|log|show|branch|remote|rev-parse)|gh (?:pr|issue|run) (?:view|list|diff|checks))\b"
)


def _is_read_only(called: ToolCall) -> bool:
    if _changed_paths(called):
        return False
    return not is_command(called) or all(map(READ_ONLY_COMMAND.match, simple_commands(called.actions[-1].target)))


def attempt_key(called: ToolCall) -> str:
    """Return a key that is equal for two calls of the same attempt; "" if unknown."""
    if not called.actions:
        return f"fetch {address}" if (address := _fetched_url(called)) else ""
    last = called.actions[-1]
    if last.kind == "command":
        return core_command(last.target)
    return f"{'read' if last.kind == 'viewed' else 'change'} {normal_path(last.target)}"


_SUBCOMMANDS = frozenset(
    ("apt", "apt-get", "aws", "brew", "bun", "cargo", "conda", "composer", "docker", "dotnet", "flutter", "gcloud",
     "gem", "gh", "git", "go", "helm", "kubectl", "make", "mise", "npm", "pip", "pip3", "pipx", "pnpm", "poetry",
     "rustup", "systemctl", "terraform", "uv", "yarn")
)  # fmt: skip
"""Programs whose second word is a subcommand."""
_CONCLUSIONS = {
    "git merge": ("git commit", "git merge"),
    "git pull": ("git commit", "git pull", "git rebase --continue"),
    "git rebase": ("git rebase",),
    "git cherry-pick": ("git cherry-pick", "git commit"),
}
"""Commands that conclude an operation that stopped at a conflict."""
_TEST = re.compile(r"(?:--- FAIL: |FAILED (?:\S+::)?|\(fail\) |[✗✘×] )(\w{4,120})")


def _test_name(line: str) -> str:
    found = _TEST.search(line)
    return found[1] if found else ""


_OPTION = re.compile(r"^(\w+) -[Cc] \S+ (?=\w)")
_SCRIPT = re.compile(r"^\.{0,2}[\w./\\-]+\.(?:ps1|sh|bat|cmd|py|js|mjs|ts|rb)$")


def _command_stem(command: str) -> str:
    if command.startswith("gh api "):
        return ""  # a success at another address proves nothing
    words = _OPTION.sub(r"\1 ", command).split(maxsplit=2)[:2]
    if script := next((word for word in words if _SCRIPT.search(word)), ""):
        return re.split(r"[/\\]", script)[-1]
    return " ".join(words) if len(words) == 2 and words[0] in _SUBCOMMANDS and words[1][:1].isalpha() else ""
