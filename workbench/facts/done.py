"""What was done: paths touched, and commands with their results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from workbench.facts.calls import Called, last_line
from workbench.facts.fact import Fact
from workbench.facts.tools import normal_path
from workbench.facts.wording import is_agents, scanned
from workbench.session import Message

REFUSED = "refused by the user"

_WORD = re.compile(r"[^\s\"'`<>()\[\]{},;|*=，。、；：（）「」《》]{3,200}")
_FILE = re.compile(r"^(?:[A-Za-z]:)?[\w./\\@+~-]*[\w-]\.[A-Za-z][A-Za-z0-9]{0,7}$")
_BARE_FILE = re.compile(
    r"^[\w-][\w.-]*\.(?:py|tsx?|jsx?|go|rs|md|json|ya?ml|toml|sh|css|html|txt|sql|java|kt|rb|c|h|cpp|cfg|ini|lock|vue)$"
)

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
