"""Names that messages mention in words, calls and results: files, ids, names in code, numbers with their nouns.

Most names are not worth an entry of their own, so names of one message share a line. Names that the agent itself used,
repeatedly and recently, are kept first, because agents return to these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from workbench.base.session_caches import session_cache
from workbench.base.values import strings_in
from workbench.compaction.shape import Shape, per_shape
from workbench.facts.tools import FILE_ENDINGS
from workbench.facts.wording import is_agent_message, searched_part
from workbench.session import Message

Sort = Literal["path", "id", "code", "number"]

LONGEST = 120
"""Longest name in characters; a longer word is taken for data."""

_TOKEN = re.compile(r"[A-Za-z0-9_@~./+-]{3,200}")
_PATH = re.compile(r"(?:~|\.{0,2})/?(?:[\w.@+-]+/)+[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,7}")
_FILE = re.compile(rf"[\w-][\w.-]{{0,60}}\.(?:{FILE_ENDINGS})|Makefile|Dockerfile")
_ID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|[A-Z]{2,10}-\d{1,6}|(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}"
    r"|v?\d{1,4}\.\d{1,4}\.\d{1,6}"
)
_CODE = re.compile(
    r"_{0,2}[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]*)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+"
)
_APART = re.compile(r"[./@~+-]+")
_UNIT = (
    r"(?:[%€]|(?:[mµn]?s|sec(?:onds?)?|min(?:utes?)?|hours?|days?|[KMGT]i?B|bytes?|px|tokens?|lines?|tests?|rows?|"
    r"files?)\b)"
)
_NUMBER = re.compile(
    rf"(?=[#$€\d])(?<![\w.,:/\\+@-])[#$€]?(?:(?P<few>\d{{1,3}}) ?{_UNIT}"
    r"|(?P<number>\d{4,12}|\d{1,8}\.\d{1,4}|\d{1,3}(?:,\d{3})+|(?<=#)\d{1,6}|(?<=[Pp]ort )\d{2,5}|(?<=:)\d{4,5})"
    rf"(?: ?{_UNIT})?)(?![\w/-]|[.,]\d)"
)
_OF = re.compile(r"(?:[A-Za-z][\w-]{1,20}[ =:`'\"]{1,3}){1,2}\Z")
"""Up to two words before a number: its noun."""


@dataclass(frozen=True, slots=True)
class MentionedName:
    """Name: its key, its newest text, the number of the agent's uses, the number of messages that have it, and the
    index of the newest message."""

    key: str
    text: str
    sort: Sort
    used: int
    count: int
    last: int


@per_shape
def names_of(shape: Shape) -> tuple[MentionedName, ...]:
    """Every name in the messages, once, in its newest form."""
    found: dict[str, list[Any]] = {}
    for index, message in enumerate(shape.masked):
        acts = is_agent_message(message)
        for text in texts_of(message):
            for key, written, sort in names_in(text):
                known = found.get(key)
                if known is None:
                    found[key] = [written, sort, int(acts), 1, index]
                elif known[4] != index:
                    known[0], known[4] = written, index
                    known[2] += acts
                    known[3] += 1
    return tuple(MentionedName(key, *one) for key, one in found.items())


def endings(path: str) -> Iterator[str]:
    """Shorter forms of a path, without its first folders: "b/c.py" and "c.py" of "a/b/c.py"."""
    while (at := path.find("/", 1)) >= 0:
        path = path[at + 1 :]
        yield path


def texts_of(message: Message) -> Iterator[str]:
    """Texts of a message: its own, those of its results, and the strings in the inputs of its calls."""
    yield message.text
    for result in message.results:
        yield result.text
    for call in message.calls:
        yield from strings_in(call.input)


def names_in(text: str) -> Iterator[tuple[str, str, Sort]]:
    """Names in a text, each once: key, text, kind. Only the two ends of a long text are read."""
    text = searched_part(text)
    for token in dict.fromkeys(_TOKEN.findall(text)):
        for name, sort in _names_in_word(token):
            yield name, name, sort
    numbers = {match["number"] or match["few"]: match.span() for match in _NUMBER.finditer(text)}
    for number, (start, stop) in numbers.items():
        of = _OF.search(text, max(start - 44, 0), start)
        yield number, text[of.start() if of else start : stop], "number"


@session_cache(1 << 17)
def _names_in_word(token: str) -> tuple[tuple[str, Sort], ...]:
    """Names in a word without spaces: the word itself, or parts of it."""
    token = token.rstrip("./-+@~")
    if len(token) > LONGEST:
        return ()
    if _PATH.fullmatch(token) or _FILE.fullmatch(token):
        return ((token.removeprefix("./"), "path"),)
    if _ID.fullmatch(token):
        return ((token, "id"),)
    parts = _APART.split(token)
    return tuple((part, "code") for part in parts if len(part) > 3 and _CODE.fullmatch(part))
