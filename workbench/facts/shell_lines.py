"""Parser for POSIX shell command lines: quotes, substitutions, here-documents, `cd`, and assignments and loops with
literal words. Values that only the machine knows (output of a command, an unset variable) become an unknown word.
Nothing is run or looked up. Linear in the line."""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.base.session_caches import session_cache

MAX_LINE_CHARS = 128 * 1024
"""Maximum length of a line that is parsed, in characters."""

MAX_DEPTH = 16
"""Maximum depth of nested substitutions."""

MAX_ARITHMETIC_CHARS = 400
"""Maximum length of an arithmetic expression, in characters."""

MAX_EXPANSIONS = 200
"""Maximum number of words that one word expands to by loops and braces."""


@session_cache(4096)
def status_covers(line: str, is_wanted: Callable[[str], bool]) -> bool:
    """Return whether exit status 0 of a line proves that its last wanted command succeeded. It does not in a pipe
    without `pipefail`, or before `|| true` or `; echo`. `is_wanted` gets a command's words joined by blanks."""
    if len(line) > MAX_LINE_CHARS:
        return False
    strict = piping = False
    covered = True
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
    programs. An unknown word is `…`."""
    if len(line) > MAX_LINE_CHARS:
        return ()
    covered = (" ".join(command.words).replace(UNKNOWN, "…") for command in commands_of(line))
    return tuple(one for one in covered if one and not one.startswith(("cd ", "set ", "export ")))


def commands_of(line: str) -> list[SimpleCommand]:
    commands = _Reader(line).commands(0)
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


@dataclass(slots=True)
class _Word:
    """Pieces of a word: text, a variable's name as a tuple, or None for an unknown value."""

    pieces: list[str | tuple[str] | None] = field(default_factory=list)
    quoted: bool = False
    bare: str = ""
    """Unquoted part of the word; only its braces are expanded."""


_PLAIN = re.compile(r"[^ \t\r\n\\'\"$`|&;()<>]+")
_REDIRECT = re.compile(r"(?:\d{1,2}|&)?(?:>>|>\||>&|>|<<<|<<-?|<>|<&|<)")
_HEREDOC = re.compile(r"[ \t]*(?:'([^'\n]*)'|\"([^\"\n]*)\"|\\?([^\s'\"<>|&;()]+))")
_CONNECTOR = re.compile(r"&&|\|\||;;|\|&|[;&|\n]")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+)|[@*#?$!-])")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
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
    """Splits a line into simple commands, from left to right."""

    def __init__(
        self, text: str, folder: str | None = "", variables: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        self.text = text
        self.at = 0
        self.folder = folder
        self.variables: dict[str, Sequence[str]] = dict(variables or {})
        self.pending_heredocs: list[tuple[str, bool]] = []

    def commands(self, depth: int, closing: str = "") -> list[SimpleCommand]:
        """Parse up to the end of the text, or to the `closing` character."""
        found: list[SimpleCommand] = []
        words: list[_Word] = []
        outputs: list[tuple[str, _Word]] = []
        folders: list[str | None] = []
        text = self.text
        while self.at < len(text):
            char = text[self.at]
            if char == "\n":
                self._end(words, outputs, found, depth)
                _set_connector(found, "\n")
                self.at += 1
                self._skip_heredocs()
            elif char in " \t\r":
                self.at += 1
            elif text.startswith("\\\n", self.at):
                self.at += 2
            elif char == "#":
                self.at = self._line_end()
            elif char == ")" and closing and not folders:
                break
            elif char in "()":
                self._end(words, outputs, found, depth)
                if char == "(":
                    folders.append(self.folder)
                elif folders:
                    self.folder = folders.pop()
                self.at += 1
            elif (redirect := _REDIRECT.match(text, self.at)) is not None:
                self._redirect(redirect, outputs, depth)
            elif (connector := _CONNECTOR.match(text, self.at)) is not None:
                self._end(words, outputs, found, depth)
                _set_connector(found, connector[0])
                self.at = connector.end()
            else:
                words.append(self._word(depth))
        self._end(words, outputs, found, depth)
        return found

    def _line_end(self) -> int:
        end = self.text.find("\n", self.at)
        return len(self.text) if end < 0 else end

    def _redirect(self, redirect: re.Match[str], outputs: list[tuple[str, _Word]], depth: int) -> None:
        operator = redirect[0].lstrip("0123456789&")
        self.at = redirect.end()
        if operator in ("<<", "<<-"):
            if (named := _HEREDOC.match(self.text, self.at)) is not None:
                self.at = named.end()
                self.pending_heredocs.append((named[1] or named[2] or named[3] or "", operator == "<<-"))
            return
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1
        if self.at < len(self.text) and self.text[self.at] not in "\n|&;()":
            target = self._word(depth)
            if operator.startswith(">"):
                outputs.append((operator, target))

    def _skip_heredocs(self) -> None:
        for name, indented in self.pending_heredocs:
            while self.at < len(self.text):
                end = self._line_end()
                line = self.text[self.at : end].rstrip("\r")
                self.at = min(end + 1, len(self.text))
                if (line.lstrip("\t") if indented else line) == name:
                    break
        self.pending_heredocs.clear()

    def _word(self, depth: int) -> _Word:
        word, text = _Word(), self.text
        while self.at < len(text):
            char = text[self.at]
            if plain := _PLAIN.match(text, self.at):
                word.pieces.append(plain[0])
                word.bare += plain[0]
                self.at = plain.end()
            elif char == "\\":
                word.pieces.append(text[self.at + 1 : self.at + 2].strip("\n"))
                self.at += 2
            elif char == "'":
                self._quoted(word, self.at + 1, "'")
            elif char == '"':
                self._double_quoted(word, depth)
            elif text.startswith("$'", self.at):
                self._quoted(word, self.at + 2, "'")
            elif char in "$`":
                self._expansion(word, depth)
            else:
                break
        return word

    def _quoted(self, word: _Word, start: int, mark: str) -> None:
        end = self.text.find(mark, start)
        end = len(self.text) if end < 0 else end
        word.pieces.append(self.text[start:end])
        word.quoted = True
        self.at = end + 1

    def _double_quoted(self, word: _Word, depth: int) -> None:
        self.at += 1
        word.quoted = True
        while self.at < len(self.text) and (char := self.text[self.at]) != '"':
            if char == "\\":
                word.pieces.append(self.text[self.at + 1 : self.at + 2])
                self.at += 2
            elif char in "$`":
                self._expansion(word, depth)
            else:
                end = _QUOTED_END.search(self.text, self.at)
                stop = end.start() if end else len(self.text)
                word.pieces.append(self.text[self.at : stop])
                self.at = stop
        self.at += 1

    def _expansion(self, word: _Word, depth: int) -> None:
        """Parse a variable, a substitution or an arithmetic expression."""
        if (
            self.text.startswith("$((", self.at)
            and (end := self.text.find("))", self.at, self.at + MAX_ARITHMETIC_CHARS)) > 0
        ):
            self.at = end + 2
            word.pieces.append(None)
        elif self.text.startswith("$(", self.at) and depth < MAX_DEPTH:
            inner = _Reader(self.text, None)
            inner.at = self.at + 2
            inner.commands(depth + 1, ")")
            self.at = inner.at + 1
            word.pieces.append(None)
        elif (variable := _VARIABLE.match(self.text, self.at)) is not None:
            name = variable[1] or variable[2]
            word.pieces.append((name,) if name else None)
            self.at = variable.end()
        elif self.text[self.at] == "`":
            end = self.text.find("`", self.at + 1)
            self.at = len(self.text) if end < 0 else end + 1
            word.pieces.append(None)
        else:
            word.pieces.append(None if self.text.startswith("${", self.at) else "$")
            self.at += 1

    def _end(
        self, words: list[_Word], outputs: list[tuple[str, _Word]], found: list[SimpleCommand], depth: int
    ) -> None:
        """End a command: expand its words and apply assignments and `cd`."""
        expanded = [self._values(word) for word in words]
        targets = [(operator, value) for operator, word in outputs for value in self._values(word) or ()]
        words.clear()
        outputs.clear()
        while expanded and expanded[0] and expanded[0][0] in _RESERVED:
            expanded.pop(0)
        if expanded and expanded[0] == ["for"] and len(expanded) > 3 and expanded[1] and expanded[2] == ["in"]:
            self.variables[expanded[1][0]] = [value for values in expanded[3:] for value in values or ()]
            return
        while expanded and expanded[0] and _ASSIGNMENT.match(expanded[0][0]):
            name, _, value = expanded.pop(0)[0].partition("=")  # type: ignore[index]
            self.variables[name.rstrip("+")] = [value]
        while expanded and expanded[0] is None and not targets:
            expanded.pop(0)
        expanded = _without_wrappers(expanded)
        command = [value for values in expanded for value in (values if values is not None else [UNKNOWN])]
        if not command and not targets:
            return
        program = posixpath.basename(command[0]) if command else ""
        if program in ("cd", "pushd"):
            self._change_folder(command[1:])
        elif program in _SHELLS and (script := _script_of(command)) is not None and depth < MAX_DEPTH:
            found += _Reader(script, self.folder, self.variables).commands(depth + 1)
            command = []
            if not targets:
                return
        elif program in ("export", "local", "declare", "readonly"):
            for name, _, value in (word.partition("=") for word in command[1:] if "=" in word):
                self.variables[name] = [value]
        elif program in ("[[", "[", "test"):
            targets = []
        found.append(SimpleCommand([program, *command[1:]] if command else [], targets, self.folder))

    def _change_folder(self, expanded: Sequence[str]) -> None:
        to = next((word for word in expanded if word == "-" or not word.startswith("-")), "-")
        self.folder = None if to == "-" or UNKNOWN in to else join_path(self.folder, to)

    def _values(self, word: _Word) -> list[str] | None:
        """Return the values of a word, or None if unknown. Loops and braces give several."""
        parts: list[Sequence[str]] = []
        for piece in word.pieces:
            if isinstance(piece, str):
                parts.append((piece,))
            elif piece is None:
                return None
            elif piece[0] == "HOME":
                parts.append(("~",))
            elif piece[0] == "PWD" and self.folder:
                parts.append((self.folder,))
            elif self.variables.get(piece[0]):
                parts.append(self.variables[piece[0]])
            else:
                return None
        values = ["".join(pieces) for pieces in itertools.islice(itertools.product(*parts), MAX_EXPANSIONS)]
        if _BRACES.search(word.bare):
            values = [one for value in values for one in _expand_braces(value)]
        return values


def _set_connector(found: Sequence[SimpleCommand], connector: str) -> None:
    """Set the connector after the newest command, unless `connector` is a line end and another one is set."""
    if found and (connector != "\n" or not found[-1].then):
        found[-1].then = connector


_QUOTED_END = re.compile(r"[\"\\$`]")
UNKNOWN = "\0"
"""Placeholder for an unknown word."""


def _expand_braces(value: str) -> list[str]:
    done = [value]
    while len(done) < MAX_EXPANSIONS and (first := _BRACES.search(done[0])):
        done = [f"{one[: m.start()]}{choice}{one[m.end() :]}" for one in done if (m := _BRACES.search(one))
                for choice in m[1].split(",")] if first else done  # fmt: skip
    return done


def _without_wrappers(expanded: list[list[str] | None]) -> list[list[str] | None]:
    """Remove wrapper programs: `timeout 60 env A=1 npm test` becomes `npm test`."""
    while expanded and expanded[0] is not None and expanded[0] and posixpath.basename(expanded[0][0]) in _WRAPPERS:
        own = _WRAPPERS[posixpath.basename(expanded.pop(0)[0])]  # type: ignore[index]
        while (
            expanded
            and expanded[0] is not None
            and expanded[0]
            and (expanded[0][0].startswith("-") or _ASSIGNMENT.match(expanded[0][0]))
        ):
            expanded.pop(0)
        del expanded[:own]
    return expanded


def _script_of(command: Sequence[str]) -> str | None:
    """Return the script given to a shell by `-c`, or None."""
    for number, word in enumerate(command[1:-1], 1):
        if word.startswith("-") and word.endswith("c"):
            return command[number + 1]
    return None


def join_path(folder: str | None, path: str) -> str | None:
    if path.startswith(("/", "~")) or path[1:3] in (":/", ":\\"):
        return posixpath.normpath(path)
    return None if folder is None else posixpath.normpath(posixpath.join(folder, path))
