"""A person's text parted into what they typed themselves and what they pasted: code, a program's output, documents.

Nobody marks what they paste, so each line is judged by how it is built: frames of a stack, log times and prompts are
written by programs alone; marks of code, the share of signs, a missing space over a long stretch speak for it, prose
against it. A few such lines among others are a quotation, several in a row are a paste. Of a very long text that is
prose throughout, a person's own words stand at its two ends; so they do in one with more prose than anybody types.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from workbench.base.session_caches import session_cache
from workbench.facts.fences import fences

PassageKind = Literal["own", "code", "output", "document"]

LONGEST_TYPED = 8_000
"""Characters in one piece above which prose counts as a document; what is typed stands before and after it."""

HEAD, TAIL = 2_000, 1_000
"""Characters at the ends of such a piece, cut at a paragraph, that are taken for the person's own."""

MOST_TYPED = 32_000
"""Characters of a whole message that are taken for a person's own, three quarters of them at its beginning: four times
as many as anybody typed in the public sessions. What is longer is a document between their words, fences and all."""

_JUDGED_CHARS = 400
"""Of a line only so many characters are judged."""

_LONG = 400
"""A line of more characters may be cut anywhere."""


@dataclass(frozen=True, slots=True)
class Passage:
    """`text[start:stop]` of a person's text: `own`, or what was pasted. The size is `stop - start` characters."""

    start: int
    stop: int
    sort: PassageKind

    @property
    def own(self) -> bool:
        return self.sort == "own"


@session_cache(64)
def passages(text: str) -> tuple[Passage, ...]:
    """The passages of `text` in order; joined they are `text`, and no two of a sort stand side by side. Linear, and
    found once for all who ask of the same messages."""
    made: list[Passage] = []
    at = 0
    for fence in fences(text):
        made += _unfenced(text, at, fence.start)
        made.append(Passage(fence.start, fence.stop, "code"))
        at = fence.stop
    made += _unfenced(text, at, len(text))
    return tuple(_merged(_within_typed_limit(made)))


def _within_typed_limit(made: Sequence[Passage]) -> Iterator[Passage]:
    """The passages, of the person's own only those within `MOST_TYPED` characters from both ends."""
    total, before = sum(one.stop - one.start for one in made if one.own), 0
    for one in made:
        size = one.stop - one.start if one.own else 0
        is_near = before + size <= MOST_TYPED * 3 // 4 or total - before <= MOST_TYPED // 4
        yield one if not one.own or total <= MOST_TYPED or is_near else replace(one, sort="document")
        before += size


def without_paste(text: str) -> str:
    """What the person typed of it."""
    return "".join(text[one.start : one.stop] for one in passages(text) if one.own)


def shorten_pastes(text: str, room: int, note: Callable[[Passage], str]) -> str:
    """`text` as the person typed it, of each paste longer than `room` characters its first whole lines within `room`,
    or where its lines are long the beginning, and, on a line of its own, what `note` says of it. A fence that is cut is
    closed."""
    made: list[str] = []
    for one in passages(text):
        words = text[one.start : one.stop]
        if one.own or len(words) <= room:
            made.append(words)
            continue
        kept = words[: words.rfind("\n", 0, room) + 1]
        next_line = words[len(kept) : len(kept) + _LONG + 1]
        if len(next_line) > _LONG and "\n" not in next_line and len(kept) < room:
            kept = f"{words[:room]}\n"
        made.append(f"{kept}{note(one)}\n{_closing(kept)}")
    return "".join(made)


def _closing(cut: str) -> str:
    """The mark that closes the fence which is open at the end of `cut`."""
    last = next((fence for fence in reversed([*fences(cut)]) if fence.stop == fence.end), None)
    return cut[last.start : last.body].split()[0].removesuffix(last.word) + "\n" if last else ""


def _merged(made: Iterable[Passage]) -> Iterator[Passage]:
    for sort, run in groupby((one for one in made if one.start < one.stop), key=lambda one: one.sort):
        alike = [*run]
        yield Passage(alike[0].start, alike[-1].stop, sort)


# --- lines ------------------------------------------------------------------------------------------------------------

_PROGRAM_OUTPUT = re.compile(
    r"\s+at \S.{0,400}[:(]|\s*File \".{1,400}\", line \d|Traceback \(most recent|\s*\^[\^~ ]*$|file:///\S+:\d+$"
    r"|\w{0,40}(?:Error|Exception|Panic)\b.{0,40}:|panic: |goroutine \d|npm (?:ERR|error)|[-=_*─━═╌╍~│┃ ]{10,}$"
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|\S{1,40}@\S{1,60} .{0,80}[%$#] |\s*\{\"\w+\":|\s*[│┃╭╰├└┌]"
    r"|\w{1,20} {1,2}\d{1,2} \d\d:\d\d:\d\d|\[?\d\d:\d\d:\d\d[\].,: ]|\S{1,200}\.\w{1,5}:\d+(?::\d+)?(?:$|[: ])"
    r"|diff --git |@@ -\d|\+\+\+ |--- [ab]/|\s*(?:PASS|FAIL|ok|not ok)\b[ :]\s*\S+\.\w"
    r"|\(?\S{1,200}:\d+:\d+\)?\s*$|\$ \S|\s*\w{1,80} @ \S{1,200}:\d+|\s+at [\w.<>$]{1,80}$"
)
"""A line that only a program writes: of a stack, an error's name, a rule, a log's time, a prompt, a patch, a frame."""

_CODE = re.compile(
    r"\s*(?:import|from|def|class|const|let|var|function|return|public|private|static|func|fn|struct|impl|package|"
    r"#include|using|namespace|if|for|while|else|elif|try|catch|except|async|await|export|type|interface|end|"
    r"SELECT|INSERT|CREATE|UPDATE|FROM|WHERE|JOIN)\b.*[({\[=;:)}\]*]|\s*[\w.]{1,80}\s?(?:=|\+=|:=)\s?\S|\s*</?[a-zA-Z][^>]*>"
    r"|\s*[}\])]+[;,)]*\s*$|\s*(?://|/\*|\*/|#!)|\s*[\"'][^\"']{1,100}[\"']\s?:|\s*@\w+"
)
_CODE_END = re.compile(r"[{};,(\[]\s*$|\)\s*[;:{]\s*$|=>\s*$|/?>\s*$")
_SIGN = re.compile(r"[{}\[\]()<>=;|\\/_$#@&*^~+%\"]")
_TAG = re.compile(r"\s*</?[\w-]{1,60}>\s*")
"""A tag alone on its line: people set off what they write with such, too."""
_LETTERS = re.compile(r"[^\W\d_]+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)、])\s+")


def _is_program_output(line: str) -> bool:
    return _PROGRAM_OUTPUT.match(line) is not None


def _is_code(line: str) -> bool:
    """Whether a line is more code or data than prose: two of the marks, or one where hardly anything is a word."""
    if not line.strip() or _BULLET.match(line) or _TAG.fullmatch(line):
        return False
    signs = len(_SIGN.findall(line)) / len(line.strip())
    marks = (
        (_CODE.match(line) is not None)
        + (_CODE_END.search(line) is not None)
        + (signs >= 0.12)
        + (line[0] in " \t")
        + (max((len(word) for word in line.split()), default=0) >= 60)
    )
    return marks >= (3 if _is_prose(line) else 2)


def _is_prose(line: str) -> bool:
    signs = len(_SIGN.findall(line)) / (len(line.strip()) or 1)
    return (len(_LETTERS.findall(line)) >= 5 and signs < 0.08) or len(_CJK.findall(line)) >= 4


_GAP = 3
"""So many lines that could be anyone's may stand within a paste, of a program's twice as many; a line of prose counts
as two."""

_ENOUGH = 3
"""So many lines of code or data without a fence are a paste; of what only programs write, two."""

_LONE = 600
"""A single line of a program's is a paste from so many characters on."""


def _unfenced(text: str, start: int, stop: int) -> Iterator[Passage]:
    """The passages of a stretch without fences: runs of lines that nobody types, and what stands between them."""
    at = start
    for first, last, sort in _runs(text, start, stop):
        yield from _prose_passages(text, at, first)
        yield Passage(first, last, sort)
        at = last
    yield from _prose_passages(text, at, stop)


def _runs(text: str, start: int, stop: int) -> Iterator[tuple[int, int, PassageKind]]:
    first = last = gap = printed = coded = 0
    for begin, end in _lines(text, start, stop):
        line = text[begin : min(end, begin + _JUDGED_CHARS)].rstrip("\n")
        is_printed, is_coded = _is_program_output(line), _is_code(line)
        if is_printed or is_coded:
            if not printed + coded:
                first = begin
            printed, coded, last, gap = printed + is_printed, coded + is_coded, end, 0
        elif printed + coded:
            gap += 2 if _is_prose(line) else bool(line.strip())
            if gap > (_GAP if printed < 2 else 2 * _GAP):
                if _is_paste(printed, coded, last - first):
                    yield first, last, "output" if printed else "code"
                printed = coded = gap = 0
    if printed + coded and _is_paste(printed, coded, last - first):
        yield first, last, "output" if printed else "code"


def _is_paste(printed: int, coded: int, size: int) -> bool:
    return printed >= 2 or coded >= _ENOUGH or (printed + coded > 0 and size >= _LONE)


def _lines(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    while start < stop:
        end = text.find("\n", start, stop) + 1 or stop
        yield start, end
        start = end


def _prose_passages(text: str, start: int, stop: int) -> Iterator[Passage]:
    """A stretch of prose: the person's, or, when nobody types so much, a document between their words."""
    if stop - start <= LONGEST_TYPED:
        yield Passage(start, stop, "own")
        return
    head = _paragraph_end(text, start, start + HEAD)
    tail = _paragraph_start(text, stop - TAIL, stop)
    yield Passage(start, head, "own")
    yield Passage(head, tail, "document")
    yield Passage(tail, stop, "own")


def _paragraph_end(text: str, start: int, limit: int) -> int:
    for mark in ("\n\n", "\n", ". ", "。"):
        if (found := text.rfind(mark, start, limit)) >= 0:
            return found + len(mark)
    return start


def _paragraph_start(text: str, limit: int, stop: int) -> int:
    for mark in ("\n\n", "\n", ". ", "。"):
        if (found := text.find(mark, limit, stop)) >= 0:
            return found + len(mark)
    return stop
