"""What is named in passing, in words, calls and results: files, ids, names of code, numbers with what they are of.

An entry of its own would cost more than most of them are worth. They share a line with what else a message names, and
which of them are told goes by how an agent comes back to them: what it used itself, again and lately.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from workbench.base.session_caches import session_cache
from workbench.base.values import strings_in
from workbench.compaction.shape import Shape, per_shape
from workbench.facts.tools import FILE_ENDINGS
from workbench.facts.wording import is_agent_message, searched_part
from workbench.session import Message

Sort = Literal["path", "id", "code", "number"]

LONGEST = 120
"""A longer word is data and no name."""

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
"""What a number is of: up to two words before it."""


@dataclass(frozen=True, slots=True)
class MentionedName:
    """A name, how it is told, how often the agent used it, how many messages have it, and the index of the newest."""

    key: str
    text: str
    sort: Sort
    used: int
    count: int
    last: int


@per_shape
def names_of(shape: Shape) -> tuple[MentionedName, ...]:
    """Every name of the messages, each once, told as it was told last."""
    found: dict[str, list[Any]] = {}
    for index, message in enumerate(shape.masked):
        acts = is_agent_message(message)
        for text in texts_of(message):
            for key, told, sort in names_in(text):
                known = found.get(key)
                if known is None:
                    found[key] = [told, sort, int(acts), 1, index]
                elif known[4] != index:
                    known[0], known[4] = told, index
                    known[2] += acts
                    known[3] += 1
    return tuple(_one_name_each([MentionedName(key, *one) for key, one in found.items()]))


def _one_name_each(names: Sequence[MentionedName]) -> Iterator[MentionedName]:
    """The names; a file that is told by more and by less of its path is one, told by the most where that was said, with
    the uses of all."""
    longer: dict[str, list[str]] = {}
    for name in names:
        for ending in endings(name.key) if name.sort == "path" else ():
            longer.setdefault(ending, []).append(name.key)
    same: dict[str, list[MentionedName]] = {}
    for name in names:
        several = longer.get(name.key, [name.key])
        longest = max(several, key=len)
        is_one = all(one == longest or longest.endswith(f"/{one}") for one in several)
        same.setdefault(longest if is_one else name.key, []).append(name)
    for name in names:
        if several_of := same.get(name.key):
            yield replace(name, used=sum(one.used for one in several_of), count=sum(one.count for one in several_of))


def endings(path: str) -> Iterator[str]:
    """What is left of a path without one folder, two, … of its beginning: "b/c.py" and "c.py" of "a/b/c.py"."""
    while (at := path.find("/", 1)) >= 0:
        path = path[at + 1 :]
        yield path


def texts_of(message: Message) -> Iterator[str]:
    """What a message says, its calls with the texts that they are given."""
    yield message.text
    for result in message.results:
        yield result.text
    for call in message.calls:
        yield from strings_in(call.input)


def names_in(text: str) -> Iterator[tuple[str, str, Sort]]:
    """The names in a text, each once: what it is known by, how it is told, its sort. Of a long text the two ends are
    read."""
    text = searched_part(text)
    for token in dict.fromkeys(_TOKEN.findall(text)):
        for name, sort in _parted(token):
            yield name, name, sort
    numbers = {match["number"] or match["few"]: match.span() for match in _NUMBER.finditer(text)}
    for number, (start, stop) in numbers.items():
        of = _OF.search(text, max(start - 44, 0), start)
        yield number, text[of.start() if of else start : stop], "number"


@session_cache(1 << 17)
def _parted(token: str) -> tuple[tuple[str, Sort], ...]:
    """The names that a word without spaces has: itself, or parts of it."""
    token = token.rstrip("./-+@~")
    if len(token) > LONGEST:
        return ()
    if _PATH.fullmatch(token) or _FILE.fullmatch(token):
        return ((token.removeprefix("./"), "path"),)
    if _ID.fullmatch(token):
        return ((token, "id"),)
    parts = _APART.split(token)
    return tuple((part, "code") for part in parts if len(part) > 3 and _CODE.fullmatch(part))
