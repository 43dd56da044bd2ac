"""Effects of a command line on files: removed, moved, copied, edited in place, written by redirection.

`workbench.facts.shell_lines` parses the line. Words whose value only the machine knows have no effect here.
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from workbench.base.session_caches import session_cache
from workbench.facts.shell_lines import UNKNOWN, SimpleCommand, commands_of, join_path

EffectKind = Literal["created", "modified", "deleted", "reverted"]


class Effect(Struct, frozen=True):
    """An effect on `path`, which includes preceding `cd`s and may hold `*` and `?`. `program` is "" for a redirection.
    `last`: the last command of the line has this effect, so the line fails if the command fails."""

    kind: EffectKind
    path: str
    program: str
    last: bool = False


@session_cache(4096)
def effects(line: str) -> tuple[Effect, ...]:
    """Return the effects of `line` on files in order, each once; () for a read-only line. Never raises."""
    commands = commands_of(line)
    found: dict[tuple[EffectKind, str, str], Effect] = {}
    for command in commands:
        for kind, path, program in _effects_of(command):
            found[kind, path, program] = Effect(kind, path, program, command is commands[-1])
    return tuple(found.values())


@session_cache(4096)
def views(line: str) -> tuple[str, ...]:
    """Return the files that `line` shows by name (`cat a.py`, `sed -n 1,9p b.py`) in order, each once."""
    found: dict[str, None] = {}
    for command in commands_of(line):
        program, arguments, folder = program_of(command)
        rule = _VIEWERS.get(program)
        for target in rule(arguments) if rule else ():
            path = _resolved(folder, target)
            if path and not _PATTERN.search(path):
                found[path] = None
    return tuple(found)


Effects = Iterator[tuple[EffectKind, str]]


def _effects_of(command: SimpleCommand) -> Iterator[tuple[EffectKind, str, str]]:
    """Yield kind, full path and program of each effect of a simple command."""
    for operator, target in command.outputs:
        if operator != ">&" or not target.isdigit():
            path = _resolved(command.folder, target)
            if path:
                yield "modified" if operator == ">>" else "created", path, ""
    program, arguments, folder = program_of(command)
    rule = _RULES.get(program)
    for kind, target in rule(arguments) if rule else ():
        if path := _resolved(folder, target):
            yield kind, path, program.split(" ")[0]


def program_of(command: SimpleCommand) -> tuple[str, Sequence[str], str | None]:
    """Return the program (`git show` as one), its arguments, and the folder it runs in; "" without a program."""
    program, arguments, folder = next(iter(command.words), ""), command.words[1:], command.folder
    if program != "git":
        return program, arguments, folder
    arguments, folder = _without_git_options(arguments, folder)
    return (f"git {arguments[0]}" if arguments else ""), arguments[1:], folder


def _resolved(folder: str | None, target: str) -> str:
    if not target or UNKNOWN in target or target.startswith(("/dev/", "&", "-")):
        return ""
    return join_path(folder, target) or ""


def _without_git_options(arguments: Sequence[str], folder: str | None) -> tuple[list[str], str | None]:
    """Return a git call without git's own options, and the folder it works in."""
    words = list(arguments)
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option in ("-C", "-c") and words:
            value = words.pop(0)
            if option == "-C":
                folder = None if UNKNOWN in value else join_path(folder, value)
    return words, folder


def _split_options(arguments: Sequence[str], valued: Sequence[str] = ()) -> tuple[set[str], list[str]]:
    """Split arguments into options and other words. Options in `valued` take one argument; `--` ends the options."""
    options: set[str] = set()
    others: list[str] = []
    words = iter(arguments)
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


def _each_path(kind: EffectKind, *valued: str) -> Callable[[Sequence[str]], Effects]:
    return lambda arguments: ((kind, path) for path in _split_options(arguments, valued)[1])


def _target_path(source: str, to: str, several: bool) -> str:
    """Return the path to which a source is moved or copied. The target is a folder if it ends with a slash, has several
    sources, or has no extension while the source has one."""
    name = posixpath.basename(source.rstrip("/"))
    folder = several or to.endswith("/") or posixpath.basename(to) in (".", "..")
    folder = folder or ("." in name.lstrip(".") and "." not in posixpath.basename(to))
    return posixpath.join(to, name) if folder else to


def _moves_or_copies(kind: EffectKind | None) -> Callable[[Sequence[str]], Effects]:
    """Return the rule for `mv` (`kind` is the effect on the sources) or `cp` (None)."""

    def rule(arguments: Sequence[str]) -> Effects:
        options, words = _split_options(arguments, ("-S",))
        if "-t" in options and words:
            words = [*words[1:], words[0] + "/"]
        *sources, to = words if len(words) > 1 else ("",)
        for source in sources:
            if kind is not None:
                yield kind, source
            yield "created", _target_path(source, to, len(sources) > 1)

    return rule


def _tee(arguments: Sequence[str]) -> Effects:
    options, paths = _split_options(arguments)
    return (("modified" if options & {"-a", "--append"} else "created", path) for path in paths)


def _files_after_script(
    arguments: Sequence[str], script: Sequence[str], edits: re.Pattern[str]
) -> tuple[bool, list[str]]:
    """Return whether `sed` or `perl` edits its files in place, and the files: the arguments after the script, or all if
    an option gives the script."""
    words, files = list(arguments), list[str]()
    in_place = scripted = False
    while words:
        word = words.pop(0)
        if word == "--":
            files += words
            break
        if word.startswith("-") and len(word) > 1:
            if edits.match(word):
                in_place = True
                if words and words[0] == "":
                    words.pop(0)  # empty suffix that BSD sed requires
            if word in script or (len(word) > 2 and word[1] != "-" and word[-1] in "ef" and "-" + word[-1] in script):
                scripted = True
                words = words[1:]
            scripted = scripted or word.startswith(("--expression=", "--file="))
        else:
            files.append(word)
    return in_place, files if scripted else files[1:]


_SED = (("-e", "-f", "--expression", "--file"), re.compile(r"-[nErsz]*i|--in-place"))
_PERL = (("-e", "-E"), re.compile(r"-[0-7lnpw]*i"))
"""Options that give a script, and those that edit in place."""


def _edits_in_place(script: Sequence[str], edits: re.Pattern[str]) -> Callable[[Sequence[str]], Effects]:
    def rule(arguments: Sequence[str]) -> Effects:
        in_place, files = _files_after_script(arguments, script, edits)
        return (("modified", path) for path in files if in_place)

    return rule


def _git_rm(arguments: Sequence[str]) -> Effects:
    return iter(()) if "--cached" in arguments else _each_path("deleted")(arguments)


_FILE = re.compile(r"(?:^|/)[^/]*\w\.[A-Za-z]\w{0,5}$|^\.$")


def _checkout(arguments: Sequence[str]) -> Effects:
    """Yield the paths that `git checkout` restores: those after `--`, else words that look like files and not like
    branches. One side of a merge, or another commit's version, modifies the file instead of restoring it."""
    before = [*itertools.takewhile("--".__ne__, arguments)]
    options, words = _split_options(before)
    if options & {"-b", "-B", "--orphan", "--detach", "-t", "--track"}:
        return iter(())
    marked = arguments[len(before) + 1 :]
    elsewhere = options & {"--theirs", "--ours"} or (marked and any(word != "HEAD" for word in words))
    paths = marked or [word for word in words if _FILE.search(word)]
    return (("modified" if elsewhere else "reverted", path) for path in paths)


def _restore(arguments: Sequence[str]) -> Effects:
    options, paths = _split_options(arguments, ("-s", "--source"))
    if options & {"--staged", "-S"} and not options & {"--worktree", "-W"}:
        return iter(())
    elsewhere = any(option.startswith(("-s", "--source")) for option in options) or options & {"--theirs", "--ours"}
    return (("modified" if elsewhere else "reverted", path) for path in paths)


def _reset(arguments: Sequence[str]) -> Effects:
    return iter([("reverted", ".")] if "--hard" in arguments and "HEAD" in [*arguments, "HEAD"][1:2] else [])


def _paths_shown(*valued: str) -> Callable[[Sequence[str]], Sequence[str]]:
    return lambda arguments: _split_options(arguments, valued)[1]


def _shown_by_sed(arguments: Sequence[str]) -> Sequence[str]:
    in_place, files = _files_after_script(arguments, *_SED)
    return () if in_place else files


def _paths_in_commit(arguments: Sequence[str]) -> Sequence[str]:
    """Return the paths in arguments such as `main:src/a.py` of `git show`."""
    return [path for _, colon, path in (word.partition(":") for word in _split_options(arguments)[1]) if colon]


_PATTERN = re.compile(r"[*?]|^\d+$")
_VIEWERS: Mapping[str, Callable[[Sequence[str]], Sequence[str]]] = {
    "cat": _paths_shown(),
    "tac": _paths_shown(),
    "nl": _paths_shown("-b", "-w", "-s", "-v"),
    "less": _paths_shown(),
    "more": _paths_shown(),
    "bat": _paths_shown("-r", "--line-range", "-l"),
    "batcat": _paths_shown("-r", "--line-range", "-l"),
    "head": _paths_shown("-n", "-c"),
    "tail": _paths_shown("-n", "-c"),
    "sed": _shown_by_sed,
    "git show": _paths_in_commit,
}


def _saves_download(option: str) -> Callable[[Sequence[str]], Effects]:
    """Return the rule for the file that a download is saved as."""
    return lambda arguments: (
        ("created", path)
        for word, path in itertools.pairwise(arguments)
        if word in (option, "--output") and path != "-"
    )


_RULES: Mapping[str, Callable[[Sequence[str]], Effects]] = {
    "rm": _each_path("deleted"),
    "rmdir": _each_path("deleted"),
    "unlink": _each_path("deleted"),
    "mkdir": _each_path("created", "-m"),
    "touch": _each_path("created", "-d", "-r", "-t"),
    "truncate": _each_path("modified", "-s", "-r"),
    "mv": _moves_or_copies("deleted"),
    "cp": _moves_or_copies(None),
    "ln": _moves_or_copies(None),
    "tee": _tee,
    "sed": _edits_in_place(*_SED),
    "perl": _edits_in_place(*_PERL),
    "curl": _saves_download("-o"),
    "wget": _saves_download("-O"),
    "git rm": _git_rm,
    "git mv": _moves_or_copies("deleted"),
    "git checkout": _checkout,
    "git restore": _restore,
    "git reset": _reset,
}
