"""Code in colours, line by line on demand, so that the cost of a page does not depend on the length of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import PurePath
from typing import Any

LONGEST = 200
"""Characters of a line that are coloured, so that a page of minified code is lexed within a frame or two."""

AHEAD = 80
"""Lexing continues from the last coloured line to a page that begins at most this many lines after it. For any other
page it starts `BEFORE` lines before the page, and does not know of a comment or string that is open there."""

BEFORE = 10

STRETCH = 1_000
"""Most lines that are lexed as one text: joining a million characters alone would take milliseconds."""

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
"""Prefix of a line that is not code: a line number as tools print it, or the sign of a fold."""

Run = tuple[int, int, str]
"""Start, stop, and the name of a style of `STYLES`."""

STYLES = ("keyword", "name", "string", "number", "comment", "lead")


def language_of(name: str) -> str:
    """Language of a file name or of a fence's info word; "" if unknown."""
    path = PurePath(name.strip().lower())
    return _BY_NAME.get(path.suffix[1:]) or _BY_NAME.get(path.name, "")


@cache
def lexer(language: str) -> Any:
    """Lexer with compiled rules. The first call for a language takes tens of milliseconds: make it in a thread."""
    from pygments.lexers import get_lexer_by_name

    found = get_lexer_by_name(language)
    for _ in found.get_tokens_unprocessed("a\n"):
        pass
    return found


@cache
def _style_of(token: Any) -> str:
    """Style of a kind of token, "" for none."""
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


class CodeHighlighter:
    """Lines of a text in one language; `runs` colours one and continues from the line before if it can."""

    def __init__(self, lines: Sequence[str], language: str) -> None:
        self._lines = lines
        self._language = language
        self._done: dict[int, tuple[Run, ...]] = {}
        self._lexing: Iterator[tuple[int, tuple[Run, ...]]] = iter(())
        self._at = -AHEAD - 1
        self._end = 0

    def runs(self, number: int) -> tuple[Run, ...]:
        """Coloured runs of line `number`."""
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
        """Yield each line from `first` on with its runs."""
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
