"""What was named: identifiers, numbers with their unit, addresses, in the words of user and agent."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from workbench.facts.fact import Fact
from workbench.facts.wording import clipped, own_words
from workbench.session import Message

ENOUGH = 2
"""A mere name (function, class, variable) is an identifier once it is used this often; an id is one at once."""

IDS = re.compile(
    r"(?P<uuid>\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b)"
    r"|(?P<ticket>\b(?:PR|MR|[Ii]ssue|[Pp]ull request) ?#?\d{1,7}\b|(?<![\w#])#\d{1,7}\b"
    r"|\b(?!UTF|SHA|ISO|RFC|HTTP|GPT)[A-Z]{2,10}-\d{1,6}\b)"
    r"|(?P<hash>\b(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,40}\b)"
    r"|(?P<variable>\b[A-Z][A-Z0-9]{1,40}_[A-Z0-9_]{1,60}\b)"
)
NAMES = re.compile(
    r"(?P<function>\b[A-Za-z_][\w.]{2,79}(?=\(\)))"
    r"|(?P<name>\b(?:[a-z][a-z0-9]{0,40}_[a-z0-9_]{1,60}|[a-z]{1,40}[A-Z][a-zA-Z0-9]{2,60}"
    r"|[A-Z][a-z0-9]{1,40}[A-Z][a-zA-Z0-9]{1,60})\b)"
)
_URL = re.compile(r"https?://[^\s<>\"'`)\]}|\\，。）」]{3,500}")
_UNITS = (
    r"%|ms|µs|ns|s|sec|secs|seconds?|min|mins|minutes?|h|hours?|days?|weeks?|[KMGT]i?B|kb|mb|gb|bytes?|k|tokens?|lines?|files?|"
    r"tests?|chars?|characters?|px|rows?|columns?|requests?|users?|items?|messages?|commits?|errors?|warnings?|failures?|"
    r"times|retries|workers?|threads?|cores?|steps?|packages?|functions?|x|×|个|行|次|秒|毫秒|分钟|小时|天|条|字符|字节"
)
NUMBER = re.compile(
    r"(?P<port>\b(?:port|端口)[ :=#]{1,3}\d{2,5}\b)"
    r"|(?P<version>\bv\d{1,4}(?:\.\d{1,5}){1,3}\b|\b\d{1,4}\.\d{1,4}\.\d{1,5}\b)"
    r"|(?P<limit>\b(?:limit|timeout|max|maximum|min|minimum|threshold|retries|at most|at least|up to)"
    r"(?: (?:of|is|to))?[ :=]{1,3}\d[\d,._]{0,15}\b)"
    rf"|(?P<unit>(?<![\w.#-])\d[\d,._]{{0,15}}[ -]?(?:{_UNITS})(?![A-Za-z]))"
)


def identifiers(messages: Sequence[Message]) -> Iterator[Fact]:
    """Ids at their first mention; names at their first mention, when they are used at least `ENOUGH` times."""
    first: dict[str, tuple[int, str]] = {}
    count: Counter[str] = Counter()
    for index, words in _words(messages):
        for pattern in (IDS, NAMES):
            for match in pattern.finditer(words):
                text = match[0]
                count[text] += 1
                first.setdefault(text, (index, match.lastgroup or ""))
    for text, (index, sort) in first.items():
        if count[text] >= ENOUGH or sort in ("uuid", "ticket", "hash", "variable"):
            yield Fact("identifier", text, messages[index].id, index, f"{sort} ×{count[text]}")


def numbers(messages: Sequence[Message]) -> Iterator[Fact]:
    """Numbers with a unit or a meaning (port, version, limit), once per message."""
    for index, words in _words(messages):
        seen: set[str] = set()
        for match in NUMBER.finditer(words):
            if match[0] not in seen:
                seen.add(match[0])
                yield Fact("number", match[0], messages[index].id, index, _around(words, match.start(), match.end()))


def _around(words: str, start: int, stop: int) -> str:
    """The words of the same line, up to 60 characters to either side, no word cut."""
    left = max(words.rfind("\n", 0, start) + 1, start - 60)
    if left and words[left - 1 : left] != "\n":
        left = min(start, words.find(" ", left, start) + 1 or left)
    end = words.find("\n", stop)
    right = min(stop + 60, len(words) if end < 0 else end)
    if right < len(words) and right != end:
        right = max(stop, words.rfind(" ", stop, right))
    return clipped(words[left:right], 160)


def urls(messages: Sequence[Message]) -> Iterator[Fact]:
    seen: set[str] = set()
    for index, words in _words(messages):
        for url in _URL.findall(words):
            address = url.rstrip(".,;:!?*_")
            if address not in seen:
                seen.add(address)
                yield Fact("url", address, messages[index].id, index)


def _words(messages: Sequence[Message]) -> Iterator[tuple[int, str]]:
    for index, message in enumerate(messages):
        if message.starts_round or (message.role == "assistant" and message.kind == "normal"):
            words = own_words(message.text)
            if words:
                yield index, words
