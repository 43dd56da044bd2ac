"""Repeated fetches: files read again unchanged, commands and searches repeated with the same result.

A read is not repeated if the agent or a subagent changed the file in between, or if the same input gave another
content. A command counts only if nothing was changed since, unless its output does not depend on changes
(`_is_unaffected`); a search only if its result names no changed file. Calls that wait, have no complete output or were
declined by the user fetch nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from msgspec import Struct

from workbench.analysis.mentions import plain_path
from workbench.analysis.rework.removed import SAME, RemovedText, lines_of
from workbench.base.session_caches import session_cache
from workbench.base.values import json_text
from workbench.facts.calls import ToolCall, is_check
from workbench.facts.shell import views
from workbench.facts.shell_lines import simple_commands
from workbench.facts.tools import CHANGES, normal_path, tool_name

_STARTS_AGENT = re.compile(r"^(?:task|agent|new_task|(?:spawn|dispatch|delegate|run|call)_\w*agent|\w*sub_?agent)$")
"""Tools that start a subagent, which may change the files named in its task."""
_SEARCHES = re.compile(
    r"grep|glob|search|find|^ls$|^list|fetch|browse|query|look_?up|^tree$|codebase|^(?:task_?)?get(?:_(?!\w*(?:status|state|output|progress|screen))|$)"
)
_SEARCHING = re.compile(r"^(?:rg|grep|egrep|fgrep|ag|ack|fd|find|ls|tree|git (?:grep|ls-files))\b")
_LOOKS = (
    "ls cat head tail sed grep egrep rg ag fd find echo wc pwd which sort uniq tree true env printf cut tr ps jq stat "
    "file du df type test [ less more nl date bat awk xargs diff cmp sleep wait id whoami uname hostname basename "
    "dirname realpath readlink column tac od xxd md5sum sha256sum"
)
_HARMLESS = re.compile(
    rf"^(?:{'|'.join(map(re.escape, _LOOKS.split()))})(?:\s|$)"
    r"|^git (?:-\S+ )*(?:status|log|diff|show|branch|remote|rev-parse|grep|ls-files|blame|describe|config)\b"
    r"|^gh (?:\w+ )(?:view|list|status|checks|diff)\b|(?:^|\s)--(?:version|help)\b"
)
_RUNNING = ("process running with", "running in background", "still running")
_WAITING = re.compile(r"\b(?:sleep|wait|watch|timeout \d+ tail|tail -f)\b")
_INTO = re.compile(r"^cd\s+[^\s;&|]+\s*(?:&&|;)\s*")
_CUT_OUT = re.compile(r"(?: 2>&1)?(?: \| (?:head|tail|cat|sed -n)(?: (?:-[nc]? ?\d+|'?\d+(?:,\d+)?p'?))?)*$")
"""Filters that only limit the shown part of an output, within the last `_TAIL` characters of a command line."""
_TAIL = 200
_HELP = re.compile(r"(?:^|\s)--(?:help|version)\b|^man ")
_TOOLS_OWN = re.compile(r"[\w -]+$")
"""Programs outside the project, whose help does not depend on the project's files."""
LONG = 10
"""Fewest lines of an equal output that show that no relevant file was changed."""
_FOLDER_KEYS = ("path", "dir_path", "directory", "target_directory")
_IRRELEVANT_KEYS = (
    *("-n", "head_limit", "limit", "max_results", "description", "timeout", "timeout_ms", "explanation"),
    *("task_progress", "justification"),
)


FetchKind = Literal["file", "command", "search"]


class RepeatedFetch(Struct, frozen=True):
    """Call that fetches again what call `before` had: `what` is the file, command or search."""

    kind: FetchKind
    what: str
    before: ToolCall
    after: ToolCall
    epoch: int


@dataclass(frozen=True)
class _ShownResult:
    """Result of a call."""

    called: ToolCall

    @cached_property
    def lines(self) -> frozenset[str]:
        """Lines of the result. Computed lazily: most are never compared."""
        return lines_of(self.called.result.text) if self.called.result else frozenset()


def repeated_fetches(calls: Sequence[CallFiles], removed: RemovedText, cwd: str) -> Iterator[RepeatedFetch]:
    """Yield repeated fetches in order, each with the epoch of the course whose compaction removed the first result."""
    files: dict[str, list[_ShownResult]] = {}
    named: dict[str, set[str]] = {}
    questions: dict[tuple[FetchKind, str], _ShownResult] = {}
    changed: list[tuple[int, str]] = []
    last_change = -1
    for called, paths in calls:
        touched = [plain_path(normal_path(one.target), cwd) for one in called.actions if one.kind in CHANGES]
        if touched and called.ok is not False:
            changed += [(called.index, _name(path)) for path in touched]
            for path in touched:
                _remove_file(files, named, path)
        if _starts_agent(called.call.name):
            task = json_text(called.call.input)
            for path in [seen for seen in files if seen.rpartition("/")[2] in task]:
                del files[path]
        may_change = bool(touched) or any(_may_change(one.target) for one in called.actions if one.kind == "command")
        changed_before, last_change = last_change, called.index if may_change else last_change
        if called.result is None or called.refused or touched or _waits(called):
            continue
        now = _ShownResult(called)
        if paths and called.ok is not False:
            for path in paths:
                if any(
                    one.called.call.input == called.call.input and one.lines != now.lines for one in files.get(path, ())
                ):
                    del files[path]
            by_tool = any(one.kind == "viewed" for one in called.actions)
            same = [known for path in paths for known in ((path,) if by_tool else _same_file_paths(named, path))]
            before = [one for known in same for one in files.get(known, ())]
            if found := _earlier_call(now, before, removed):
                yield RepeatedFetch("file", ", ".join(paths), found[0], called, found[1])
            for path in paths:
                files.setdefault(path, []).append(now)
                named.setdefault(_name(path), set()).add(path)
        elif not paths and (key := _fetch_key(called, cwd)) is not None:
            kind, words = key
            earlier = questions.get(key)
            questions[key] = now
            if earlier is None or not removed.between(earlier.called.index, called.index):
                continue
            if kind == "command" and changed_before > earlier.called.index and not _is_unaffected(words, now):
                continue
            if now.lines != earlier.lines or _names_changed_file(now, earlier, changed):
                continue
            if found := _earlier_call(now, (earlier,), removed):
                yield RepeatedFetch(kind, words, found[0], called, found[1])


@session_cache(1_024)
def _starts_agent(tool: str) -> bool:
    """True for a tool that starts a subagent."""
    return _STARTS_AGENT.search(tool_name(tool)) is not None


def _remove_file(files: dict[str, list[_ShownResult]], named: Mapping[str, set[str]], changed: str) -> None:
    """Remove a changed file from `files` under any of its paths; `named` has the known paths by file name."""
    for path in _same_file_paths(named, changed):
        files.pop(path, None)


def _same_file_paths(named: Mapping[str, set[str]], path: str) -> list[str]:
    """Return the known paths that may be the same file, because a shell may run in another folder."""
    return sorted(one for one in named.get(_name(path), ()) if _may_be_same(one, path))


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _waits(called: ToolCall) -> bool:
    """True if a call waits, or its command was still running."""
    lines = [one.target for one in called.actions if one.kind == "command"]
    low = called.result.text[:300].lower() if called.result else ""
    return ("running" in low and any(words in low for words in _RUNNING)) or any(map(_WAITING.search, lines))


CallFiles = tuple[ToolCall, Sequence[str]]
"""Call, and the files that it shows."""


def viewed(called: ToolCall, cwd: str) -> list[str]:
    """Return the files that a call shows, by a tool or a command."""
    if not called.actions:
        return []
    found = [one.target for one in called.actions if one.kind == "viewed"]
    found += [path for one in called.actions if one.kind == "command" for path in views(one.target)]
    return list(dict.fromkeys(plain_path(normal_path(path), cwd) for path in found))


def _may_be_same(one: str, other: str) -> bool:
    """True if two paths may be one file: a tool may use another folder."""
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def _earlier_call(
    now: _ShownResult, several: Iterable[_ShownResult], removed: RemovedText
) -> tuple[ToolCall, int] | None:
    """Return the call of `several` that showed most of the result `now`, and the epoch whose compaction removed it;
    None if the result is new or was still in the context."""
    several = list(several)
    if not any(removed.between(one.called.index, now.called.index) for one in several) or not now.lines:
        return None
    there: set[str] = set()
    removed_results: list[tuple[_ShownResult, int]] = []
    for one in several:
        epoch = removed.by(one.called.index, one.lines, now.called.index)
        if epoch is None:
            there |= one.lines
        else:
            removed_results.append((one, epoch))
    new = now.lines - there
    if not removed_results or len(
        new & frozenset[str]().union(*(one.lines for one, _ in removed_results))
    ) < SAME * len(now.lines):
        return None
    best, epoch = max(removed_results, key=lambda each: (len(new & each[0].lines), each[0].called.index))
    return best.called, epoch


def _fetch_key(called: ToolCall, cwd: str) -> tuple[FetchKind, str] | None:
    """Return kind and text of a command or search; None for other calls. A search without a folder equals one in the
    session's folder."""
    lines = [one.target for one in called.actions if one.kind == "command"]
    if lines:
        return _shell_fetch_key("\n".join(lines))
    name, arguments = tool_name(called.call.name), called.call.input
    if called.actions or not _SEARCHES.search(name):
        return None
    if isinstance(arguments, dict):
        here = {key for key in _FOLDER_KEYS if arguments.get(key) in (cwd, f"{cwd}/", ".", "./", "")}
        left_out = here.union(_IRRELEVANT_KEYS)
        arguments = json_text({key: arguments[key] for key in sorted(arguments) if key not in left_out})
    return "search", f"{name} {arguments}"


@session_cache(4_096)
def _shell_fetch_key(lines: str) -> tuple[FetchKind, str]:
    """Return kind ("search" or "command") and text of command lines, without filters that only limit the output."""
    line = _INTO.sub("", " ".join(lines.split()))
    if cut := _CUT_OUT.search(line, max(0, len(line) - _TAIL)):
        line = line[: cut.start()]
    return ("search" if _SEARCHING.match(line) else "command"), line


def _is_unaffected(line: str, now: _ShownResult) -> bool:
    """True if an equal result proves a repetition in spite of changes: help of a tool, or long output of a read-only
    command."""
    return all(
        _TOOLS_OWN.match(one) is not None if _HELP.search(one) else is_read_only(one) and len(now.lines) >= LONG
        for one in simple_commands(line)
    )


def _names_changed_file(now: _ShownResult, before: _ShownResult, changed: Sequence[tuple[int, str]]) -> bool:
    """True if a result names a file that was changed since."""
    text = now.called.result.text if now.called.result else ""
    return any(index > before.called.index and name in text for index, name in changed)


@session_cache(4_096)
def _may_change(line: str) -> bool:
    """True if a command line may change the output of others: neither read-only, nor test or build."""
    return not all(is_read_only(one) or is_check(one) for one in simple_commands(line))


def is_read_only(command: str) -> bool:
    """True if a simple command only reads files, the repository or the machine."""
    return _HARMLESS.search(command) is not None
