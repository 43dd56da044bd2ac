"""Calls that fetch again what a compaction took: files that are read again and did not change, commands and searches
with the same result.

A file that was changed in between, by the agent or by one that it sent, is read anew, and so is one that says something
else to the very same question; a command is run anew after any change and after any command that may have made one, but
for what depends on none (`_tells_the_same`); a search is made anew whose result names a changed file. What only waits,
what says nothing or not yet all and what a person turned down fetches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from msgspec import Struct

from workbench.analysis.needed_items import plain_path
from workbench.analysis.rework.taken import SAME, Taken, lines_of
from workbench.base.session_caches import session_cache
from workbench.base.values import json_text
from workbench.facts.calls import ToolCall, is_check
from workbench.facts.shell import views
from workbench.facts.shell_lines import simple_commands
from workbench.facts.tools import CHANGES, normal_path, tool_name

_SENDS = re.compile(r"^(?:task|agent|new_task|(?:spawn|dispatch|delegate|run|call)_\w*agent|\w*sub_?agent)$")
"""Tools that send another agent, who changes what its task names."""
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
"""How much of a result is to be shown, as far as that stands within the last `_TAIL` characters of a line."""
_TAIL = 200
_HELP = re.compile(r"(?:^|\s)--(?:help|version)\b|^man ")
_TOOLS_OWN = re.compile(r"[\w -]+$")
"""No program of the project's own, which has a path: what that says of itself changes with the project."""
LONG = 10
"""So many lines of a look are as they were only where nothing that they tell of was changed."""
_FOLDER_KEYS = ("path", "dir_path", "directory", "target_directory")
_BESIDE_THE_POINT = (
    *("-n", "head_limit", "limit", "max_results", "description", "timeout", "timeout_ms", "explanation"),
    *("task_progress", "justification"),
)


FetchKind = Literal["file", "command", "search"]


class Fetched(Struct, frozen=True):
    """A call that fetches again what call `before` had: `what` is the file, the command or what was searched for."""

    kind: FetchKind
    what: str
    before: ToolCall
    after: ToolCall
    epoch: int


@dataclass(frozen=True)
class _Shown:
    called: ToolCall

    @cached_property
    def lines(self) -> frozenset[str]:
        """Asked only where a compaction lies between two calls for the same: of most results nobody needs them."""
        return lines_of(self.called.result.text) if self.called.result else frozenset()


def fetched_again(calls: Sequence[Shows], taken: Taken, cwd: str) -> Iterator[Fetched]:
    """Every such call in order, each with the epoch of the course whose compaction took what it fetches."""
    files: dict[str, list[_Shown]] = {}
    named: dict[str, set[str]] = {}
    asked: dict[tuple[FetchKind, str], _Shown] = {}
    changed: list[tuple[int, str]] = []
    stirred = -1
    for called, paths in calls:
        touched = [plain_path(normal_path(one.target), cwd) for one in called.actions if one.kind in CHANGES]
        if touched and called.ok is not False:
            changed += [(called.index, _name(path)) for path in touched]
            for path in touched:
                _forget(files, named, path)
        if _sends(called.call.name):
            task = json_text(called.call.input)
            for path in [seen for seen in files if seen.rpartition("/")[2] in task]:
                del files[path]
        stirs = bool(touched) or any(_may_change(one.target) for one in called.actions if one.kind == "command")
        asked_after, stirred = stirred, called.index if stirs else stirred
        if called.result is None or called.refused or touched or _waits(called):
            continue
        now = _Shown(called)
        if paths and called.ok is not False:
            for path in paths:
                if any(
                    one.called.call.input == called.call.input and one.lines != now.lines for one in files.get(path, ())
                ):
                    del files[path]
            by_tool = any(one.kind == "viewed" for one in called.actions)
            same = [known for path in paths for known in ((path,) if by_tool else _called(named, path))]
            before = [one for known in same for one in files.get(known, ())]
            if found := _again(now, before, taken):
                yield Fetched("file", ", ".join(paths), found[0], called, found[1])
            for path in paths:
                files.setdefault(path, []).append(now)
                named.setdefault(_name(path), set()).add(path)
        elif not paths and (key := _question(called, cwd)) is not None:
            kind, words = key
            earlier = asked.get(key)
            asked[key] = now
            if earlier is None or not taken.between(earlier.called.index, called.index):
                continue
            if kind == "command" and asked_after > earlier.called.index and not _tells_the_same(words, now):
                continue
            if now.lines != earlier.lines or _names_one(now, earlier, changed):
                continue
            if found := _again(now, (earlier,), taken):
                yield Fetched(kind, words, found[0], called, found[1])


@session_cache(1_024)
def _sends(tool: str) -> bool:
    """Whether a tool sends another agent."""
    return _SENDS.search(tool_name(tool)) is not None


def _forget(files: dict[str, list[_Shown]], named: Mapping[str, set[str]], changed: str) -> None:
    """A changed file is read anew, by whichever path; `named` has the paths of `files` by their names."""
    for path in _called(named, changed):
        files.pop(path, None)


def _called(named: Mapping[str, set[str]], path: str) -> list[str]:
    """The paths that may be of the same file: a shell may stand in another folder than the session's."""
    return sorted(one for one in named.get(_name(path), ()) if _may_be(one, path))


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _waits(called: ToolCall) -> bool:
    """Whether a call waits for something, or its command did not end while it waited."""
    lines = [one.target for one in called.actions if one.kind == "command"]
    low = called.result.text[:300].lower() if called.result else ""
    return ("running" in low and any(words in low for words in _RUNNING)) or any(map(_WAITING.search, lines))


Shows = tuple[ToolCall, Sequence[str]]
"""A call, and the files that it shows."""


def viewed(called: ToolCall, cwd: str) -> list[str]:
    """The files that a call shows, by a tool or by a command."""
    if not called.actions:
        return []
    found = [one.target for one in called.actions if one.kind == "viewed"]
    found += [path for one in called.actions if one.kind == "command" for path in views(one.target)]
    return list(dict.fromkeys(plain_path(normal_path(path), cwd) for path in found))


def _may_be(one: str, other: str) -> bool:
    """Whether two paths may be of one file: a tool may know another folder than the session's."""
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def _again(now: _Shown, several: Iterable[_Shown], taken: Taken) -> tuple[ToolCall, int] | None:
    """What showed most of it before, and the epoch whose compaction took that; None where what is shown is new, or was
    there still."""
    several = list(several)
    if not any(taken.between(one.called.index, now.called.index) for one in several) or not now.lines:
        return None
    there: set[str] = set()
    gone: list[tuple[_Shown, int]] = []
    for one in several:
        epoch = taken.by(one.called.index, one.lines, now.called.index)
        if epoch is None:
            there |= one.lines
        else:
            gone.append((one, epoch))
    new = now.lines - there
    if not gone or len(new & frozenset[str]().union(*(one.lines for one, _ in gone))) < SAME * len(now.lines):
        return None
    best, epoch = max(gone, key=lambda each: (len(new & each[0].lines), each[0].called.index))
    return best.called, epoch


def _question(called: ToolCall, cwd: str) -> tuple[FetchKind, str] | None:
    """What a call asks, and in which words; None for one that asks nothing. A search that names no folder looks through
    the session's own."""
    lines = [one.target for one in called.actions if one.kind == "command"]
    if lines:
        return _asked("\n".join(lines))
    name, given = tool_name(called.call.name), called.call.input
    if called.actions or not _SEARCHES.search(name):
        return None
    if isinstance(given, dict):
        here = {key for key in _FOLDER_KEYS if given.get(key) in (cwd, f"{cwd}/", ".", "./", "")}
        left_out = here.union(_BESIDE_THE_POINT)
        given = json_text({key: given[key] for key in sorted(given) if key not in left_out})
    return "search", f"{name} {given}"


@session_cache(4_096)
def _asked(lines: str) -> tuple[FetchKind, str]:
    """What command lines ask, in which words."""
    line = _INTO.sub("", " ".join(lines.split()))
    if cut := _CUT_OUT.search(line, max(0, len(line) - _TAIL)):
        line = line[: cut.start()]
    return ("search" if _SEARCHING.match(line) else "command"), line


def _tells_the_same(line: str, now: _Shown) -> bool:
    """Whether a command with the same result tells nothing new even where it may have been another by now: of a tool
    that is asked for its help, and of much that is only looked at."""
    return all(
        _TOOLS_OWN.match(one) is not None if _HELP.search(one) else looks(one) and len(now.lines) >= LONG
        for one in simple_commands(line)
    )


def _names_one(now: _Shown, before: _Shown, changed: Sequence[tuple[int, str]]) -> bool:
    """Whether a result names a file that was changed since."""
    text = now.called.result.text if now.called.result else ""
    return any(index > before.called.index and name in text for index, name in changed)


@session_cache(4_096)
def _may_change(line: str) -> bool:
    """Whether a command line may change what another says: whatever neither looks, nor tests or builds."""
    return not all(looks(one) or is_check(one) for one in simple_commands(line))


def looks(command: str) -> bool:
    """Whether a simple command only looks: at files, the repository, the machine."""
    return _HARMLESS.search(command) is not None
