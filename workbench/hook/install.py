"""Put the hooks into an agent's settings, take them out, and say where they are.

A change is a value first (`Change`), whose difference is shown before anything is written. Settings are edited as text,
so that a later removal leaves the file as it was.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from workbench.base.errors import BadInput
from workbench.base.files import make_folder, reason, write_atomically
from workbench.base.reading import read_file
from workbench.hook.agents import AGENTS, Agent
from workbench.hook.injection import TOKENS
from workbench.hook.json_text import part_named, parts_of, start_of, with_part, without_part
from workbench.hook.store import created_parts, remember_created

Scope = Literal["user", "project"]

SECONDS = 30
"""Seconds after which an agent ends the hook."""

NEW_FILE = "{\n}\n"
"""Settings file to begin with."""

OR_NOTHING = " || true"
"""End of a shell command, so that the agent gets no error if the program is removed later."""


class Change(Struct, frozen=True):
    """Change of a settings file: its text before (None: there is no file) and after (None: the file is removed).
    `created`: parts that an installation adds ("file", "hooks", names of events), which `write` saves for the removal;
    None deletes what was saved."""

    path: Path
    before: str | None
    after: str | None
    created: tuple[str, ...] | None = ()

    @property
    def is_empty(self) -> bool:
        return self.before == self.after

    def difference(self) -> Iterator[str]:
        """Yield the lines of a unified difference."""
        name = str(self.path)
        before, after = ((text or "").splitlines() for text in (self.before, self.after))
        names = (name if self.before is not None else "/dev/null", name if self.after is not None else "/dev/null")
        yield from difflib.unified_diff(before, after, *names, lineterm="")

    def write(self) -> None:
        """Write or remove the file. Raises BadInput if it changed since it was read, or cannot be written."""
        if _text_of(self.path) != self.before:
            raise BadInput(f"{self.path} changed meanwhile; run the command again.")
        if self.after is None:
            self.path.unlink()
        else:
            make_folder(self.path.parent)
            mode = self.path.stat().st_mode if self.before is not None else None
            write_atomically(self.path.resolve(), self.after.encode(), overwrite=True)
            if mode is not None:
                self.path.chmod(mode)
        remember_created(self.path, self.created)


def installable(agent_id: str) -> Agent:
    """Return the agent of this id. Raises BadInput for an unknown one, and for one without events to use."""
    if agent_id not in AGENTS:
        raise BadInput(f"There is no agent {agent_id!r} with hooks; there are {', '.join(AGENTS)}.")
    if missing := AGENTS[agent_id].missing:
        raise BadInput(missing)
    return AGENTS[agent_id]


def settings_file(agent: Agent, scope: Scope, cwd: Path) -> Path:
    """Return the settings file for the user, or for the project in `cwd`."""
    if scope == "project":
        return cwd / agent.project_file
    return agent.home(os.environ) / agent.user_file


def command_of(agent: Agent, tokens: int | None) -> list[str]:
    """Return the words of the command that the agent is to call. `tokens`: limit of the text that the hook adds; None
    for the default."""
    program = shutil.which("cwb")
    # -P: the agent's folder is the current one, and may have modules of the same names.
    words = [program] if program else [sys.executable, "-P", "-m", "workbench"]
    return [*words, "hook", agent.id, *(["--tokens", str(tokens)] if tokens not in (None, TOKENS) else [])]


def install_change(agent: Agent, path: Path, tokens: int | None) -> Change:
    """Return the change that installs the hooks in a settings file; empty if they are there. Raises BadInput for a
    damaged file."""
    before, words = _text_of(path), command_of(agent, tokens)
    if agent.plugin:
        return Change(path, _own_plugin(path, before), _plugin_text(agent, words))
    text = before if before is not None and before.strip() else NEW_FILE
    _check(path, text)
    command = " ".join(map(shlex.quote, words)) + ("" if os.name == "nt" else OR_NOTHING)
    created = ["file"] if before is None else []
    for event, matcher in agent.events.items():
        entry = _entry(agent, command, matcher)
        if entry in _own_entries(text, agent, event):
            continue
        text = _without_entries(text, agent, event)
        if part_named(text, start_of(text), "hooks") is None:
            created.append("hooks")
            text = with_part(text, start_of(text), '"hooks": {}', 1)
        hooks = _at(text, "hooks")
        if part_named(text, hooks, event) is None:
            created.append(event)
            text = with_part(text, hooks, f'"{event}": []', 2)
        text = with_part(text, _at(text, "hooks", event), json.dumps(entry, ensure_ascii=False), 3)
    return Change(path, before, before if text == NEW_FILE else text, tuple(created))


def uninstall_change(agent: Agent, path: Path) -> Change:
    """Return the change that removes from a settings file the hooks and the parts that the installation created for
    them; empty if there are none. Raises BadInput for a damaged file."""
    before = _text_of(path)
    if before is None or not before.strip():
        return Change(path, before, before)
    if agent.plugin:
        return Change(path, _own_plugin(path, before), None)
    _check(path, before)
    text, created = before, created_parts(path)
    for event in agent.events:
        if not _own_entries(text, agent, event):
            continue
        text = _without_entries(text, agent, event)
        hooks = _at(text, "hooks")
        if event in created and not _value_at(text, "hooks", event):
            text = _without_member(text, hooks, event)
    if text == before:
        return Change(path, before, before)
    if "hooks" in created and not _value_at(text, "hooks"):
        text = _without_member(text, start_of(text), "hooks")
    empty = "file" in created and json.loads(text.removeprefix("\ufeff")) == {}
    return Change(path, before, None if empty else text, None)


def is_installed(agent: Agent, path: Path) -> bool:
    """Return whether all hooks of an agent are in a settings file. Raises BadInput for a damaged file."""
    text = _text_of(path)
    if text is None or not text.strip():
        return False
    if agent.plugin:
        return PLUGIN_MARK in text
    _check(path, text)
    return all(_own_entries(text, agent, event) for event in agent.events)


PLUGIN_MARK = "Written by `cwb hook install"
"""Words in the first line of a plug-in."""


def _plugin_text(agent: Agent, words: list[str]) -> str:
    text = Path(__file__).with_name("plugins").joinpath(agent.plugin).read_text("utf-8")
    return text.replace("const COMMAND = [];", f"const COMMAND = {json.dumps(words)};")


def _own_plugin(path: Path, text: str | None) -> str | None:
    """Return the text of a plug-in. Raises BadInput for a file that this program did not write."""
    if text is not None and PLUGIN_MARK not in text:
        raise BadInput(f"{path} was not written by `cwb hook install`; rename or remove it.")
    return text


def _entry(agent: Agent, command: str, matcher: str) -> dict[str, Any]:
    hook = {"type": "command", "command": command, "timeout": SECONDS}
    return {**({"matcher": matcher} if matcher else {}), "hooks": [hook]}


def _is_own(entry: Any, agent: Agent) -> bool:
    """Return whether every command of an entry is one of this program's for this agent."""
    hooks = entry.get("hooks") if isinstance(entry, dict) else None
    commands = [one.get("command") if isinstance(one, dict) else None for one in hooks or ()] or [None]
    return all(
        isinstance(one, str) and _OWN.search(one + " ") and f" hook {agent.id} " in one + " " for one in commands
    )


_OWN = re.compile(r"(?:\bcwb(?:\.exe)?|-m workbench)['\"]? hook ")


def _own_entries(text: str, agent: Agent, event: str) -> list[Any]:
    hooks = part_named(text, start_of(text), "hooks")
    listed = part_named(text, hooks.at, event) if hooks else None
    return [entry for entry in listed.value if _is_own(entry, agent)] if listed else []


def _without_entries(text: str, agent: Agent, event: str) -> str:
    """Return the settings without this program's entries of an event."""
    while _own_entries(text, agent, event):
        at = _at(text, "hooks", event)
        number = next(number for number, one in enumerate(parts_of(text, at)) if _is_own(one.value, agent))
        text = without_part(text, at, number)
    return text


def _without_member(text: str, at: int, key: str) -> str:
    number = max(number for number, one in enumerate(parts_of(text, at)) if one.key == key)
    return without_part(text, at, number)


def _at(text: str, *keys: str) -> int:
    """Return the offset of the value at a path of keys, which exists."""
    at = start_of(text)
    for key in keys:
        found = part_named(text, at, key)
        assert found is not None
        at = found.at
    return at


def _value_at(text: str, *keys: str) -> Any:
    value = json.loads(text.removeprefix("\ufeff"))
    for key in keys:
        value = value[key]
    return value


def _text_of(path: Path) -> str | None:
    """Return the text of a file, None if there is none. Raises BadInput for an unreadable one."""
    try:
        return read_file(path).decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {reason(error)}; correct it, and run the command again.") from None


def _check(path: Path, text: str) -> None:
    """Raise BadInput unless a text is an object whose hooks are lists by event."""
    try:
        settings = json.loads(text.removeprefix("\ufeff"))
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        raise BadInput(f"{path}:{line}: not valid JSON; correct it, and run the command again.") from None
    hooks = settings.get("hooks", {}) if isinstance(settings, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(one, list) for one in hooks.values()):
        raise BadInput(f"{path}: hooks must be lists by event in an object; correct it, and run the command again.")
