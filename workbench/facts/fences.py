"""Fenced code in texts that a model or a person wrote.

As CommonMark has it, but for the indentation: models write fences in nested lists with five spaces and more before
them, which Markdown takes for something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

_FENCE = re.compile(
    r"^[ \t]*(?P<mark>(?P<sign>[`~])(?P=sign){2,})[ \t]*(?P<word>[^\s`]*)[^\n`]*(?:\n|\Z)"
    r"(?P<code>.*?)(?:^[ \t]*(?P=mark)(?P=sign)*[ \t\r]*(?:\n|\Z)|\Z)",
    re.MULTILINE | re.DOTALL,
)


class Fence(Struct, frozen=True):
    """Whole lines `text[start:stop]`, between their marks the code `text[body:end]`; `word` says its language, or "".

    A fence that nothing closes goes to the end of the text.
    """

    start: int
    body: int
    end: int
    stop: int
    word: str


def fences(text: str) -> Iterator[Fence]:
    """All of them in order; none lies in another one."""
    if "```" in text or "~~~" in text:
        for found in _FENCE.finditer(text):
            yield Fence(found.start(), *found.span("code"), found.end(), found["word"])


def without_fences(text: str) -> str:
    kept, at = [], 0
    for fence in fences(text):
        kept.append(text[at : fence.start])
        at = fence.stop
    return "".join(kept) + text[at:]
