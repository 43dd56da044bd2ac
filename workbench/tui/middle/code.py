"""Code in colours, line by line as it is looked at: what a page costs does not grow with the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import PurePath
from typing import Any

LONGEST = 200
"""Characters of a line that are coloured: a page of minified code, too, is lexed in no more than a frame or two."""

AHEAD = 80
"""Lines that are lexed on from where the last page ended. Further off lexing starts anew, a little before the page,
and takes no notice of what was open before, such as a comment of many lines."""

BEFORE = 10

STRETCH = 1_000
"""Lines that are lexed as one text. A million characters would take milliseconds only to be put together."""

LANGUAGES = {
    "bash": "bash sh zsh shell console",
    "c": "c h",
    "cpp": "cpp cc cxx hpp c++",
    "csharp": "cs c# csharp",
    "css": "css scss less",
    "diff": "diff patch",
    "docker": "dockerfile",
    "go": "go golang",
    "html": "html htm vue svelte",
    "ini": "ini cfg conf",
    "java": "java",
    "javascript": "js mjs cjs jsx javascript",
    "json": "json jsonc jsonl json5",
    "kotlin": "kt kts kotlin",
    "lua": "lua",
    "make": "makefile mk",
    "php": "php",
    "python": "py pyi python python3 py3",
    "ruby": "rb ruby gemspec",
    "rust": "rs rust",
    "scala": "scala sc",
    "sql": "sql",
    "swift": "swift",
    "toml": "toml",
    "tsx": "tsx",
    "typescript": "ts mts cts typescript",
    "xml": "xml svg xsd",
    "yaml": "yaml yml",
}
_BY_NAME = {name: language for language, names in LANGUAGES.items() for name in names.split()}

_LEAD = re.compile(r" *\d+(?:→| {2,4}| *[|│:] ?)|[▸▾] ")
"""What stands before a line of code and is none: its number as tools print it, or the sign of a fold."""

Run = tuple[int, int, str]
"""From, to, and the name of a style of `STYLES`."""

STYLES = ("keyword", "name", "string", "number", "comment", "lead")


def language_of(name: str) -> str:
    """The language of a file by its name, or of a fence by its word; "" where it is not known."""
    path = PurePath(name.strip().lower())
    return _BY_NAME.get(path.suffix[1:]) or _BY_NAME.get(path.name, "")


@cache
def lexer(language: str) -> Any:
    """A lexer whose rules are compiled. The first of a language takes tens of milliseconds: ask for it in a thread."""
    from pygments.lexers import get_lexer_by_name

    found = get_lexer_by_name(language)
    for _ in found.get_tokens_unprocessed("a\n"):
        pass
    return found


@cache
def _style_of(token: Any) -> str:
    """The style for a kind of token, "" for what stays as it is."""
    from pygments.token import Comment, Generic, Keyword, Literal, Name, Number, Operator, String

    kinds = (
        (Comment, "comment"),
        (String, "string"),
        (Number, "number"),
        (Literal, "number"),
        (Keyword, "keyword"),
        (Operator.Word, "keyword"),
        (Name.Function, "name"),
        (Name.Class, "name"),
        (Name.Decorator, "name"),
        (Name.Tag, "name"),
        (Name.Builtin, "name"),
        (Generic.Inserted, "string"),
        (Generic.Deleted, "keyword"),
        (Generic.Heading, "name"),
        (Generic.Subheading, "name"),
    )
    return next((style for kind, style in kinds if token in kind), "")


class Coloured:
    """The lines of a text in one language; `runs` colours one, and goes on from the line before where it can."""

    def __init__(self, lines: Sequence[str], language: str) -> None:
        self._lines = lines
        self._language = language
        self._done: dict[int, tuple[Run, ...]] = {}
        self._lexing: Iterator[tuple[int, tuple[Run, ...]]] = iter(())
        self._at = -AHEAD - 1
        self._end = 0

    def runs(self, number: int) -> tuple[Run, ...]:
        """The coloured stretches of line `number`."""
        if number not in self._done:
            if not self._at < number <= min(self._at + AHEAD, self._end):
                first = max(0, number - BEFORE)
                self._lexing, self._end = self._lex(first), first + STRETCH - 1
            for line, runs in self._lexing:
                self._at = line
                self._done.setdefault(line, runs)
                if line >= number:
                    break
        return self._done.get(number, ())

    def _lex(self, first: int) -> Iterator[tuple[int, tuple[Run, ...]]]:
        """Each line from `first` on with its runs."""
        lines = self._lines[first : first + STRETCH]
        leads = [found.end() if (found := _LEAD.match(line)) else 0 for line in lines]
        code = "\n".join(line[lead:LONGEST] for line, lead in zip(lines, leads, strict=True))
        runs: list[Run] = []
        number, column = 0, leads[0]
        for _, kind, text in lexer(self._language).get_tokens_unprocessed(code):
            style = _style_of(kind)
            for ended, piece in enumerate(text.split("\n")):
                if ended:
                    yield first + number, (*_lead(leads[number]), *runs)
                    number += 1
                    runs, column = [], leads[number]
                if style and piece:
                    runs.append((column, column + len(piece), style))
                column += len(piece)
        yield first + number, (*_lead(leads[number]), *runs)


def _lead(width: int) -> tuple[Run, ...]:
    return ((0, width, "lead"),) if width else ()
