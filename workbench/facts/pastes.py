"""Passages of a user's text: typed by the user, or pasted (code, program output, documents).

Pastes are not marked, so every line has a weight: positive for what programs write and people do not (stack frames, log
times, prompts, columns, code, labels that begin several lines), negative for prose, most of all in the first person.
The lines are divided so that the sum of the weights of pasted lines is greatest; each border costs nearly what a line
of output weighs. So a single line of output is a quotation, two are a paste, and a sentence between two pastes is
typed. A line that begins or ends a paste may have typed text before or after it. Prose is pasted in three cases only:
lines that a terminal wrapped, a long Markdown document after a line that ends with a colon, and the middle of a text
that is longer than anybody types.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from msgspec import Struct

from workbench.base.session_caches import session_cache
from workbench.facts.fences import closing_line, fences
from workbench.facts.pasted_lines import (
    JUDGED_CHARS,
    SHELL,
    PassageKind,
    judge,
    label,
    paste_begin,
    says_i,
    typed_tail,
)

LONGEST_TYPED = 8_000
"""Length above which a piece of prose counts as a document between two typed ends, in characters."""

HEAD, TAIL = 2_000, 1_000
"""Lengths of the two ends of a longer piece that count as typed, in characters; both are cut at a paragraph."""

MOST_TYPED = 32_000
"""Maximum typed length of a message, in characters; three quarters of it at the beginning. This is four times the
longest typed text in the public sessions. Typed text beyond it counts as a document."""

_LONG = 400
"""Length from which a line may be cut anywhere, in characters."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Passage `text[start:stop]` of a user's text; `sort` is `own` for typed text. `source` names where a paste is
    from: the command in its prompt, its file or its title; "" if it does not say."""

    start: int
    stop: int
    sort: PassageKind
    source: str = ""

    @property
    def own(self) -> bool:
        return self.sort == "own"

    @property
    def size(self) -> int:
        """Length in characters."""
        return self.stop - self.start


@session_cache(64)
def passages(text: str) -> tuple[Passage, ...]:
    """Return the passages of `text` in order. Together they cover it, and neighbours differ in kind. Linear; cached,
    because several callers ask for the same messages."""
    parts: list[Passage] = []
    at = 0
    document, rest = _announced(text)
    for fence in fences(text[:document]):
        parts += _unfenced(text, at, fence.start)
        parts.append(Passage(fence.start, fence.stop, "code"))
        at = fence.stop
    parts += [*_unfenced(text, at, document), Passage(document, rest, "document"), Passage(rest, len(text), "own")]
    whole = _merged(_within_typed_limit(parts))
    return tuple(one if one.own else replace(one, source=_source(text, one)) for one in whole)


def _within_typed_limit(parts: Sequence[Passage]) -> Iterator[Passage]:
    """Yield the passages; typed ones outside the first three quarters and the last quarter of `MOST_TYPED` typed
    characters become documents."""
    total, before = sum(one.size for one in parts if one.own), 0
    for one in parts:
        size = one.size if one.own else 0
        is_near = before + size <= MOST_TYPED * 3 // 4 or total - before <= MOST_TYPED // 4
        yield one if not one.own or total <= MOST_TYPED or is_near else replace(one, sort="document")
        before += size


def without_paste(text: str) -> str:
    """Return the typed part of a text."""
    return "".join(text[one.start : one.stop] for one in passages(text) if one.own)


def shorten_pastes(text: str, room: int, note: Callable[[Passage], str]) -> str:
    """Return `text` with every paste longer than `room` characters cut to its first complete lines within `room`,
    followed by `note` on a line of its own. A paste of long lines is cut within a line. A cut fence is closed."""
    parts: list[str] = []
    for one in passages(text):
        words = text[one.start : one.stop]
        if one.own or len(words) <= room:
            parts.append(words)
            continue
        head = words[: words.rfind("\n", 0, room) + 1]
        next_line = words[len(head) : len(head) + _LONG + 1]
        if len(next_line) > _LONG and "\n" not in next_line and len(head) < room:
            head = f"{words[:room]}\n"
        parts.append(f"{head}{note(one)}\n{closing_line(head)}")
    return "".join(parts)


def _merged(parts: Iterable[Passage]) -> Iterator[Passage]:
    for sort, run in groupby((one for one in parts if one.start < one.stop), key=lambda one: one.sort):
        neighbours = [*run]
        yield Passage(neighbours[0].start, neighbours[-1].stop, sort)


BORDER, BORDER_AT_BLANK = 5, 3
"""Costs of a border between typed and pasted lines, and of one at a blank line."""

LONE = 600
"""Length from which a single line of a program or of code is a paste, in characters."""

FEWEST_LABELLED = 4
"""Fewest lines with the same label."""


class _WeighedLine(Struct, frozen=True):
    """Line `text[start:stop]`, its weight and the kind of paste that it speaks for ("own" for none)."""

    start: int
    stop: int
    weight: int
    sort: PassageKind
    is_blank: bool = False


def _unfenced(text: str, start: int, stop: int) -> Iterator[Passage]:
    """Yield the passages of a part without fences: pasted runs of lines, and the text between them."""
    lines = [*_lines(text, start, stop)]
    for is_pasted, run in groupby(zip(lines, _division(lines), strict=True), key=lambda one: one[1]):
        if is_pasted:
            found = [line for line, _ in run]
            sorts = Counter(line.sort for line in found if line.weight > 0)
            last = max(found[-1].start, found[-1].stop - JUDGED_CHARS)
            end = last + typed_tail(text[last : found[-1].stop])
            yield from _prose_passages(text, start, found[0].start)
            yield Passage(found[0].start, end, "output" if sorts["output"] > 1 else sorts.most_common(1)[0][0])
            start = end
    yield from _prose_passages(text, start, stop)


def _lines(text: str, start: int, stop: int) -> Iterator[_WeighedLine]:
    """Yield the lines; a line in which a paste follows typed words is split in two."""
    labels = Counter(filter(None, map(label, text[start:stop].split("\n"))))
    before, line = "", _beginning(text, start, stop)
    while start < stop:
        end = text.find("\n", start, stop) + 1 or stop
        after = _beginning(text, end, stop)
        if gap := paste_begin(line, after):
            yield _WeighedLine(start, start + gap, *judge(line[:gap], before, ""))
            start, line = start + gap, line[gap:]
        weight, sort = (
            judge(line, before, after, labels[label(line)] >= FEWEST_LABELLED) if line.strip() else (0, "own")
        )
        weight += 2 * BORDER if weight > 0 and end - start >= LONE else 0
        yield _WeighedLine(start, end, weight, sort, not line.strip())
        before, line, start = line, after, end


def _beginning(text: str, start: int, stop: int) -> str:
    """Return the judged beginning of the line at `start`."""
    return text[start : min(text.find("\n", start, stop) + 1 or stop, start + JUDGED_CHARS)].rstrip("\n")


def _division(lines: Sequence[_WeighedLine]) -> list[bool]:
    """Return for each line whether it is pasted: the division with the greatest sum of the weights of pasted lines less
    the costs of the borders. The text begins and ends typed."""
    own, pasted, is_blank = 0, -(1 << 40), False
    steps: list[tuple[bool, bool]] = []
    for line in lines:
        cost = BORDER_AT_BLANK if line.is_blank or is_blank else BORDER
        enters, leaves = own - cost >= pasted, pasted - cost > own
        steps.append((enters, leaves))
        own, pasted = max(own, pasted - cost), max(pasted, own - cost) + line.weight
        is_blank = line.is_blank
    is_pasted, found = pasted - BORDER > own, []
    for enters, leaves in reversed(steps):
        found.append(is_pasted)
        is_pasted = not enters if is_pasted else leaves
    return found[::-1]


def _prose_passages(text: str, start: int, stop: int) -> Iterator[Passage]:
    """Yield prose as typed; if it is longer than `LONGEST_TYPED`, as a document between two typed ends."""
    if stop - start <= LONGEST_TYPED:
        yield Passage(start, stop, "own")
        return
    head = _paragraph_end(text, start, start + HEAD)
    tail = _paragraph_start(text, stop - TAIL, stop)
    yield Passage(start, head, "own")
    yield Passage(head, tail, "document")
    yield Passage(tail, stop, "own")


def _paragraph_end(text: str, start: int, limit: int) -> int:
    marks = ((text.rfind(mark, start, limit), mark) for mark in _ENDS)
    return next((found + len(mark) for found, mark in marks if found >= 0), start)


def _paragraph_start(text: str, limit: int, stop: int) -> int:
    marks = ((text.find(mark, limit, stop), mark) for mark in _ENDS)
    return next((found + len(mark) for found, mark in marks if found >= 0), stop)


_ENDS = ("\n\n", "\n", ". ", "。")


_HEADING = re.compile(r"^#{1,6} +(?P<title>\S.{0,120})$", re.MULTILINE)
_ANNOUNCED = re.compile(r"[:：]\s*\n+(?=#{1,3} )")
_FEWEST_HEADINGS, _SHORTEST_DOCUMENT = 3, 3_000
"""Fewest headings of an announced document, and its least length in characters."""


def _announced(text: str) -> tuple[int, int]:
    """Return start and end of the Markdown document that a line with a colon announces, without a last paragraph of
    prose; without a document, an empty range at the end of the text. A text in which the user says "I" is typed,
    however many headings it has."""
    stop, none = len(text.rstrip()), (len(text), len(text))
    cue = _ANNOUNCED.search(text) if stop >= _SHORTEST_DOCUMENT else None
    if cue is None or stop - cue.end() < _SHORTEST_DOCUMENT or says_i(text[cue.end() :]):
        return none
    if sum(1 for _ in _HEADING.finditer(text, cue.end())) < _FEWEST_HEADINGS:
        return none
    last = text.rfind("\n\n", cue.end(), stop) + 2
    is_prose = last > cue.end() and text[last].isalpha() and text.find("\n", last, stop) < 0
    return cue.end(), last if is_prose else len(text)


_SOURCE_CHARS = 4_000
"""Length of a paste's beginning that is searched for its source, in characters."""
_SOURCES = (
    re.compile(rf"^\s?{SHELL}([\w./~][^\n]{{0,160}})", re.MULTILINE),
    re.compile(
        r"^(?:\+\+\+ b/(\S+)|(?:#|//|<!--) ?([\w./-]+\.[a-z]\w{0,4})\b.*|\s*File \"([^\"\n]+)\", line \d|(https?://\S+)$"
        r"|\s*([\w./-]*[\w-]\.[a-z]\w{0,4}):\d)",
        re.MULTILINE,
    ),
)


def _source(text: str, one: Passage) -> str:
    """Return the command in the first prompt of a paste, or else its file or title, "" without any of them."""
    beginning = text[one.start : min(one.stop, one.start + _SOURCE_CHARS)]
    for pattern in (*_SOURCES, *([_HEADING] if one.sort == "document" else ())):
        if found := pattern.search(beginning):
            return next(filter(None, found.groups()), "").strip()
    return ""
