"""Effects of a PowerShell line on files: cmdlets, their aliases, redirections and git. Paths with a variable that the
line does not set are left out."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence

from workbench.base.session_caches import session_cache
from workbench.facts import shell
from workbench.facts.shell import Effect, EffectKind
from workbench.facts.shell_lines import MAX_LINE_CHARS, join_path

_TOKEN = re.compile(
    r"@(?:'[ \t]*\r?\n.*?(?:\n'@|\Z)|\"[ \t]*\r?\n.*?(?:\n\"@|\Z))"
    r"|'(?:[^']|'')*(?:'|\Z)|\"(?:[^\"`]|`.)*(?:\"|`?\Z)|[;|\n{}]|[\d*]?>&\d|[\d*]?>>?|[^\s;|{}'\">]+",
    re.DOTALL,
)
"""A here-string, a quoted text, a separator, a redirection or a word. An open quote extends to the end: linear time."""
_ASSIGNMENT = re.compile(r"\$(\w+)([-+*/%]?=)")
_VALUE = re.compile(r"['\"].*|\$\w+|\d+", re.DOTALL)
"""A value that the line shows; a bare word after `=` is a command, whose output is unknown."""
_VARIABLE = re.compile(r"\$(?:env:)?\w+|\$[({]")
_CMDLETS = {
    "set-content": "set-content", "sc": "set-content", "out-file": "set-content", "add-content": "add-content",
    "ac": "add-content", "new-item": "new-item", "ni": "new-item", "mkdir": "new-item", "md": "new-item",
    "remove-item": "remove-item", "ri": "remove-item", "rm": "remove-item", "del": "remove-item", "rd": "remove-item",
    "rmdir": "remove-item", "erase": "remove-item", "copy-item": "copy-item", "cp": "copy-item", "copy": "copy-item",
    "move-item": "move-item", "mv": "move-item", "move": "move-item", "rename-item": "rename-item",
    "ren": "rename-item",
}  # fmt: skip
_SWITCHES = frozenset(("-force", "-recurse", "-nonewline", "-append", "-passthru", "-verbose", "-whatif", "-r", "-f"))
_PATHS = frozenset(("-path", "-literalpath", "-filepath", "-destination", "-newname"))


@session_cache(4096)
def effects(line: str) -> tuple[Effect, ...]:
    """Return the effects of `line` on files in order, each once; () for a line over `MAX_LINE_CHARS`. Never raises."""
    if len(line) > MAX_LINE_CHARS:
        return ()
    found: dict[tuple[EffectKind, str], Effect] = {}
    folder: str | None = ""
    variables: dict[str, str] = {}
    for words in _statements(line):
        if (assignment := _assignment(words)) is not None:
            name, operator, words = assignment
            if operator == "=" and len(words) == 1 and _VALUE.fullmatch(words[0]):
                variables[name] = _expanded(words[0], variables)
            else:
                variables.pop(name, None)
            if not words or not words[0][0].isalpha():
                continue
        words = [_expanded(word, variables) for word in words]
        name_of = words[0].lower()
        if name_of in ("cd", "set-location", "sl", "pushd", "push-location") and len(words) > 1:
            folder = _resolved(folder, words[-1])
        elif name_of == "git":
            for one in shell.effects(shlex.join(words)):
                if path := _resolved(folder, one.path):
                    found[one.kind, path] = Effect(one.kind, path, "git")
        else:
            arguments, files = _split_redirections(words[1:])
            for kind, target in (*_cmdlet_effects(_CMDLETS.get(name_of, ""), arguments), *files):
                if path := _resolved(folder, target):
                    found[kind, path] = Effect(kind, path, words[0])
    return tuple(found.values())


def _statements(text: str) -> Iterator[list[str]]:
    words: list[str] = []
    for token in [*_TOKEN.findall(text), ";"]:
        if token in (";", "|", "\n", "{", "}"):
            if words:
                yield words
            words = []
        else:
            words.append(token)


def _assignment(words: Sequence[str]) -> tuple[str, str, list[str]] | None:
    """Return variable, operator and the words of the value; None for a statement that assigns nothing."""
    for count in (1, 2):
        start = "".join(words[:count])
        if (found := _ASSIGNMENT.match(start)) is not None:
            return found[1].lower(), found[2], [*filter(None, [start[found.end() :]]), *words[count:]]
    return None


def _expanded(word: str, variables: dict[str, str]) -> str:
    """Return a word without quotes, and with the values of variables that the line has set; "" for a here-string. In
    single quotes `$` is literal: it becomes a full-width `＄`, which `_resolved` turns back."""
    if word[:1] == "@" and "\n" in word:
        return ""
    if word[:1] == "'":
        return word[1:-1].replace("''", "'").replace("$", "＄")
    word = word[1:-1] if word[:1] == '"' else word
    return re.sub(r"\$(\w+)", lambda found: variables.get(found[1].lower(), found[0]), word)


def _resolved(folder: str | None, path: str) -> str | None:
    if _VARIABLE.search(path) or not path or path.startswith("-"):
        return None
    return join_path(folder, path.replace("＄", "$").replace("\\", "/"))


def _cmdlet_effects(cmdlet: str, arguments: Sequence[str]) -> Iterator[tuple[EffectKind, str]]:
    paths: list[str] = []
    words = iter(arguments)
    appends = any(word.lower() == "-append" for word in arguments)
    for word in words:
        low = word.lower()
        if low in _PATHS:
            paths.append(next(words, ""))
        elif low.startswith("-") and low not in _SWITCHES and ":" not in low:
            next(words, None)
        elif not low.startswith("-"):
            paths.append(word)
    if not cmdlet or not paths:
        return
    if cmdlet == "remove-item":
        yield from (("deleted", path) for one in paths for path in one.rstrip(",").split(","))
    elif cmdlet in ("set-content", "add-content", "new-item"):
        yield "modified" if cmdlet == "add-content" or appends else "created", paths[0]
    elif len(paths) > 1:
        if cmdlet != "copy-item":
            yield "deleted", paths[0]
        parent = posixpath.dirname(paths[0].replace("\\", "/")) if cmdlet == "rename-item" else ""
        yield "created", posixpath.join(parent, paths[1])


def _split_redirections(words: Sequence[str]) -> tuple[list[str], list[tuple[EffectKind, str]]]:
    """Return the words without redirections, and the effects of the redirections to files."""
    arguments: list[str] = []
    files: list[tuple[EffectKind, str]] = []
    rest = iter(words)
    for word in rest:
        sign = word.lstrip("123456*")
        if sign in (">", ">>"):
            target = next(rest, "$null")
            if target.lower() != "$null":
                files.append(("modified" if sign == ">>" else "created", target))
        elif not sign.startswith(">&"):
            arguments.append(word)
    return arguments, files
