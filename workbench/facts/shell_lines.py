"""A command line read as a POSIX shell reads it: quotes, substitutions, here-documents, `cd`, assignments of literal
words and loops over literal words. What depends on what only the machine knows (a command's output, an unset variable)
stands as an unknown word. Nothing is run, nothing is looked up. Linear in the line.
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.base.session_caches import session_cache

MAX_LINE_CHARS = 128 * 1024
"""Of a longer line nothing is told."""

MAX_DEPTH = 16
"""Substitutions within substitutions are followed this far."""

MAX_ARITHMETIC_CHARS = 400
"""An arithmetic expression is no longer."""

MAX_EXPANSIONS = 200
"""So many words may one word with loops and braces in it stand for."""


@session_cache(4096)
def status_covers(line: str, wanted: Callable[[str], bool]) -> bool:
    """Whether a line that ends with status 0 says by it that its last `wanted` command (asked of a command's words with
    blanks between) succeeded: not behind a pipe without `pipefail`, not before `|| true` and `; echo`."""
    if len(line) > MAX_LINE_CHARS:
        return False
    strict = piping = False
    told = True
    for command in commands_of(line):
        if command.words[:1] == ["set"]:
            strict = strict or any(word.startswith("-") and "e" in word for word in command.words[1:])
            piping = piping or "pipefail" in command.words
        elif wanted(" ".join(command.words)):
            told = True
        told = told and (
            command.then in ("", "&&")
            or (command.then in (";", "\n") and strict)
            or (command.then in ("|", "|&") and piping)
        )
    return told


@session_cache(4096)
def simple_commands(line: str) -> tuple[str, ...]:
    """The simple commands of a line, their words with blanks between: without redirections, assignments, `cd`, and the
    programs that only run another. A word of which nobody can tell what it is stands as `…`."""
    if len(line) > MAX_LINE_CHARS:
        return ()
    told = (" ".join(command.words).replace(UNKNOWN, "…") for command in commands_of(line))
    return tuple(one for one in told if one and not one.startswith(("cd ", "set ", "export ")))


def commands_of(line: str) -> list[SimpleCommand]:
    commands = _Reader(line).commands(0)
    if commands and commands[-1].then in (";", "\n"):
        commands[-1].then = ""
    return commands


@dataclass(slots=True)
class SimpleCommand:
    """A simple command: its words, its output redirections as (operator, target), where it runs ("" where the line
    began, None where nobody can tell), and what joins it to the next."""

    words: list[str]
    outputs: list[tuple[str, str]]
    folder: str | None
    then: str = ""


@dataclass(slots=True)
class _Word:
    """A word as the pieces that it is put together from: text, or a variable's name; None for what cannot be known."""

    pieces: list[str | tuple[str] | None] = field(default_factory=list)
    quoted: bool = False
    bare: str = ""
    """The word without its quoted parts: braces in it are expanded."""


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
"""Programs that run the one after them, and how many words of their own come between."""
_SHELLS = frozenset(("bash", "sh", "zsh", "dash"))


class _Reader:
    """Reads a line into its simple commands, from left to right."""

    def __init__(
        self, text: str, folder: str | None = "", variables: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        self.text = text
        self.at = 0
        self.folder = folder
        self.variables: dict[str, Sequence[str]] = dict(variables or {})
        self.awaited: list[tuple[str, bool]] = []

    def commands(self, depth: int, closing: str = "") -> list[SimpleCommand]:
        """Until the text or what `closing` closes ends."""
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
                self.awaited.append((named[1] or named[2] or named[3] or "", operator == "<<-"))
            return
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1
        if self.at < len(self.text) and self.text[self.at] not in "\n|&;()":
            target = self._word(depth)
            if operator.startswith(">"):
                outputs.append((operator, target))

    def _skip_heredocs(self) -> None:
        for name, indented in self.awaited:
            while self.at < len(self.text):
                end = self._line_end()
                line = self.text[self.at : end].rstrip("\r")
                self.at = min(end + 1, len(self.text))
                if (line.lstrip("\t") if indented else line) == name:
                    break
        self.awaited.clear()

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
        """A variable, or what only the machine knows."""
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
        """The command ends here: its words are what they stand for by now."""
        given = [self._values(word) for word in words]
        targets = [(operator, value) for operator, word in outputs for value in self._values(word) or ()]
        words.clear()
        outputs.clear()
        while given and given[0] and given[0][0] in _RESERVED:
            given.pop(0)
        if given and given[0] == ["for"] and len(given) > 3 and given[1] and given[2] == ["in"]:
            self.variables[given[1][0]] = [value for values in given[3:] for value in values or ()]
            return
        while given and given[0] and _ASSIGNMENT.match(given[0][0]):
            name, _, value = given.pop(0)[0].partition("=")  # type: ignore[index]
            self.variables[name.rstrip("+")] = [value]
        while given and given[0] is None and not targets:
            given.pop(0)
        given = _without_wrappers(given)
        command = [value for values in given for value in (values if values is not None else [UNKNOWN])]
        if not command and not targets:
            return
        program = posixpath.basename(command[0]) if command else ""
        if program in ("cd", "pushd"):
            self._moved(command[1:])
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

    def _moved(self, given: Sequence[str]) -> None:
        to = next((word for word in given if word == "-" or not word.startswith("-")), "-")
        self.folder = None if to == "-" or UNKNOWN in to else join_path(self.folder, to)

    def _values(self, word: _Word) -> list[str] | None:
        """What the word stands for: one value, or several by loops and braces; None where nobody can tell."""
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
    """What comes after the newest command; the end of a line says less than what is there already."""
    if found and (connector != "\n" or not found[-1].then):
        found[-1].then = connector


_QUOTED_END = re.compile(r"[\"\\$`]")
UNKNOWN = "\0"
"""Stands for a word of which nobody can tell what it is."""


def _expand_braces(value: str) -> list[str]:
    done = [value]
    while len(done) < MAX_EXPANSIONS and (first := _BRACES.search(done[0])):
        done = [f"{one[: m.start()]}{choice}{one[m.end() :]}" for one in done if (m := _BRACES.search(one))
                for choice in m[1].split(",")] if first else done  # fmt: skip
    return done


def _without_wrappers(given: list[list[str] | None]) -> list[list[str] | None]:
    """A command without the programs that only run it: `timeout 60 env A=1 npm test` is `npm test`."""
    while given and given[0] is not None and given[0] and posixpath.basename(given[0][0]) in _WRAPPERS:
        own = _WRAPPERS[posixpath.basename(given.pop(0)[0])]  # type: ignore[index]
        while (
            given
            and given[0] is not None
            and given[0]
            and (given[0][0].startswith("-") or _ASSIGNMENT.match(given[0][0]))
        ):
            given.pop(0)
        del given[:own]
    return given


def _script_of(command: Sequence[str]) -> str | None:
    """The script that a shell is given as a word."""
    for number, word in enumerate(command[1:-1], 1):
        if word.startswith("-") and word.endswith("c"):
            return command[number + 1]
    return None


def join_path(folder: str | None, path: str) -> str | None:
    if path.startswith(("/", "~")) or path[1:3] in (":/", ":\\"):
        return posixpath.normpath(path)
    return None if folder is None else posixpath.normpath(posixpath.join(folder, path))
