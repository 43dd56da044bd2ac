"""Fenced code blocks in texts of a model or a user.

Follows CommonMark except for the indentation of backticks: models indent fences in nested lists by five or more spaces,
which CommonMark does not accept as fences. Tildes with such an indentation are compilers' marks, not fences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

_FENCE = re.compile(
    r"^(?:[ \t]*(?=`)| {0,3}(?=~))(?P<mark>(?P<sign>[`~])(?P=sign){2,})[ \t]*(?P<word>[^\s`]*)[^\n`]*(?:\n|\Z)"
    r"(?P<code>.*?)(?:^[ \t]*(?P=mark)(?P=sign)*[ \t\r]*(?:\n|\Z)|\Z)",
    re.MULTILINE | re.DOTALL,
)


class Fence(Struct, frozen=True):
    """Complete lines `text[start:stop]` with the code `text[body:end]`; `word` is the language, or "".

    An unclosed fence extends to the end of the text.
    """

    start: int
    body: int
    end: int
    stop: int
    word: str


def fences(text: str) -> Iterator[Fence]:
    """Yield the fences of `text` in order; they are not nested."""
    if "```" in text or "~~~" in text:
        for found in _FENCE.finditer(text):
            yield Fence(found.start(), *found.span("code"), found.end(), found["word"])


def without_fences(text: str) -> str:
    parts, at = [], 0
    for fence in fences(text):
        parts.append(text[at : fence.start])
        at = fence.stop
    return "".join(parts) + text[at:]


def closing_line(cut: str) -> str:
    """Return the line that closes the fence left open at the end of `cut`, or ""."""
    last = next((fence for fence in reversed([*fences(cut)]) if fence.stop == fence.end), None)
    return cut[last.start : last.body].split()[0].removesuffix(last.word) + "\n" if last else ""
