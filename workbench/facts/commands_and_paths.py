"""Facts about paths touched or mentioned, and about commands with their results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from workbench.base.text import clip_at_word
from workbench.facts.calls import ToolCall, last_line
from workbench.facts.fact import Fact
from workbench.facts.shell import views
from workbench.facts.tools import FILE_ENDINGS, normal_path
from workbench.facts.wording import is_agent_message, searched_part
from workbench.session import Message

REFUSED_BY_USER = "refused by the user"
RESULT_CHARS = 160
"""Maximum length of a command's result line, in characters."""

_WORD = re.compile(
    r"(?:[^\s\"'`<>()\[\]{},;|*=，。、；：（）「」《》]|(?<=[/\\])(?:\[{1,2}[\w.-]{1,60}\]{1,2}|\([\w.-]{1,60}\))(?=[/\\.])){3,200}"
)
"""Word that may be a path. Brackets around a complete part belong to the path (a route's `[id]` or `(group)`); others
do not."""
_FILE = re.compile(r"^(?:[A-Za-z]:)?[\w./\\@+~\[\]()-]*[\w\])-]\.[A-Za-z][A-Za-z0-9]{0,7}$")
_LINES = re.compile(r"#L\d{1,7}(?:-L?\d{1,7})?$")
_PRODUCT = re.compile(
    r"(?:node|next|vue|nuxt|express|three|d3|chart|react|angular|electron|alpine|solid|ember|backbone|moment|discord|"
    r"socket|deck|asp|vb)\.(?:js|io|net)",
    re.IGNORECASE,
)
"""Product names that look like file names."""
_BARE_FILE = re.compile(rf"^[\w-][\w.-]*\.(?:{FILE_ENDINGS})$")

_PIPE_TAIL = re.compile(
    r"\s*(?:2>&1|\|\s*(?:tail|head|grep|cat|tee|sed|wc)\b(?:\"[^\"]{0,100}\"|'[^']{0,100}'|[^|&;\n\"']){0,200}"
    r"|;\s*echo [^;&|\n]{0,80})\s*$"
)
_COMMAND_PREFIX = re.compile(
    r"^(?:\s+|#[^\n]*\n|cd (?:\"[^\"\n]{1,300}\"|'[^'\n]{1,300}'|[^&;|\n]{1,300}?)[ \t]*(?:&&|;|\n)\s*"
    r"|(?:export )?[A-Z_][A-Z0-9_]{0,40}=(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|[^\s;&|]{0,200})(?:[ \t]*(?:&&|;)|\s)\s*"
    r"|set -[euxo]\S{0,8}(?: pipefail)?[ \t]*(?:&&|;|\n)\s*"
    r"|(?:env|timeout(?: -\S+(?: \d+[smh]?)?)*? \d+[smh]?|nohup|time) (?=[\w./]))+"
)
"""Prefix of a command that only sets where and how it runs."""
_SHELL_SCRIPT = re.compile(r"^(?:\S*/)?(?:ba|z|da)?sh -l?c (['\"])(.*)\1$", re.DOTALL)
_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)([A-Za-z_]\w{0,40})\1[^\n]*\n")
HEREDOC_LINES = 3
"""Longest here-document that is kept, in lines; a longer one is cut to its first line."""


def core_command(command: str) -> str:
    """Return a command without parts that do not change its meaning (`cd … &&`, `bash -lc`, `2>&1 | tail`). Two runs of
    equal core commands count as the same."""
    core = _COMMAND_PREFIX.sub("", command[:4000])
    if script := _SHELL_SCRIPT.match(core.rstrip()):
        core = _COMMAND_PREFIX.sub("", script[2])
    core = " ".join(core.split())[:2000]
    while (shorter := _PIPE_TAIL.sub("", core)) != core:
        core = shorter
    return core


def path_facts(messages: Sequence[Message], calls: Sequence[ToolCall]) -> Iterator[Fact]:
    """Yield the files that calls touched, and the files named by user and agent, once per message."""
    for called in calls:
        in_shell = any(action.kind == "command" for action in called.actions)
        # A failed command line may have had effects before it failed; `actions` excludes those that its output denies.
        ok = None if in_shell and called.ok is False and not called.refused else called.ok
        at = messages[called.index]
        for action in called.actions:
            if action.kind != "command":
                yield Fact("path", normal_path(action.target), at.id, called.index, action.kind, ok)
            elif not called.refused:
                for path in views(action.target):
                    yield Fact("path", path, at.id, called.index, "viewed", called.ok)
    for index, message in enumerate(messages):
        for path in dict.fromkeys(_paths_in(message.text if is_agent_message(message) else message.user_text)):
            yield Fact("path", path, message.id, index, "mentioned")


def _paths_in(text: str) -> Iterator[str]:
    dotted = (chunk for chunk in searched_part(text).split() if "." in chunk)
    for word in (word for chunk in dotted for word in _WORD.findall(chunk)):
        token = _LINES.sub("", word.lstrip("@").rstrip(".:!?")).split(":", 2)
        path = token[0] if len(token[0]) > 1 else ":".join(token[:2])
        if "." not in path or "//" in path or len(path) < 3:
            continue
        if ("/" in path or "\\" in path) and not _FILE.match(path):
            continue
        if "/" not in path and "\\" not in path and (not _BARE_FILE.match(path) or _PRODUCT.fullmatch(path)):
            continue
        yield normal_path(path)


def command_facts(messages: Sequence[Message], calls: Sequence[ToolCall]) -> Iterator[Fact]:
    for called in calls:
        for action in called.actions:
            if action.kind == "command":
                at = messages[called.index]
                result = REFUSED_BY_USER if called.refused else clip_at_word(last_line(called.result), RESULT_CHARS)
                yield Fact("command", without_heredocs(action.target), at.id, called.index, result, called.ok)


def without_heredocs(command: str) -> str:
    """Return a command line with long here-documents cut to their first line and `…`."""
    kept, at = "", 0
    unclosed: set[str] = set()
    while "<<" in command and (start := _HEREDOC.search(command, at)) is not None:
        kept += command[at : start.end()]
        at, name = start.end(), start[2]
        end = None if name in unclosed else re.compile(rf"^[ \t]*{name}[ \t]*$", re.MULTILINE).search(command, at)
        if end is None:
            unclosed.add(name)
            continue
        body = command[at : end.start()]
        kept += f"{body.partition(chr(10))[0]}\n…\n" if body.count("\n") > HEREDOC_LINES else body
        at = end.start()
    return kept + command[at:]
