"""Parser for POSIX shell command lines: quotes, substitutions, here-documents, `cd`, and assignments and loops with
literal words. Values that only the machine knows (output of a command, an unset variable) become `UNKNOWN`. Nothing is
run or looked up. Linear in the line."""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from workbench.base.session_caches import session_cache

MAX_LINE_CHARS = 128 * 1024
"""Maximum length of a line that is parsed, in characters."""

MAX_DEPTH = 16
"""Maximum depth of nested substitutions."""

MAX_EXPANSIONS = 200
"""Maximum number of words that one word expands to by loops and braces."""

UNKNOWN = "\0"
"""Placeholder for the unknown part of a word."""


@session_cache(4096)
def status_covers(line: str, is_wanted: Callable[[str], bool]) -> bool:
    """Return whether exit status 0 of a line proves that its last wanted command succeeded. It does not in a pipe
    without `pipefail`, or before `|| true` or `; echo`. `is_wanted` gets a command's words joined by blanks."""
    strict = piping = False
    covered = len(line) <= MAX_LINE_CHARS
    for command in commands_of(line):
        if command.words[:1] == ["set"]:
            strict = strict or any(word.startswith("-") and "e" in word for word in command.words[1:])
            piping = piping or "pipefail" in command.words
        elif is_wanted(" ".join(command.words)):
            covered = True
        covered = covered and (
            command.then in ("", "&&")
            or (command.then in (";", "\n") and strict)
            or (command.then in ("|", "|&") and piping)
        )
    return covered


@session_cache(4096)
def simple_commands(line: str) -> tuple[str, ...]:
    """Return the simple commands of a line, words joined by blanks, without redirections, assignments, `cd` and wrapper
    programs. An unknown part of a word is `…`."""
    joined = (" ".join(command.words).replace(UNKNOWN, "…") for command in commands_of(line))
    return tuple(one for one in joined if one and not one.startswith(("cd ", "set ", "export ")))


@session_cache(4096)
def commands_of(line: str) -> Sequence[SimpleCommand]:
    """Return the simple commands of a line, in order; none for a line over `MAX_LINE_CHARS`. Never raises."""
    commands = _Reader(line).read() if len(line) <= MAX_LINE_CHARS else []
    if commands and commands[-1].then in (";", "\n"):
        commands[-1].then = ""
    return commands


@dataclass(slots=True)
class SimpleCommand:
    """A simple command: words, output redirections as (operator, target), folder ("" where the line began, None if
    unknown), and the connector to the next command."""

    words: list[str]
    outputs: list[tuple[str, str]]
    folder: str | None
    then: str = ""


_TOKEN = re.compile(
    r"(?P<blank>[ \t\r]+|\\\n|#[^\n]*)|(?P<redirect>(?:\d{1,2}|&)?(?:>>|>\||>&|>|<<<|<<-?|<>|<&|<)(?!\())"
    r"|(?P<connector>&&|\|\||;;|\|&|[;&|\n])|(?P<function>\([ \t]*\))|(?P<paren>[()])"
)
_VALUE = (
    r"(?P<unknown>\$\(\((?:(?!\)\)).){0,400}\)\)|`[^`]*(?:`|\Z)|\$\{(?!\w+\})[^{}\"]*\}|\$[@*#?$!-])"
    r"|(?P<script>[$<>]\()|\$(?:\{(?P<braced>\w+)\}|(?P<name>\w+))"
)
_PIECE = re.compile(
    rf"{_VALUE}|\$?'(?P<raw>[^']*)(?:'|\Z)|(?P<mark>\$?\")|\\(?:\n|(?P<escaped>.)|\Z)"
    r"|(?P<bare>[^ \t\r\n\\'\"$`|&;()<>]+|\$)",
    re.DOTALL,
)
_QUOTED_PIECE = re.compile(
    _VALUE.replace("[$<>]", r"\$") + r"|(?P<mark>\"|\Z)|\\(?:\n|(?P<escaped>[$`\"\\]))|(?P<raw>[^$`\"\\]+|[$\\])",
    re.DOTALL,
)
_HEREDOC = re.compile(r"[ \t]*(?:'([^'\n]*)'|\"([^\"\n]*)\"|\\?([^\s'\"<>|&;()]+))")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\+?)=")
_BRACES = re.compile(r"\{([^{}\s,]*(?:,[^{}\s,]*)+)\}")
_RESERVED = frozenset(
    ("then", "do", "else", "elif", "if", "while", "until", "!", "{", "time", "fi", "}", "done", "esac")
)
_WRAPPERS: Mapping[str, int] = {
    "sudo": 0, "env": 0, "nohup": 0, "command": 0, "builtin": 0, "exec": 0, "nice": 0, "timeout": 1, "stdbuf": 0,
    "caffeinate": 0, "rtk": 0,
}  # fmt: skip
"""Programs that run the following command, with the number of their own arguments before it."""
_SHELLS = frozenset(("bash", "sh", "zsh", "dash"))


class _Reader:
    """Splits a script into simple commands, from left to right."""

    def __init__(self, text: str, at: int = 0, depth: int = 0) -> None:
        self.text = text
        self.at = at
        self.depth = depth
        self.folder: str | None = ""
        self.variables: dict[str, Sequence[str]] = {}
        self.room = MAX_LINE_CHARS
        """Characters that variables and folders may still have, which bounds the time and memory for a line."""
        self.found: list[SimpleCommand] = []
        self.heredocs: list[str] = []
        """Patterns for the ends of the here-documents that begin with the next line."""

    def read(self, *, substitution: bool = False) -> list[SimpleCommand]:
        """Read to the end of the text, or of the substitution."""
        words: list[str] = []
        outputs: list[tuple[str, str]] = []
        folders: list[str | None] = []
        while self.at < len(self.text):
            token = _TOKEN.match(self.text, self.at)
            if token is None:
                words += self._word()
                continue
            kind, text = token.lastgroup, token[0]
            self.at = token.end()
            if kind == "redirect":
                self._redirect(text.lstrip("0123456789&"), outputs)
            elif kind == "connector":
                self._end(words, outputs, text)
                while text == "\n" and self.heredocs:
                    end = re.compile(self.heredocs.pop(0), re.MULTILINE).search(self.text, self.at)
                    self.at = end.end() if end else len(self.text)
            elif text == "(":
                self._end(words, outputs)
                folders.append(self.folder)
            elif text == ")" and (folders or substitution):
                self._end(words, outputs)
                if not folders:
                    break
                self.folder = folders.pop()
            elif kind != "blank":  # pattern of `case`, name of a function
                words.clear()
        self._end(words, outputs)
        return self.found

    def _redirect(self, operator: str, outputs: list[tuple[str, str]]) -> None:
        if operator in ("<<", "<<-"):
            if (named := _HEREDOC.match(self.text, self.at)) is not None:
                self.at = named.end()
                name = named[1] or named[2] or named[3] or ""
                self.heredocs.append(("^\t*" if operator == "<<-" else "^") + re.escape(name) + "\r?$")
            return
        while self.text.startswith((" ", "\t"), self.at):
            self.at += 1
        targets = self._word()
        if operator.startswith(">"):
            outputs += [(operator, target) for target in targets]

    def _word(self) -> list[str]:
        """Read a word and return its values. Loops and braces give several."""
        parts: list[Sequence[str]] = []
        pattern, bare = _PIECE, ""
        while piece := pattern.match(self.text, self.at):
            self.at = piece.end()
            kind = piece.lastgroup
            if kind == "mark":
                pattern = _PIECE if pattern is _QUOTED_PIECE else _QUOTED_PIECE
                parts.append(("",))
            elif kind in ("name", "braced"):
                parts.append(self._variable(piece[kind]))
            elif kind in ("unknown", "script"):
                parts.append((UNKNOWN,))
                if kind == "script" and self.depth < MAX_DEPTH:
                    inner = _Reader(self.text, self.at, self.depth + 1)
                    inner.read(substitution=True)
                    self.at = inner.at
            elif kind:
                parts.append((piece[kind],))
                bare += piece[kind] if kind == "bare" else ""
        most = MAX_EXPANSIONS if parts else 0
        values = ["".join(each) for each in itertools.islice(itertools.product(*parts), most)]
        if _BRACES.search(bare):
            values = [one for value in values for one in _expand_braces(value)]
        return values[:1] if UNKNOWN in "".join(values[:1]) else values

    def _variable(self, name: str) -> Sequence[str]:
        if name == "HOME":
            return ("~",)
        values = (self.folder or UNKNOWN,) if name == "PWD" else self.variables.get(name, (UNKNOWN,))
        self.room -= sum(map(len, values))
        return values if self.room > 0 else (UNKNOWN,)

    def _end(self, words: list[str], outputs: list[tuple[str, str]], then: str = "") -> None:
        """End a command: apply assignments and `cd`, and note the connector after it."""
        own, targets = [*itertools.dropwhile(_RESERVED.__contains__, words)], [*outputs]
        words.clear()
        outputs.clear()
        if own[:1] == ["case"]:
            return
        if own[:1] == ["for"] and own[2:3] == ["in"]:
            self.variables[own[1]] = own[3 : 3 + MAX_EXPANSIONS]
            return
        assigned = [*itertools.takewhile(_ASSIGNMENT.match, own)]
        if assigned and len(assigned) == len(own) and not targets:
            self._assign(assigned)
            return
        own = _without_wrappers(own[len(assigned) :])
        program = posixpath.basename(own[0]) if own else ""
        if program in ("cd", "pushd"):
            to = next((word for word in own[1:] if word == "-" or not word.startswith("-")), "-")
            self.folder = None if to == "-" or UNKNOWN in to or self.room <= 0 else join_path(self.folder, to)
            self.room -= len(self.folder or "")
        elif program in _SHELLS and (script := _script_of(own)) is not None and self.depth < MAX_DEPTH:
            inner = _Reader(script, 0, self.depth + 1)
            inner.folder, inner.variables, inner.room = self.folder, self.variables, self.room
            self.found += inner.read()
            self.room = inner.room
            own = []
        elif program in ("export", "local", "declare", "readonly"):
            self._assign([*filter(_ASSIGNMENT.match, own[1:])])
        elif program == "[[":
            targets = []
        if own or targets:
            self.found.append(SimpleCommand([program, *own[1:]] if own else [], targets, self.folder))
        if then and self.found and (then != "\n" or not self.found[-1].then):
            self.found[-1].then = then

    def _assign(self, words: Sequence[str]) -> None:
        values: dict[str, list[str]] = {}
        for sign, word in ((sign, word) for word in words if (sign := _ASSIGNMENT.match(word))):
            values.setdefault(sign[1], []).append(UNKNOWN if sign[2] else word[sign.end() :])
        self.variables.update(values)


def _expand_braces(value: str) -> list[str]:
    done = [value]
    while len(done) < MAX_EXPANSIONS and _BRACES.search(done[0]):
        found = [_BRACES.search(one) for one in done]
        done = [
            f"{one.string[: one.start()]}{choice}{one.string[one.end() :]}"
            for one in found
            if one
            for choice in one[1].split(",", MAX_EXPANSIONS)
        ]
    return done


def _without_wrappers(words: list[str]) -> list[str]:
    """Remove wrapper programs: `timeout 60 env A=1 npm test` becomes `npm test`."""
    at = 0
    while at < len(words) and (own := _WRAPPERS.get(posixpath.basename(words[at]))) is not None:
        at += 1
        while at < len(words) and (words[at].startswith("-") or _ASSIGNMENT.match(words[at])):
            at += 1
        at += own
    return words[at:]


def _script_of(words: Sequence[str]) -> str | None:
    """Return the script given to a shell by `-c`, or None."""
    pairs = itertools.pairwise(words[1:])
    return next((script for option, script in pairs if option.startswith("-") and option.endswith("c")), None)


def join_path(folder: str | None, path: str) -> str | None:
    if path.startswith(("/", "~")) or path[1:3] in (":/", ":\\"):
        return posixpath.normpath(path)
    return None if folder is None else posixpath.normpath(posixpath.join(folder, path))
