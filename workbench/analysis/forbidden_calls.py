"""Calls that do what a prohibition names (`workbench.facts.prohibitions`)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from msgspec import Struct

from workbench.analysis.mentions import plain_path
from workbench.base.printable import one_line
from workbench.facts.calls import ToolCall, all_calls, exit_code
from workbench.facts.prohibitions import Forbids, Prohibition
from workbench.facts.shell import program_of, views
from workbench.facts.shell_lines import UNKNOWN, SimpleCommand, commands_of, join_path
from workbench.facts.tools import ActionKind, normal_path, tool_name
from workbench.session import Message

PART_CHARS = 100
"""Most characters of a command line that is shown."""


class ProjectCall(Struct, frozen=True):
    """A call in message `index`, and the simple commands that it surely ran in the project's folder. `folder` is where
    its relative paths begin, "" for the project's folder, None if unknown."""

    index: int
    call: ToolCall
    commands: tuple[SimpleCommand, ...]
    folder: str | None = ""


def calls_in_project(messages: Sequence[Message], cwd: str | None) -> Iterator[ProjectCall]:
    """Yield the calls in the project's folder, without those that were refused or stopped before they ran. A shell that
    left the folder counts as outside until it returns, although some agents start a new one for each call."""
    root = normal_path(cwd or "")
    outside = moved = False
    for called in all_calls(messages):
        own = _own_folder(called)
        lines = [action.target for action in called.actions if action.kind == "command"]
        folder = own if own or not (lines and moved) else None
        commands: list[SimpleCommand] = []
        for certain, command in (each for line in lines for each in _certain_commands(line, called)):
            at = None if command.folder is None else join_path(own, command.folder)
            if at is None or posixpath.isabs(at) or at.startswith(("..", "~")):
                outside = at is None or not (root and f"{at}/".startswith(f"{root}/"))
                moved = at != root
            elif own:
                outside = False
            moved = moved or command.folder not in ("", root)
            if certain and not outside:
                commands.append(command)
        if not _never_ran(called):
            yield ProjectCall(called.index, called, tuple(commands), folder)


def _own_folder(called: ToolCall) -> str:
    """Return the folder that a call names for its command; "" without one."""
    given = called.call.input if isinstance(called.call.input, dict) else {}
    named = next((given[key] for key in _FOLDERS if isinstance(given.get(key), str)), "")
    return "" if named == "." else named


_FOLDERS = ("workdir", "cwd", "working_directory", "dir_path", "directory")


def _never_ran(called: ToolCall) -> bool:
    """Return whether a failed call may not have run: it was refused, or reports no exit status, or 126 or 127."""
    if called.ok is not False or called.result is None:
        return False
    return exit_code(called.result.text) in (None, 126, 127)


def _certain_commands(line: str, called: ToolCall) -> Iterator[tuple[bool, SimpleCommand]]:
    """Yield the commands of a line, each with True if it surely ran: not in a branch, after `||`, or after a test or a
    command that may have failed."""
    failed = called.ok is False
    entered = not (failed and called.result is not None and "cd: " in called.result.text)
    certain = branches = _MAY_BRANCH.search(line) is None
    for command in commands_of(line):
        yield certain, command
        program = command.words[0] if command.words else ""
        if command.then == "||":
            certain = False
        elif command.then == "&&":
            certain = certain and program not in _TESTS and (not failed or (program == "cd" and entered))
        elif command.then not in ("|", "|&"):
            certain = branches


_MAY_BRANCH = re.compile(
    r"(?:^|[;&|\n(])\s*(?:if|elif|else|case|while|until|function|trap|alias)\b|\w\s*\(\)\s*\{|@['\"]\r?\n"
)
"""Branches, loops and functions, and here-strings of PowerShell, which are data."""
_TESTS = frozenset(("[", "[[", "test", "which", "type", "grep", "rg", "diff", "cmp", "pgrep", "hash", "true", "false"))


def forbidden_part(forbidden: Prohibition, call: ProjectCall, cwd: str | None) -> str:
    """Return the command line, path or tool by which a call does what is forbidden, on one line; "" if it does not."""
    name, called = forbidden.name, call.call
    if forbidden.forbids == "tool":
        wanted = _SUBAGENTS if name == "subagent" else (tool_name(name),)
        return one_line(called.call.name, PART_CHARS) if tool_name(called.call.name) in wanted else ""
    if forbidden.forbids in _KINDS:
        return _path(forbidden, call, cwd)
    rule = {"run": _runs, "flag": _has_flag, "commit": _commits, "push": _pushes}[forbidden.forbids]
    found = next((one for one in call.commands if one.words and rule(name, one, called)), None)
    return one_line(" ".join(found.words).replace(UNKNOWN, "…"), PART_CHARS) if found else ""


def words_of(forbidden: Prohibition) -> Sequence[str]:
    """Return words by which the user would name what is forbidden."""
    name = forbidden.name
    if forbidden.forbids == "flag":
        return (name, name.strip("-"))
    if forbidden.forbids in ("commit", "push"):
        return (name, "commit", "push", "merge")
    if forbidden.forbids in _KINDS:
        return (posixpath.basename(name.rstrip("/*")) or name, name)
    words = name.split()
    flags = [word for word in words[1:] if word.startswith("-")]
    return (name, *(flags or words[-1:]), *(flag.strip("-") for flag in flags if len(flag.strip("-")) > 2))


_SUBAGENTS = ("task", "agent", "spawn_agent", "subagent", "dispatch_agent", "new_task", "delegate_task", "runsubagent")

# --- commands ---------------------------------------------------------------------------------------------------------


def _runs(name: str, command: SimpleCommand, called: ToolCall) -> bool:
    wanted = next(map(program_of, commands_of(name)), ("", (), None))
    program, arguments, _ = program_of(command)
    if name == "git":
        return program.startswith("git ") and not _INFORMS.intersection(arguments)
    if program in ("python", "python3") and arguments[:1] == ["-m"] and len(arguments) > 1:
        program, arguments = arguments[1], arguments[2:]
    if not program or program != wanted[0]:
        return False
    if _INFORMS.intersection(arguments) or (called.ok is False and program.startswith("git")):
        return False
    plain = [word for word in arguments if not word.startswith("-")]
    if not wanted[1] and program in _MANAGERS:
        globally = {"-g", "--global"}.intersection(arguments)
        return not globally and (plain[:1] or ["install"])[0] in _MANAGES and not _MANAGERS.intersection(plain[1:])
    names = [word for word in wanted[1] if not word.startswith("-")]
    flags = [word for word in wanted[1] if word.startswith("-")]
    shows = _SHOWS.intersection(plain[len(names) : len(names) + 1])
    return plain[: len(names)] == names and not shows and all(_is_given(flag, arguments, program) for flag in flags)


_INFORMS = frozenset(("--help", "-h", "--version", "-V", "help", "version", "--dry-run"))
_SHOWS = frozenset(("list", "show", "status"))
_MANAGERS = frozenset(("npm", "yarn", "pnpm", "bun", "pip", "pip3", "poetry", "uv", "conda"))
_MANAGES = frozenset(
    ("install", "i", "ci", "add", "remove", "uninstall", "update", "run", "test", "start", "exec", "x")
)
"""Subcommands that use a package manager for the project; others inform or configure."""
_JOINS_FLAGS = frozenset(("rm", "cp", "mv", "chmod", "grep", "sed", "ls"))


def _is_given(flag: str, arguments: Sequence[str], program: str) -> bool:
    """Return whether a flag is among arguments: as it is, with a value, or joined with other letters ("rm -rf")."""
    if any(word == flag or word.startswith(f"{flag}=") for word in arguments):
        return True
    if flag == "--force" and program == "git push":
        return "-f" in arguments or any(word.startswith("+") for word in arguments)
    if program in _JOINS_FLAGS and not flag.startswith("--"):
        return set(flag[1:]) <= {letter for word in arguments if re.match(r"-\w", word) for letter in word[1:]}
    return False


def _has_flag(name: str, command: SimpleCommand, called: ToolCall) -> bool:
    ran = command.words[0] not in _SEARCHES and called.ok is not False
    return ran and any(word == name or word.startswith(f"{name}=") for word in command.words[1:])


_SEARCHES = frozenset(("echo", "printf", "grep", "rg", "egrep", "ag", "sed", "awk", "man", "cat", "ssh", "docker"))


def _commits(branch: str, command: SimpleCommand, called: ToolCall) -> bool:
    if program_of(command)[0] != "git commit" or called.result is None or called.ok is False:
        return False
    made = rf"^\[{re.escape(branch)}(?: \(root-commit\))? [0-9a-f]{{7,}}\]"
    return re.search(made, called.result.text, re.MULTILINE) is not None


def _pushes(branch: str, command: SimpleCommand, called: ToolCall) -> bool:
    program, arguments, _ = program_of(command)
    if program != "git push" or called.ok is False or {"--dry-run", "--delete", "-d"}.intersection(arguments):
        return False
    named = [word.lstrip("+") for word in arguments if not word.startswith("-")][1:]
    output = called.result.text if called.result else ""
    return (
        any(word == branch or word.endswith((f":{branch}", f":refs/heads/{branch}")) for word in named)
        or re.search(rf"\.\.\S+ +\S+ -> {re.escape(branch)}$", output, re.M) is not None
    )


# --- paths ------------------------------------------------------------------------------------------------------------

_KINDS: dict[Forbids, frozenset[ActionKind]] = {
    "write": frozenset(("created", "modified")),
    "touch": frozenset(("created", "modified", "deleted")),
    "delete": frozenset(("deleted",)),
    "read": frozenset(("viewed",)),
}


def _path(forbidden: Prohibition, call: ProjectCall, cwd: str | None) -> str:
    called = call.call
    in_shell = any(action.kind == "command" for action in called.actions)
    if called.ok is False or (in_shell and forbidden.by_hand):
        return ""
    kinds = _KINDS[forbidden.forbids]
    paths = [action.target for action in called.actions if action.kind in kinds]
    if forbidden.forbids == "read":
        paths += [path for one in called.actions if one.kind == "command" for path in views(one.target)]
    elif in_shell:
        paths = [path for path in paths if "." in posixpath.basename(path)]  # a folder is not written
    places = [(path, join_path(call.folder, path)) for path in paths]
    found = (path for path, place in places if place and _is_within(place, forbidden.name, cwd))
    return one_line(next(found, ""), PART_CHARS)


def _is_within(path: str, name: str, cwd: str | None) -> bool:
    """Return whether a path is the named one, below it, or matches its pattern."""
    plain = normal_path(path) if name.startswith(("/", "~")) else plain_path(normal_path(path), normal_path(cwd or ""))
    if posixpath.isabs(plain) and not name.startswith(("/", "~")):
        return False
    if "*" in name:
        return fnmatchcase(plain if "/" in name else posixpath.basename(plain), name)
    return plain == normal_path(name) or plain.startswith(normal_path(name) + "/")
