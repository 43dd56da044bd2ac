"""What is looked at of a text: whose words it is, its ends when it is long, no quoted matter, sentence by sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from msgspec import Struct

from workbench.facts.fences import without_fences
from workbench.session import Message

HEAD_CHARS = 64 * 1024
TAIL_CHARS = 16 * 1024
"""Of a longer text only the first `HEAD_CHARS` and the last `TAIL_CHARS` characters are searched for facts."""

LONGEST_SENTENCE = 700
"""A longer "sentence" is a paragraph or data without full stops; none is taken for an instruction or a decision."""

_BULLET = re.compile(r"^[ \t]*(?:[-*+•>]|\d{1,3}[.)、]|#{1,6})[ \t]+")
_STOP = re.compile(
    r"(?<=[.!?])(?<!\bSt\.)(?<!\bDr\.)(?<!\bMr\.)(?<!\bMrs\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bz\.B\.)(?<!\bvs\.)"
    r"(?P<closed>[\"'”’»)\]*]{0,2})\s+(?=[A-ZÀ-ÖØ-ÞА-ЯЁ0-9\uac00-\ud7af\"'`(*\[«“„¿¡])"
    r"|(?<=[。！？；])|(?<=[!?])(?=[\u3400-\u9fff])"
    r"|(?<=[a-zà-ÿа-яё)][?!])\s+(?=[a-zà-ÿа-яё])"
    r"|(?<=[a-zà-ÿа-яё]{3}\.)(?<!\betc\.)(?<!\bresp\.)(?<!\bapprox\.)(?<!\bincl\.)\s+(?=[a-zà-ÿа-яё])"
    r"|(?<=\b(?:it|me|us|so|do|go|on|in|up|be|to|of|is|at|by|ok|am|we|he|if|as|my|an|ab|zu|ja|da|es|le|la|ça|là)\.)"
    r"\s+(?=[a-zà-ÿ])|(?<=\b(?:ya|sí|él|já|aí|só|их|её|ее|да|ли|же|он)\.)\s+(?=[a-zà-ÿа-яё])"
)
"""Where a sentence ends. People who chat begin the next one in lower case; words of two letters that end one are told,
for most of that length are short for something ("no. five")."""
_LABEL = re.compile(r"[*_`#]+")


def searched_part(text: str) -> str:
    """`text`, or its two ends on separate lines when it is longer than what is searched."""
    if len(text) <= HEAD_CHARS + TAIL_CHARS:
        return text
    return text[:HEAD_CHARS] + "\n" + text[-TAIL_CHARS:]


def prose(text: str) -> str:
    """A text without what is quoted in it: fenced code."""
    return without_fences(searched_part(text)).strip()


def message_prose(message: Message) -> str:
    """What the person or the agent says in a message, without fenced code; "" where neither speaks.

    A person speaks in messages of their own and through tools; what a tool put into a message is nobody's.
    """
    said = message.text if is_agent_message(message) else message.said
    return prose(said) if said else ""


def is_agent_message(message: Message) -> bool:
    """Whether the agent speaks: an answer of the model's, and no summary."""
    return message.role == "assistant" and message.kind == "normal"


@dataclass(frozen=True, slots=True)
class TextLine:
    """What stands in `text[start:stop]` without the bullet: a line, with those it was wrapped into."""

    start: int
    stop: int
    bullet: bool
    heading: bool


def lines(text: str) -> Iterator[TextLine]:
    """The lines of `text` that hold words; quoted lines and tables are left out. One that was wrapped is one with those
    that follow: it has no end, the next begins in lower case, and its first word had no room in the text's width, or
    stands in the quotation that was opened last. In a text that was surely wrapped the next begins as it likes."""
    found: TextLine | None = None
    wrapped = _wrapping(text)
    for start, stop in _line_spans(text):
        raw = text[start:stop]
        stripped = raw.strip()
        if found is not None and _is_wrapped_into(text, found, stripped, wrapped):
            found = replace(found, stop=start + len(raw.rstrip()))
            continue
        if found is not None:
            yield found
        found = None
        if stripped and stripped[0] not in ">|":
            mark = _BULLET.match(raw)
            words = raw[mark.end() :] if mark else raw
            begin = start + len(raw) - len(words.lstrip())
            end = start + len(raw.rstrip())
            heading = stripped[0] == "#" or bool(_TITLE.fullmatch(stripped))
            if begin < end:
                found = TextLine(begin, end, mark is not None and stripped[0] != "#", heading)
    if found is not None:
        yield found


_TITLE = re.compile(r".{1,60}[:：]\**|\*\*[^*]{1,60}\*\*")
_OPEN = re.compile(r"[^\W_]|[,'’–—-]")
"""How a line ends whose sentence goes on."""
_QUOTES = re.compile(r"[\"“”«»]")
_CLOSES = re.compile(r"[^\"“”«»]*[^\s\"“”«»(\[][\"”»](?!\w)")
"""The first sign of quotation closes one."""
_WIDTHS = range(50, 121)
"""Characters to which people or their editors wrap."""
_TERMINALS = range(121, 241)
"""What is copied from a terminal may be wrapped to its width, but a line of so many characters is often just long."""
_SURE_LINES = 3
"""Where so many lines have no room for the word that follows, a text was wrapped."""
_LONG_WORD = 24
_WORD = re.compile(rf"[a-zà-ÿа-яё](?:\w|['’.-](?=\w)){{,{_LONG_WORD - 1}}}[,;.!?)]{{,2}}")
"""Paths and the like show nothing: for them no room is left behind many a line that was never wrapped."""


class _Wrapping(Struct, frozen=True):
    """To how many characters a text was wrapped, 0 for not, and whether that is sure."""

    width: int
    sure: bool = False


def _wrapping(text: str) -> _Wrapping:
    width = max((stop - start for start, stop in _line_spans(text)), default=0)
    if width not in _WIDTHS and width not in _TERMINALS:
        return _Wrapping(0)
    full = end = length = 0
    for start, stop in _line_spans(text):
        if length + 1 + _LONG_WORD > width:
            following = text[start:stop].split(maxsplit=1)
            if following and _WORD.fullmatch(following[0]) and _OPEN.match(text[end]):
                full += length + 1 + len(following[0]) > width
        end = start + len(text[start:stop].rstrip()) - 1
        length = end + 1 - start
    sure = full >= _SURE_LINES
    return _Wrapping(width if sure or width in _WIDTHS else 0, sure)


def _is_wrapped_into(text: str, line: TextLine, following: str, wrapped: _Wrapping) -> bool:
    if not following or not _OPEN.match(text[line.stop - 1]):
        return False
    small = following[0].islower()
    in_quotes = line.stop - line.start < LONGEST_SENTENCE and len(_QUOTES.findall(text, line.start, line.stop)) % 2
    if small and in_quotes and _CLOSES.match(following):
        return True
    if not wrapped.width or not (small or (wrapped.sure and _may_continue(following))):
        return False
    last = line.stop - max(0, text.rfind("\n", 0, line.stop) + 1)
    return last + 1 + len(following.split(maxsplit=1)[0]) > wrapped.width


def _may_continue(following: str) -> bool:
    """Whether a line that begins so, other than in lower case, can be the middle of a sentence: no entry of a list, no
    heading, quotation or table."""
    return (following[0].isalnum() or following[0] in "`\"'“(«") and not _BULLET.match(f"{following} ")


def _line_spans(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while start <= len(text):
        stop = text.find("\n", start)
        stop = len(text) if stop < 0 else stop
        yield start, stop
        start = stop + 1


def sentence_spans(text: str, line: TextLine) -> Iterator[tuple[int, int]]:
    """Where the sentences of a line begin and end."""
    at = line.start
    for stop in _STOP.finditer(text[line.start : line.stop]):
        end = line.start + max(stop.start(), stop.end("closed"))
        if text[at:end].strip():
            yield at, end
        at = line.start + stop.end()
    if text[at : line.stop].strip():
        yield at, line.stop


def sentences(text: str) -> Iterator[str]:
    """The sentences of `text`, each as it stands there, without bullets; quoted and table lines are left out."""
    for line in lines(text):
        for start, stop in sentence_spans(text, line):
            yield text[start:stop].strip()


def is_complete(sentence: str) -> bool:
    """Whether a sentence can stand by itself: what is quoted or bracketed in it begins and ends there, and nothing has
    to follow."""
    pairs = (sentence.count(opened) == sentence.count(closed) for opened, closed in ("()", "[]", "“”"))
    return (
        all(pairs)
        and not (sentence.count('"') % 2 or sentence.count("`") % 2)
        and sentence.rstrip("*_")[-1:] not in _UNENDED
    )


_UNENDED = tuple(":：,;({[=\\")


def normalize(sentence: str) -> str:
    """A sentence in lower case without emphasis marks and with straight apostrophes, for matching only."""
    return _LABEL.sub("", sentence).replace("’", "'").strip().lower()


def is_question(sentence: str) -> bool:
    return sentence.rstrip("\"')*_ ").endswith(("?", "？", "吗", "呢", "吗。"))
