"""What a command line does to files, as its own words tell it: removed, moved, copied, edited in place, redirected to.

A line is read as a POSIX shell reads it: quotes, substitutions, here-documents, `cd`, assignments of literal words and
loops over literal words. What depends on what only the machine knows (a command's output, an unset variable) has no
effect here. Nothing is run, nothing is looked up.
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

EffectKind = Literal["created", "modified", "deleted", "reverted"]

LONGEST = 128 * 1024
"""Of a longer line nothing is told."""

DEEPEST = 16
"""Substitutions within substitutions are followed this far."""

MOST_WORDS = 200
"""So many words may one word with loops and braces in it stand for."""


@dataclass(frozen=True, slots=True)
class Effect:
    """`path` is taken together with the `cd`s before it, and may hold `*` and `?` of a pattern. `program` did it, ""
    for a redirection; `last`: no other command of the line comes after it, so that its failing is the line's."""

    kind: EffectKind
    path: str
    program: str
    last: bool = False


@lru_cache(maxsize=4096)
def effects(line: str) -> tuple[Effect, ...]:
    """What `line` does to files, in order, each once; () for one that only looks. Never raises."""
    if len(line) > LONGEST or not _TOUCHING.search(line):
        return ()
    commands = _commands_of(line)
    found: dict[tuple[EffectKind, str, str], Effect] = {}
    for number, command in enumerate(commands):
        last = number == len(commands) - 1
        for kind, path, program in _done_by(command):
            found[kind, path, program] = Effect(kind, path, program, last)
    return tuple(found.values())


@lru_cache(maxsize=4096)
def views(line: str) -> tuple[str, ...]:
    """The files that `line` shows by their names (`cat a.py`, `sed -n 1,9p b.py`), in order, each once."""
    if len(line) > LONGEST or not _SHOWING.search(line):
        return ()
    found: dict[str, None] = {}
    for command in _commands_of(line):
        rule = _SHOWS.get(command.words[0]) if command.words else None
        for target in rule(command.words[1:]) if rule else ():
            path = _whole(command.folder, target)
            if path and not _PATTERN.search(path):
                found[path] = None
    return tuple(found)


@lru_cache(maxsize=4096)
def is_told(line: str, wanted: Callable[[str], bool]) -> bool:
    """Whether a line that ends with status 0 says by it that its last `wanted` command (asked of a command's words with
    blanks between) succeeded: not behind a pipe without `pipefail`, not before `|| true` and `; echo`."""
    if len(line) > LONGEST:
        return False
    strict = piping = False
    told = True
    for command in _commands_of(line):
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


@lru_cache(maxsize=4096)
def simple_commands(line: str) -> tuple[str, ...]:
    """The simple commands of a line, their words with blanks between: without redirections, assignments, `cd`, and the
    programs that only run another. A word of which nobody can tell what it is stands as `…`."""
    if len(line) > LONGEST:
        return ()
    told = (" ".join(command.words).replace(_UNKNOWN, "…") for command in _commands_of(line))
    return tuple(one for one in told if one and not one.startswith(("cd ", "set ", "export ")))


def _commands_of(line: str) -> list[_Command]:
    commands = _Reader(line).commands(0)
    if commands and commands[-1].then in (";", "\n"):
        commands[-1].then = ""
    return commands


_TOUCHING = re.compile(
    r"(?<![\w.-])(?:rm|rmdir|unlink|mv|cp|ln|mkdir|touch|tee|truncate|git|sed|perl|curl|wget)(?![\w.-])"
    r"|(?<![-=<])>(?!&\d|>?[ ]?/dev/|\()"
)
"""Lines without any of these do nothing to files that we would tell."""


@dataclass(slots=True)
class _Command:
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
_BRACES = re.compile(r"\{([^{}\s]*,[^{}\s]*)\}")
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

    def commands(self, depth: int, closing: str = "") -> list[_Command]:
        """Until the text or what `closing` closes ends."""
        found: list[_Command] = []
        words: list[_Word] = []
        outputs: list[tuple[str, _Word]] = []
        folders: list[str | None] = []
        text = self.text
        while self.at < len(text):
            char = text[self.at]
            if char == "\n":
                self._end(words, outputs, found, depth)
                _join(found, "\n")
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
                _join(found, connector[0])
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
                end = _NEXT.search(self.text, self.at)
                stop = end.start() if end else len(self.text)
                word.pieces.append(self.text[self.at : stop])
                self.at = stop
        self.at += 1

    def _expansion(self, word: _Word, depth: int) -> None:
        """A variable, or what only the machine knows."""
        if self.text.startswith("$((", self.at) and (end := self.text.find("))", self.at)) > 0:
            self.at = end + 2
            word.pieces.append(None)
        elif self.text.startswith("$(", self.at) and depth < DEEPEST:
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

    def _end(self, words: list[_Word], outputs: list[tuple[str, _Word]], found: list[_Command], depth: int) -> None:
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
        given = _unwrapped(given)
        command = [value for values in given for value in (values if values is not None else [_UNKNOWN])]
        if not command and not targets:
            return
        program = posixpath.basename(command[0]) if command else ""
        if program in ("cd", "pushd"):
            self._moved(command[1:])
        elif program in _SHELLS and (script := _script_of(command)) is not None and depth < DEEPEST:
            found += _Reader(script, self.folder, self.variables).commands(depth + 1)
            command = []
            if not targets:
                return
        elif program in ("export", "local", "declare", "readonly"):
            for name, _, value in (word.partition("=") for word in command[1:] if "=" in word):
                self.variables[name] = [value]
        elif program in ("[[", "[", "test"):
            targets = []
        found.append(_Command([program, *command[1:]] if command else [], targets, self.folder))

    def _moved(self, given: Sequence[str]) -> None:
        to = next((word for word in given if word == "-" or not word.startswith("-")), "-")
        self.folder = None if to == "-" or _UNKNOWN in to else _joined(self.folder, to)

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
        values = ["".join(pieces) for pieces in itertools.islice(itertools.product(*parts), MOST_WORDS)]
        if _BRACES.search(word.bare):
            values = [one for value in values for one in _expanded(value)]
        return values


def _join(found: Sequence[_Command], connector: str) -> None:
    """What comes after the newest command; the end of a line says less than what is there already."""
    if found and (connector != "\n" or not found[-1].then):
        found[-1].then = connector


_NEXT = re.compile(r"[\"\\$`]")
_UNKNOWN = "\0"
"""Stands for a word of which nobody can tell what it is."""


def _expanded(value: str) -> list[str]:
    done = [value]
    while len(done) < MOST_WORDS and (first := _BRACES.search(done[0])):
        done = [f"{one[: m.start()]}{choice}{one[m.end() :]}" for one in done if (m := _BRACES.search(one))
                for choice in m[1].split(",")] if first else done  # fmt: skip
    return done


def _unwrapped(given: list[list[str] | None]) -> list[list[str] | None]:
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


def _joined(folder: str | None, path: str) -> str | None:
    if path.startswith(("/", "~")) or path[1:3] in (":/", ":\\"):
        return posixpath.normpath(path)
    return None if folder is None else posixpath.normpath(posixpath.join(folder, path))


Done = Iterator[tuple[EffectKind, str]]


def _done_by(command: _Command) -> Iterator[tuple[EffectKind, str, str]]:
    """Kind, whole path and program of everything a simple command does."""
    for operator, target in command.outputs:
        if operator != ">&" or not target.isdigit():
            path = _whole(command.folder, target)
            if path:
                yield "modified" if operator == ">>" else "created", path, ""
    if not command.words:
        return
    program, *given = command.words
    folder = command.folder
    if program == "git":
        given, folder = _of_git(given, folder)
        program = f"git {given[0]}" if given else ""
        given = given[1:]
    rule = _RULES.get(program)
    for kind, target in rule(given) if rule else ():
        if path := _whole(folder, target):
            yield kind, path, program.split(" ")[0]


def _whole(folder: str | None, target: str) -> str:
    if not target or _UNKNOWN in target or target.startswith(("/dev/", "&", "-")):
        return ""
    return _joined(folder, target) or ""


def _of_git(given: Sequence[str], folder: str | None) -> tuple[list[str], str | None]:
    """A git call without its own options, and where it works."""
    words = list(given)
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option in ("-C", "-c") and words:
            value = words.pop(0)
            if option == "-C":
                folder = None if _UNKNOWN in value else _joined(folder, value)
    return words, folder


def _split(given: Sequence[str], valued: Sequence[str] = ()) -> tuple[set[str], list[str]]:
    """Options and the other words; those of `valued` take a word with them. `--` ends the options."""
    options: set[str] = set()
    others: list[str] = []
    words = iter(given)
    for word in words:
        if word == "--":
            return options, [*others, *words]
        if word.startswith("-") and len(word) > 1:
            options.add(word)
            if word in valued:
                next(words, None)
        else:
            others.append(word)
    return options, others


def _all(kind: EffectKind, *valued: str) -> Callable[[Sequence[str]], Done]:
    return lambda given: ((kind, path) for path in _split(given, valued)[1])


def _target(source: str, to: str, several: bool) -> str:
    """Where a source comes to lie. A folder is known by its slash, its several sources, or by having no ending where
    the source has one."""
    name = posixpath.basename(source.rstrip("/"))
    folder = several or to.endswith("/") or to in (".", "..") or posixpath.basename(to) == ".."
    folder = folder or ("." in name.lstrip(".") and "." not in posixpath.basename(to))
    return posixpath.join(to, name) if folder else to


def _moved(kind: EffectKind | None) -> Callable[[Sequence[str]], Done]:
    """Of `mv` (`kind`: what happens to the sources) and `cp`."""

    def rule(given: Sequence[str]) -> Done:
        options, words = _split(given, ("-S",))
        if "-t" in options and words:
            words = [*words[1:], words[0] + "/"]
        *sources, to = words if len(words) > 1 else ("",)
        for source in sources:
            if kind is not None:
                yield kind, source
            yield "created", _target(source, to, len(sources) > 1)

    return rule


def _tee(given: Sequence[str]) -> Done:
    options, paths = _split(given)
    return (("modified" if options & {"-a", "--append"} else "created", path) for path in paths)


def _in_place(given: Sequence[str], script: Sequence[str], edits: Callable[[str], bool]) -> Done:
    """Files that `sed -i` or `perl -pi` edit: the words behind the script, which may be an option's."""
    words, files = list(given), []
    in_place = scripted = False
    while words:
        word = words.pop(0)
        if word == "--":
            files += words
            break
        if word.startswith("-") and len(word) > 1:
            if edits(word):
                in_place = True
                if words and words[0] == "":
                    words.pop(0)  # the empty ending that BSD's sed wants
            if word in script or (len(word) > 2 and word[1] != "-" and word[-1] in "ef" and "-" + word[-1] in script):
                scripted = True
                words = words[1:]
            scripted = scripted or word.startswith(("--expression=", "--file="))
        else:
            files.append(word)
    return (("modified", path) for path in (files if scripted else files[1:]) if in_place and path)


def _sed(given: Sequence[str]) -> Done:
    script = ("-e", "-f", "--expression", "--file")
    return _in_place(
        given, script, lambda word: word.startswith("--in-place") or re.match(r"-[nErsz]*i", word) is not None
    )


def _perl(given: Sequence[str]) -> Done:
    return _in_place(given, ("-e", "-E"), lambda word: re.match(r"-[0-7lnpw]*i", word) is not None)


def _rm_of_git(given: Sequence[str]) -> Done:
    options, paths = _split(given)
    return (("deleted", path) for path in (() if "--cached" in options else paths))


_FILE = re.compile(r"(?:^|/)[^/]*\w\.[A-Za-z]\w{0,5}$|^\.$")


def _checkout(given: Sequence[str]) -> Done:
    """Of paths, where they are marked by `--` or look like files; a branch is none. A side of a merge, or what another
    commit holds, is new to the file and not what it was before."""
    if any(word in ("-b", "-B", "--orphan", "--detach", "-t", "--track") for word in given):
        return iter(())
    options, words = _split(given)
    if "--" in given:
        marked = list(given[given.index("--") + 1 :])
        other = [word for word in given[: given.index("--")] if not word.startswith("-") and word != "HEAD"]
        kind: EffectKind = "modified" if other or options & {"--theirs", "--ours"} else "reverted"
        return ((kind, path) for path in marked)
    kind = "modified" if options & {"--theirs", "--ours"} else "reverted"
    return ((kind, word) for word in words if _FILE.search(word))


def _restore(given: Sequence[str]) -> Done:
    options, paths = _split(given, ("-s", "--source"))
    if options & {"--staged", "-S"} and not options & {"--worktree", "-W"}:
        return iter(())
    elsewhere = any(option.startswith(("-s", "--source")) for option in options) or options & {"--theirs", "--ours"}
    return (("modified" if elsewhere else "reverted", path) for path in paths)


def _reset(given: Sequence[str]) -> Done:
    return iter([("reverted", ".")] if "--hard" in given and "HEAD" in [*given, "HEAD"][1:2] else [])


def _shown(*valued: str) -> Callable[[Sequence[str]], Sequence[str]]:
    return lambda given: _split(given, valued)[1]


def _shown_by_sed(given: Sequence[str]) -> Sequence[str]:
    options, words = _split(given, ("-e", "-f", "--expression", "--file"))
    if any(re.match(r"-[nErsz]*i|--in-place", option) for option in options):
        return ()
    return words if options & {"-e", "-f", "--expression", "--file"} else words[1:]


_SHOWING = re.compile(r"(?<![\w.-])(?:cat|head|tail|nl|less|more|bat|batcat|sed|tac)(?![\w.-])")
_PATTERN = re.compile(r"[*?]|^\d+$")
_SHOWS: Mapping[str, Callable[[Sequence[str]], Sequence[str]]] = {
    "cat": _shown(),
    "tac": _shown(),
    "nl": _shown("-b", "-w", "-s", "-v"),
    "less": _shown(),
    "more": _shown(),
    "bat": _shown("-r", "--line-range", "-l"),
    "batcat": _shown("-r", "--line-range", "-l"),
    "head": _shown("-n", "-c"),
    "tail": _shown("-n", "-c"),
    "sed": _shown_by_sed,
}


def _saved(option: str) -> Callable[[Sequence[str]], Done]:
    """What a download is saved as."""
    return lambda given: (
        ("created", path) for word, path in itertools.pairwise(given) if word in (option, "--output") and path != "-"
    )


_RULES: Mapping[str, Callable[[Sequence[str]], Done]] = {
    "rm": _all("deleted"),
    "rmdir": _all("deleted"),
    "unlink": _all("deleted"),
    "mkdir": _all("created", "-m"),
    "touch": _all("created", "-d", "-r", "-t"),
    "truncate": _all("modified", "-s", "-r"),
    "mv": _moved("deleted"),
    "cp": _moved(None),
    "ln": _moved(None),
    "tee": _tee,
    "sed": _sed,
    "perl": _perl,
    "curl": _saved("-o"),
    "wget": _saved("-O"),
    "git rm": _rm_of_git,
    "git mv": _moved("deleted"),
    "git checkout": _checkout,
    "git restore": _restore,
    "git reset": _reset,
}
