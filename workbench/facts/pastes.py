"""Passages of a user's text: typed by the user, or pasted (code, program output, documents).

Pastes are not marked, so each line is judged by its form. Stack frames, log times and prompts come only from programs.
Code characters, many signs and very long words speak for a paste, prose against it. One or two such lines are a
quotation, several in a row a paste. Of a very long piece of prose only the two ends count as typed.
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
"""Length above which a piece of prose counts as a document between two typed ends, in characters."""

HEAD, TAIL = 2_000, 1_000
"""Lengths of the two ends of a longer piece that count as typed, in characters; both are cut at a paragraph."""

MOST_TYPED = 32_000
"""Maximum typed length of a message, in characters; three quarters of it at the beginning. This is four times the
longest typed text in the public sessions. The rest counts as a document, including fences."""

_JUDGED_CHARS = 400
"""Length of a line's beginning by which the line is judged, in characters."""

_LONG = 400
"""Length from which a line may be cut anywhere, in characters."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Passage `text[start:stop]` of a user's text; `sort` is `own` for typed text."""

    start: int
    stop: int
    sort: PassageKind

    @property
    def own(self) -> bool:
        return self.sort == "own"


@session_cache(64)
def passages(text: str) -> tuple[Passage, ...]:
    """Return the passages of `text` in order. Together they cover it, and neighbours differ in kind. Linear; cached,
    because several callers ask for the same messages."""
    parts: list[Passage] = []
    at = 0
    for fence in fences(text):
        parts += _unfenced(text, at, fence.start)
        parts.append(Passage(fence.start, fence.stop, "code"))
        at = fence.stop
    parts += _unfenced(text, at, len(text))
    return tuple(_merged(_within_typed_limit(parts)))


def _within_typed_limit(parts: Sequence[Passage]) -> Iterator[Passage]:
    """Yield the passages; typed ones outside the first three quarters and the last quarter of `MOST_TYPED` typed
    characters become documents."""
    total, before = sum(one.stop - one.start for one in parts if one.own), 0
    for one in parts:
        size = one.stop - one.start if one.own else 0
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
        parts.append(f"{head}{note(one)}\n{_closing(head)}")
    return "".join(parts)


def _closing(cut: str) -> str:
    """Return the line that closes the fence left open at the end of `cut`, or ""."""
    last = next((fence for fence in reversed([*fences(cut)]) if fence.stop == fence.end), None)
    return cut[last.start : last.body].split()[0].removesuffix(last.word) + "\n" if last else ""


def _merged(parts: Iterable[Passage]) -> Iterator[Passage]:
    for sort, run in groupby((one for one in parts if one.start < one.stop), key=lambda one: one.sort):
        neighbours = [*run]
        yield Passage(neighbours[0].start, neighbours[-1].stop, sort)


# --- lines ------------------------------------------------------------------------------------------------------------

_PROGRAM_OUTPUT = re.compile(
    r"\s+at \S.{0,400}[:(]|\s*File \".{1,400}\", line \d|Traceback \(most recent|\s*\^[\^~ ]*$|file:///\S+:\d+$"
    r"|\w{0,40}(?:Error|Exception|Panic)\b.{0,40}:|panic: |goroutine \d|npm (?:ERR|error)|[-=_*─━═╌╍~│┃ ]{10,}$"
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|\S{1,40}@\S{1,60} .{0,80}[%$#] |\s*\{\"\w+\":|\s*[│┃╭╰├└┌]"
    r"|\w{1,20} {1,2}\d{1,2} \d\d:\d\d:\d\d|\[?\d\d:\d\d:\d\d[\].,: ]|\S{1,200}\.\w{1,5}:\d+(?::\d+)?(?:$|[: ])"
    r"|diff --git |@@ -\d|\+\+\+ |--- [ab]/|\s*(?:PASS|FAIL|ok|not ok)\b[ :]\s*\S+\.\w"
    r"|\(?\S{1,200}:\d+:\d+\)?\s*$|\$ \S|\s*\w{1,80} @ \S{1,200}:\d+|\s+at [\w.<>$]{1,80}$"
)
"""Lines that only programs write: stack frames, error names, rules, log times, prompts, patches."""

_CODE = re.compile(
    r"\s*(?:import|from|def|class|const|let|var|function|return|public|private|static|func|fn|struct|impl|package|"
    r"#include|using|namespace|if|for|while|else|elif|try|catch|except|async|await|export|type|interface|end|"
    r"SELECT|INSERT|CREATE|UPDATE|FROM|WHERE|JOIN)\b.*[({\[=;:)}\]*]|\s*[\w.]{1,80}\s?(?:=|\+=|:=)\s?\S|\s*</?[a-zA-Z][^>]*>"
    r"|\s*[}\])]+[;,)]*\s*$|\s*(?://|/\*|\*/|#!)|\s*[\"'][^\"']{1,100}[\"']\s?:|\s*@\w+"
)
_CODE_END = re.compile(r"[{};,(\[]\s*$|\)\s*[;:{]\s*$|=>\s*$|/?>\s*$")
_SIGN = re.compile(r"[{}\[\]()<>=;|\\/_$#@&*^~+%\"]")
_TAG = re.compile(r"\s*</?[\w-]{1,60}>\s*")
"""A tag alone on its line; users set off their own text with such tags, too."""
_LETTERS = re.compile(r"[^\W\d_]+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)、])\s+")


def _is_program_output(line: str) -> bool:
    return _PROGRAM_OUTPUT.match(line) is not None


def _is_code(line: str) -> bool:
    """Return whether a line is code or data rather than prose: it has two of five marks of code, or three if it also
    reads as prose."""
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
"""Number of undecided lines allowed within a paste (twice as many in program output). A line of prose counts twice."""

_ENOUGH = 3
"""Minimum number of code or data lines of an unfenced paste; program output needs two."""

_LONE = 600
"""Length from which a single line of program output is a paste, in characters."""


def _unfenced(text: str, start: int, stop: int) -> Iterator[Passage]:
    """Yield the passages of a part without fences: pasted runs of lines, and the text between them."""
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
    for mark in ("\n\n", "\n", ". ", "。"):
        if (found := text.rfind(mark, start, limit)) >= 0:
            return found + len(mark)
    return start


def _paragraph_start(text: str, limit: int, stop: int) -> int:
    for mark in ("\n\n", "\n", ". ", "。"):
        if (found := text.find(mark, limit, stop)) >= 0:
            return found + len(mark)
    return stop
