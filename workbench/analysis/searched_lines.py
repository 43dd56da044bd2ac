"""Lines of a text as they are searched for facts: sentences apart from heaps of words, and where a quotation occurs."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from workbench.analysis.sense import sentences_of
from workbench.analysis.sentence_form import is_sentence

LONGEST_LINE = 1_200
"""First characters of a sentence that are compared; longer sentences are data."""

MOST_CANDIDATES = 16
"""Most sentences, and most places of a quotation, that a fact is compared with."""


def lines_and_heaps(texts: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the lines of texts with single spaces, and apart from them the lines that are heaps of bare words. The
    sentences and quotations in a heap are lines, too."""
    flat = (" ".join(line.split()) for text in texts for line in text.split("\n"))
    lines: list[str] = []
    heaps: list[str] = []
    for line in (one for whole in flat if whole for one in _per_file(whole)):
        if not _is_heap(line):
            lines.append(line)
            continue
        # Several short sentences may look like a word list, although each is a sentence.
        heaps.append(line)
        parts = sentences_of(line)
        lines += [part for part in parts if len(parts) > 1 and not _is_heap(part)]
        lines += [part for part in _QUOTED.findall(line) if not _is_heap(part)]
    return lines, heaps


_QUOTED = re.compile(r"[\"“«„]([^\"“”«»„]{8,200})[\"”»“]")


def joined_clauses(line: str) -> list[str]:
    """Return the sentences of a line that have several clauses with a semicolon, undivided."""
    if ";" not in line:
        return []
    return [one for one in _FULL_STOP.split(line) if "; " in one[:LONGEST_JOINED] and len(one) <= LONGEST_JOINED]


_FULL_STOP = re.compile(r"(?<=[.!?])\s+")
LONGEST_JOINED = 400
"""Most characters of a sentence with semicolons that is compared undivided."""


def _per_file(line: str) -> Iterator[str]:
    """Yield one line per file for a line like `- [read] src/: #1 a.py, #2 b.py`; any other line unchanged."""
    if (shared := _FOLDER_LINE.fullmatch(line)) is None:
        yield line
        return
    for name in shared[3].split(", "):
        yield f"{shared[1]}{shared[2] or ''}{name.rpartition(' ')[2]}"


_FOLDER_LINE = re.compile(r"(- \[\w{1,20}\] )(?:(\S{0,400}/): )?(#\d{1,12} \S.*)")


def _is_heap(line: str) -> bool:
    """True for a list of bare words."""
    return len(line) > HEAP_CHARS and line.count(" ") > HEAP_WORDS and not is_sentence(line[:LONGEST_LINE].lower())


HEAP_CHARS, HEAP_WORDS = 60, 10


def line_numbers(needle: str, text: str, starts: Sequence[int]) -> Iterator[int]:
    """Yield the indexes of the lines in which the first `MOST_CANDIDATES` occurrences of `needle` begin. `text` is all
    lines joined by spaces, `starts` the offset of each line."""
    at, line = text.find(needle), -1
    for _ in range(MOST_CANDIDATES):
        if at < 0:
            return
        found = bisect_right(starts, at) - 1
        if found != line:
            yield found
        line, at = found, text.find(needle, at + 1)


def occurrences(needle: str, text: str) -> Iterator[int]:
    """Yield the offsets where a text occurs by itself: not "12 tests" in "112 tests", nor "use npm" in "reuse npm"."""
    at = text.find(needle)
    while at >= 0:
        before, after = text[at - 1 : at] if at else "", text[at + len(needle) : at + len(needle) + 1]
        if not (needle[0].isalnum() and before.isalnum()) and not (needle[-1].isalnum() and after.isalnum()):
            yield at
        at = text.find(needle, at + 1)


def contains(needle: str, text: str) -> bool:
    """True if the text occurs by itself."""
    return any(True for _ in occurrences(needle, text))
