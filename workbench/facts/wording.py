"""Prose of a message: text of user or agent without code (of a long text the two ends), and its lines and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from msgspec import Struct

from workbench.facts.fences import without_fences
from workbench.session import Message

HEAD_CHARS = 64 * 1024
TAIL_CHARS = 16 * 1024
"""Lengths of the beginning (`HEAD_CHARS`) and the end of a long text that are searched for facts, in characters."""

LONGEST_SENTENCE = 700
"""Maximum length of a sentence, in characters. Longer ones are paragraphs or data, and never a rule or a decision."""

_BULLET = re.compile(r"^[ \t]*(?:[-*+•>]|\d{1,3}[.)、]|#{1,6})[ \t]+")
_STOP = re.compile(
    r"(?<=[.!?])(?<!\bSt\.)(?<!\bDr\.)(?<!\bMr\.)(?<!\bMrs\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bz\.B\.)(?<!\bvs\.)"
    r"(?<!\bProf\.)(?<!\bMs\.)(?P<closed>[\"'”’»)\]*]{0,2})\s+(?!(?<=\d\.\s)(?:Jan|Feb|Mär|Apr|Mai|Ju[nl]i|Aug|Sep|Okt|Nov|Dez))"
    r"(?=[A-ZÀ-ÖØ-ÞА-ЯЁ0-9\uac00-\ud7af\"'`(*\[«“„¿¡])"
    r"|(?<=[。！？；])|(?<=[!?])(?=[\u3400-\u9fff])"
    r"|(?<=[a-zà-ÿа-яё)][?!])\s+(?=[a-zà-ÿа-яё])"
    r"|(?<=[a-zà-ÿа-яё]{3}\.)(?<!\betc\.)(?<!\bresp\.)(?<!\bapprox\.)(?<!\bincl\.)\s+(?=[a-zà-ÿа-яё])"
    r"|(?<=\b(?:it|me|us|so|do|go|on|in|up|be|to|of|is|at|by|ok|am|we|he|if|as|my|an|ab|zu|ja|da|es|le|la|ça|là)\.)"
    r"\s+(?=[a-zà-ÿ])|(?<=\b(?:ya|sí|él|já|aí|só|их|её|ее|да|ли|же|он)\.)\s+(?=[a-zà-ÿа-яё])"
)
"""Ends of sentences. In chats the next one may begin in lower case. Two-letter words that can end a sentence are
listed, because most others are abbreviations ("no. five")."""
_LABEL = re.compile(r"[*_`#]+")


def searched_part(text: str) -> str:
    """Return `text`, or its two ends on separate lines if it is longer than the searched length."""
    if len(text) <= HEAD_CHARS + TAIL_CHARS:
        return text
    return text[:HEAD_CHARS] + "\n" + text[-TAIL_CHARS:]


def prose(text: str) -> str:
    """Return a text without fenced code."""
    return without_fences(searched_part(text)).strip()


def message_prose(message: Message) -> str:
    """Return the text of user or agent in a message without fenced code; "" for other messages.

    The user's text includes answers given through tools, and not what the agent added to a message.
    """
    text = message.text if is_agent_message(message) else message.user_text
    return prose(text) if text else ""


def is_agent_message(message: Message) -> bool:
    """Return whether a message is an answer of the model and not a summary."""
    return message.role == "assistant" and message.kind == "normal"


@dataclass(frozen=True, slots=True)
class TextLine:
    """Line `text[start:stop]` without its bullet; a wrapped line includes its continuations."""

    start: int
    stop: int
    bullet: bool
    heading: bool


def lines(text: str) -> Iterator[TextLine]:
    """Yield the lines of `text` that hold words, without quoted lines and tables. Wrapped lines are joined. A line is
    wrapped if it does not end a sentence, and the next one begins in lower case and either closes an open quotation or
    begins with a word that did not fit into the text's width. In a text that was surely wrapped the next line may also
    begin in upper case or with an opening sign."""
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
"""Last character of a line whose sentence continues."""
_QUOTES = re.compile(r"[\"“”«»]")
_CLOSES = re.compile(r"[^\"“”«»]*[^\s\"“”«»(\[][\"”»](?!\w)")
"""Line whose first quotation mark closes a quotation."""
_WIDTHS = range(50, 121)
"""Usual wrapping widths, in characters."""
_TERMINALS = range(121, 241)
"""Widths of terminals, in characters. Copied text may be wrapped to them, but such lines are often just long."""
_SURE_LINES = 3
"""Fewest full lines of a text that was surely wrapped."""
_LONG_WORD = 24
_WORD = re.compile(rf"[a-zà-ÿа-яё](?:\w|['’.-](?=\w)){{,{_LONG_WORD - 1}}}[,;.!?)]{{,2}}")
"""Words that show wrapping if they do not fit on the line before. Paths do not show it, because long paths rarely fit
anywhere."""


class _Wrapping(Struct, frozen=True):
    """Width to which a text was wrapped, in characters, 0 if it was not; `sure`: beyond doubt."""

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
    """Return whether a line that does not begin in lower case can continue a sentence: no list item, heading, quotation
    or table."""
    return (following[0].isalnum() or following[0] in "`\"'“(«") and not _BULLET.match(f"{following} ")


def _line_spans(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while start <= len(text):
        stop = text.find("\n", start)
        stop = len(text) if stop < 0 else stop
        yield start, stop
        start = stop + 1


def sentence_spans(text: str, line: TextLine) -> Iterator[tuple[int, int]]:
    """Yield where the sentences of a line begin and end."""
    at = line.start
    for stop in _STOP.finditer(text[line.start : line.stop]):
        end = line.start + max(stop.start(), stop.end("closed"))
        if text[at:end].strip():
            yield at, end
        at = line.start + stop.end()
    if text[at : line.stop].strip():
        yield at, line.stop


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of `text` verbatim, without bullets, quoted lines and tables."""
    for line in lines(text):
        for start, stop in sentence_spans(text, line):
            yield text[start:stop].strip()


def is_complete(sentence: str) -> bool:
    """Return whether quotations and brackets of a sentence are closed, and no colon, comma or the like ends it."""
    pairs = (sentence.count(opened) == sentence.count(closed) for opened, closed in ("()", "[]", "“”"))
    return (
        all(pairs)
        and not (sentence.count('"') % 2 or sentence.count("`") % 2)
        and sentence.rstrip("*_")[-1:] not in _UNENDED
    )


_UNENDED = tuple(":：,;({[=\\")


def normalize(sentence: str) -> str:
    """Return a sentence in lower case, without emphasis, with straight apostrophes, for matching."""
    return _LABEL.sub("", sentence).replace("’", "'").strip().lower()


def is_question(sentence: str) -> bool:
    return sentence.rstrip("\"')*_ ").endswith(("?", "？", "吗", "呢", "吗。"))
