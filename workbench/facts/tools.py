"""Actions of a tool call on files and shells, for the tools of all supported agents.

Each call is judged by its own input: a `Write` is `created` although it may overwrite, an `rm` in a shell is a
`command`. `workbench.facts.calls` refines the actions by earlier calls.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

from msgspec import Struct

from workbench.base.session_caches import session_cache
from workbench.session import ToolUse

ActionKind = Literal["viewed", "created", "modified", "deleted", "reverted", "command"]
"""`reverted`: a change was undone to the last commit."""


class ToolAction(Struct, frozen=True):
    """An action on `target`: the path as given in the call, or the command line; never empty."""

    kind: ActionKind
    target: str


CHANGES: frozenset[ActionKind] = frozenset(("created", "modified", "deleted", "reverted"))

ToolInput = dict[str, Any]
Rule = Callable[[ToolInput], tuple[ToolAction, ...]]

FILE_ENDINGS = (
    r"py|tsx?|jsx?|mjs|go|rs|md|jsonl?|ya?ml|toml|sh|css|html|txt|sql|java|kt|rb|c|h|cpp|cfg|ini|lock|vue|svelte|log|csv|xml|"
    r"diff|patch"
)
"""File extensions by which a bare word is a file name, as alternatives of a pattern."""

PATH_KEYS = (
    "file_path",
    "path",
    "absolute_path",
    "filePath",
    "target_file",
    "notebook_path",
    "filename",
    "file_name",
    "relative_path",
    "file",
)
PATHS_KEYS = ("paths", "file_paths", "files", "include", "args")
PATCH_KEYS = ("input", "patch", "patchText", "patch_text", "diff", "content", "arguments")
COMMAND_KEYS = ("command", "cmd", "commands", "script", "action")

_PATCH_HEADER = re.compile(r"^\*\*\* (Add File|Update File|Delete File|Move File|Move to): ?(.+?)\s*$", re.MULTILINE)
_SHELLS = ("bash", "sh", "zsh", "dash", "fish", "powershell", "pwsh", "cmd")


def actions_of(call: ToolUse) -> tuple[ToolAction, ...]:
    """Return the actions of `call` in order, each once; () for a tool without files and shell.

    Never raises, whatever the input.
    """
    rule = _RULES.get(tool_name(call.name))
    if rule is None:
        return ()
    actions = rule(input_of(call))
    return actions if len(actions) < 2 else tuple(dict.fromkeys(actions))


@session_cache(1_024)
def tool_name(name: str) -> str:
    """Return a tool's name without server prefix (`mcp__x__`, `developer__`, `functions.`), in lower case with
    underscores."""
    return name.rsplit("__", 1)[-1].rsplit(".", 1)[-1].lower().replace("-", "_")


@session_cache(4_096)
def normal_path(path: str) -> str:
    """Return a path with forward slashes, without `./` and resolvable `..` parts."""
    path = path.strip()
    if _DRIVE.match(path) or ("\\" in path and "/" not in path):
        path = path.replace("\\", "/")
    return posixpath.normpath(path) if path else ""


_DRIVE = re.compile(r"^[A-Za-z]:[\\/]")


def patch_actions(text: str) -> tuple[ToolAction, ...]:
    """Return the file actions of an `apply_patch` text. A moved file is deleted at the old path and created at the new
    one."""
    actions: list[ToolAction] = []
    for header in _PATCH_HEADER.finditer(text):
        what, path = header[1], header[2].strip()
        if what == "Add File":
            actions.append(ToolAction("created", path))
        elif what == "Update File":
            actions.append(ToolAction("modified", path))
        elif what == "Delete File":
            actions.append(ToolAction("deleted", path))
        elif what == "Move to" and actions and actions[-1].kind == "modified":
            actions[-1] = ToolAction("deleted", actions[-1].target)
            actions.append(ToolAction("created", path))
        elif what == "Move File":
            old, arrow, new = path.partition(" -> ")
            actions.append(ToolAction("deleted", old.strip()))
            actions.extend([ToolAction("created", new.strip())] if arrow else [])
    return tuple(actions)


def _paths(tool_input: ToolInput, depth: int = 3) -> tuple[str, ...]:
    """Return the paths in a call's input, under the keys of any known agent, down to `depth` nested lists or
    objects."""
    for key in PATH_KEYS:
        value = tool_input.get(key)
        if isinstance(value, str) and value.strip():
            return (value.strip(),)
    found: list[str] = []
    for key in (*PATHS_KEYS, *PATH_KEYS):
        found.extend(_paths_within(tool_input.get(key), depth))
    return tuple(found)


def _paths_within(value: object, depth: int) -> Iterable[str]:
    if depth == 0:
        return
    if isinstance(value, list):
        for item in value:
            if isinstance(item, str) and item.strip():
                yield item.strip()
            elif isinstance(item, dict):
                yield from _paths(item, depth - 1)
    elif isinstance(value, dict):
        yield from _paths(value, depth - 1)


def _each_path(kind: ActionKind) -> Rule:
    return lambda tool_input: tuple(ToolAction(kind, path) for path in _paths(tool_input))


def _read(tool_input: ToolInput) -> tuple[ToolAction, ...]:
    return () if tool_input.get("type") == "directory" else _each_path("viewed")(tool_input)


def _edit(tool_input: ToolInput) -> tuple[ToolAction, ...]:
    """Return the actions of an edit, or of an editor with a `command`. Replacing "" creates a file."""
    kind: ActionKind | None = "modified"
    command = tool_input.get("command")
    if isinstance(command, str):
        kind = _EDITOR.get(command.strip().lower(), "modified")
    elif "" in (tool_input.get("old_string"), tool_input.get("oldString"), tool_input.get("old_str")):
        kind = "created"
    if kind is None or (kind == "viewed" and tool_input.get("type") == "directory"):
        return ()
    return _each_path(kind)(tool_input)


_EDITOR: dict[str, ActionKind | None] = {
    "view": "viewed",
    "read": "viewed",
    "create": "created",
    "write": "created",
    "delete": "deleted",
    "remove": "deleted",
    "diff": None,
}


def input_of(call: ToolUse) -> ToolInput:
    """Return a call's input as an object; other input is under the key `input`."""
    return call.input if isinstance(call.input, dict) else {"input": call.input}


def patch_texts(tool_input: ToolInput) -> Iterator[str]:
    """Yield the texts in a call's input that may be a patch."""
    for value in map(tool_input.get, (*PATCH_KEYS, *COMMAND_KEYS)):
        text = "\n".join(part for part in value if isinstance(part, str)) if isinstance(value, list) else value
        if isinstance(text, str):
            yield text


def _patch(tool_input: ToolInput) -> tuple[ToolAction, ...]:
    return next(filter(None, map(patch_actions, patch_texts(tool_input))), None) or _edit(tool_input)


def _shell(tool_input: ToolInput) -> tuple[ToolAction, ...]:
    """Return the actions of a shell call without its `bash -lc` wrapper; a patch in it counts as file actions."""
    if str(tool_input.get("is_input")).lower() == "true":
        return ()
    commands = tool_input.get("commands")
    if isinstance(commands, list):
        lines = [item if isinstance(item, str) else _command_line(item) for item in commands]
        return tuple(action for line in lines for action in _run(line.strip()))
    value: object = next((tool_input[key] for key in COMMAND_KEYS if tool_input.get(key)), tool_input.get("input"))
    if isinstance(value, dict):
        value = value.get("command")
    return _run(_command_line(value))


def _command_line(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    if not isinstance(value, list):
        return ""
    parts = [part for part in value if isinstance(part, str)]
    if len(parts) >= 2 and parts[0] in ("apply_patch", "applypatch"):
        return "\n".join(parts)
    if len(parts) >= 3 and _program(parts[0]) in _SHELLS and parts[-2][:1] in ("-", "/"):
        return parts[-1].strip()
    return shlex.join(parts)


def _program(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1].lower().removesuffix(".exe")


def _run(line: str) -> tuple[ToolAction, ...]:
    if not line:
        return ()
    if "*** Begin Patch" in line and ("apply_patch" in line or "applypatch" in line):
        patch, _, after = line.partition("*** End Patch")
        if found := patch_actions(patch):
            rest = after.strip().split("\n", 1)
            then = rest[1].strip() if len(rest) == 2 else ""
            return (*found, ToolAction("command", then)) if then else found
    command = _COMMENTS.sub("", line) if "#" in line else line
    return (ToolAction("command", command),) if command else ()


_COMMENTS = re.compile(r"\A(?:\s*#[^\n]*(?:\n|\Z))+")
"""Comments before a command, a shebang among them."""


_RULES: dict[str, Rule] = {
    name: rule
    for rule, names in (
        # Claude Code, OpenHands, opencode, pi; Gemini CLI; Cline and Roo; Augment and Copilot CLI; SWE-agent; Cursor.
        (_read, "read notebookread read_file read_many_files read_files view open view_file"),
        (_each_path("created"), "write write_file write_to_file save_file create create_file new_file"),
        (_edit, "edit multiedit multi_edit notebookedit edit_file edit_notebook replace insert replace_in_file"),
        (_edit, "apply_diff insert_content search_and_replace search_replace editor"),
        # Editors with a `command`: Augment, OpenHands, SWE-agent, goose, Anthropic's own.
        (_edit, "str_replace_editor file_editor text_editor str_replace undo_edit str_replace_based_edit_tool"),
        (_edit, "str_replace_edit edit_block"),
        (_patch, "apply_patch applypatch patch"),
        (_each_path("deleted"), "remove_files delete_file delete_files remove_file"),
        (_shell, "bash shell local_shell local_shell_call exec_command terminal launch_process run_shell_command"),
        (_shell, "execute_command run_commands execute_bash run powershell run_terminal_cmd run_command cmd_run"),
        (_shell, "unified_exec shell_command exec"),
    )
    for name in names.split()
}
