"""Facts about references in text of user and agent: identifiers, numbers with their unit, URLs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from workbench.base.text import clip_at_word
from workbench.facts.fact import Fact
from workbench.facts.tools import FILE_ENDINGS
from workbench.facts.wording import message_prose
from workbench.session import Message

NAME_USES = 2
"""Uses from which a plain name (function, class, variable) counts as an identifier. An id counts from its first use."""

WORD_USES = 3
"""Uses in backticks from which an ordinary word counts as an identifier."""

IDS = re.compile(
    r"(?P<uuid>(?<![0-9a-zA-Z-])[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}(?![\w-]))"
    r"|(?P<ticket>\b(?:PR|MR|[Ii]ssue|[Pp]ull request) ?(?:#\d{1,7}|\d{2,7})\b|(?<![\w#&])#(?!0)\d{1,7}\b(?![-;]\w)"
    r"|\b(?!UTF|SHA|ISO|RFC|HTTP|GPT)[A-Z]{2,10}-\d{1,6}\b)"
    r"|(?P<hash>(?<![\w#-])(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,40}(?![\w-]))"
    r"|(?P<variable>\b[A-Z][A-Z0-9]{1,40}_[A-Z0-9_]{1,60}\b)"
)
NAMES = re.compile(
    r"(?P<function>\b[A-Za-z_][\w.]{2,79}(?=\(\)))"
    r"|(?P<name>(?<![\w/])(?:_{0,2}[a-z][a-z0-9]{0,40}_[a-z0-9_]{1,60}|[a-z]{1,40}[A-Z][a-zA-Z0-9]{2,60}"
    r"|[A-Z][a-z0-9]{1,40}[A-Z]\w{1,60})\b(?!\.[a-z]{1,4}\b|/))"
)
_IN_IDS, _IN_NAMES = re.compile(r"[\d_]|[a-fA-F]{8}-"), re.compile(r"\(\)|_|[a-z0-9][A-Z]")
"""Quick tests: a text without a match has no id or no name. Most texts match neither."""
_MARKED = re.compile(r"`([@\w-][\w.@/:-]{1,60}\w)(?:\(\))?`")
"""Name in backticks, such as a branch, an option or a schema, which has no other mark of a name."""
_PLAIN = re.compile(r"\w+")
_COMMON_WORD = re.compile(r"[A-Z]?[a-z]{1,30}")
"""An ordinary word."""
_TICKET = re.compile(r"#(\d{1,7})\b")
_COLOURS = re.compile(
    r"#(?=[0-9a-fA-F]{0,7}[a-fA-F])(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})\b"
    r"|\b(?:colou?rs?|background|foreground|border|fill|stroke|palette|hex|css)\b",
    re.IGNORECASE,
)
"""In a text about colours, three or six digits after `#` are a colour and not a ticket."""
_LINE = re.compile(r":\d{1,7}(?:[:-]\d{1,7})?$")
_FILE = re.compile(rf"\.(?:{FILE_ENDINGS})$")
_URL = re.compile(r"https?://[^\s<>\"'`)\]}|\\，。）」]{3,500}")
_UNITS = (
    r"%|ms|µs|ns|s|sec|secs|seconds?|min|mins|minutes?|h|hours?|days?|weeks?|months?|years?|[KMGT]i?B|kb|mb|gb|bytes?|k|"
    r"tokens?|lines?|files?|tests?|chars?|characters?|px|rem|em|pt|rows?|columns?|requests?|users?|items?|messages?|"
    r"commits?|errors?|warnings?|failures?|times|retries|attempts?|workers?|threads?|cores?|steps?|packages?|functions?|"
    r"dollars?|euros?|USD|EUR|GBP|kg|km|cm|mm|miles|people|guests|pages|words|points|°C|°F|[kMG]?Hz|fps|dpi|[qr]ps|"
    r"[KMG]bps|vCPUs?|CPUs?|GPUs?|nodes?|replicas?|shards?|connections?|x|×|个|行|次|秒|毫秒|分钟|小时|天|条|字符|字节|元|"
    r"円|人|개|명|원"
)
_COUNTED = (
    r"lines|files|tests|characters|chars|tokens|rows|columns|requests|messages|commits|errors|warnings|bytes|words"
)
_PRODUCTS = (
    r"[Pp]ython|[Nn]ode(?:\.js)?|[Jj]ava|[Gg]o|[Rr]uby|PHP|[Pp]ostgres(?:QL)?|MySQL|[Rr]edis|[Uu]buntu|[Dd]ebian|[Rr]eact|"
    r"[Nn]ext(?:\.js)?|[Dd]jango|[Rr]ails|TypeScript|[Vv]ersion|\.NET|JDK|Rust|Swift|Kotlin|Xcode|iOS|Android|CUDA"
)
NUMBER = re.compile(
    r"(?P<port>\b(?:[Pp]orts?|PORT|端口)(?: (?:is|to|on|number))?[ :=#]{1,3}\d{2,5}\b"
    r"|\b(?:localhost|127\.0\.0\.1|0\.0\.0\.0):\d{2,5}\b)"
    rf"|(?P<version>\bv\d{{1,4}}(?:\.\d{{1,5}}){{1,3}}\b|\b\d{{1,4}}\.\d{{1,4}}\.\d{{1,5}}\b"
    rf"|(?<![\w.])(?:{_PRODUCTS}) (?:>= ?)?v?\d{{1,3}}(?:\.\d{{1,4}}){{0,2}}(?:\+|\b)(?! ?%))"
    r"|(?P<limit>\b(?:limit|timeout|max|maximum|min|minimum|threshold|retries|at most|at least|up to)"
    r"(?: (?:of|is|to))?[ :=]{1,3}\d[\d,._]{0,15}\b)"
    r"|(?P<money>[$€£¥] ?\d[\d,.]{0,14}(?<=\d)(?: ?(?:k|m|bn|million|billion))?\b)"
    rf"|(?P<unit>(?<![\w.#-])(?<!Phase )(?<!phase )(?<!Step )(?<!step )(?<!Task )(?<!task )"
    rf"(?:(?<![^\s(|:=*~])[-−+±])?\d(?:[\d,._]{{0,14}}\d)?(?:[-–]\d{{1,7}})?[ -]?(?:{_UNITS})(?![A-Za-z]))"
    rf"|(?P<counted>(?<![\w.#-])\d(?:[\d,._]{{0,14}}\d)? (?:[a-z]{{2,15}} ){{1,2}}(?:{_COUNTED})\b)"
    r"|(?P<large>(?<![\w.,:/#$×~@-])(?<!line )(?<!lines )(?<!mode )(?!(?:19|20)\d\d\b)\d{3,9}(?![\w:/#-]|[.,]\d))"
)
_DIGIT = re.compile(r"\d")
_SLIGHT = re.compile(r"[01][ -](?!(?:tests?|errors?|warnings?|failures?|s|ms|h|k)\b)[a-z]+")
"""Counts of 0 or 1, which say little; not those of tests, errors, warnings, failures and units of time."""


def reference_facts(messages: Sequence[Message]) -> Iterator[Fact]:
    """Yield identifiers, then URLs, then numbers, each in message order. Linear."""
    texts = [(index, words) for index, message in enumerate(messages) if (words := message_prose(message))]
    yield from _identifiers(messages, texts)
    yield from _urls(messages, texts)
    yield from _numbers(messages, texts)


_Texts = Sequence[tuple[int, str]]
"""Texts with their message's index."""


def _identifiers(messages: Sequence[Message], texts: _Texts) -> Iterator[Fact]:
    """Yield ids, names used at least `NAME_USES` times, and ordinary words used at least `WORD_USES` times, each at its
    first mention."""
    first: dict[str, tuple[int, str]] = {}
    count: Counter[str] = Counter()
    for index, words in texts:
        for text, sort in _identifiers_in(words):
            count[text] += 1
            first.setdefault(text, (index, sort))
    for text, (index, sort) in first.items():
        if sort == "ticket" and "#" in text[1:] and text[text.index("#") :] in first:
            continue  # "PR #12" and "#12" are the same
        if sort in ("uuid", "ticket", "hash", "variable") or count[text] >= (
            WORD_USES if sort == "word" else NAME_USES
        ):
            label = "name" if sort == "word" else sort
            yield Fact("identifier", text, messages[index].id, index, f"{label} ×{count[text]}")


def _identifiers_in(words: str) -> Iterator[tuple[str, str]]:
    """Yield identifiers with their sort. A name that is part of another one in backticks (`SessionID` in
    `input.SessionID`) is left out."""
    seen_names: set[str] = set()
    colours: bool | None = None
    joined = [match.span(1) for match in _MARKED.finditer(words) if not _PLAIN.fullmatch(match[1])]
    for pattern, needed in ((IDS, _IN_IDS), (NAMES, _IN_NAMES)):
        at = 0
        for match in pattern.finditer(words) if needed.search(words) else ():
            while at < len(joined) and joined[at][1] <= match.start():
                at += 1
            if match.lastgroup == "ticket" and len(match[0]) in (4, 7) and match[0][0] == "#":
                colours = _COLOURS.search(words) is not None if colours is None else colours
                if colours:
                    continue
            inside = at < len(joined) and joined[at][0] <= match.start() and match.end() <= joined[at][1]
            if not (inside and pattern is NAMES and match.span() != joined[at]):
                seen_names.add(match[0])
                yield match[0], match.lastgroup or ""
    for marked in _MARKED.findall(words):
        name = _LINE.sub("", marked)
        if name not in seen_names and not _FILE.search(name) and not name.isdigit():
            yield name, "word" if _COMMON_WORD.fullmatch(name) else "name"


def _numbers(messages: Sequence[Message], texts: _Texts) -> Iterator[Fact]:
    """Yield numbers with a unit or a meaning (port, version, limit) and large ones, once per message, without ticket
    numbers."""
    tickets = {digits for _, words in texts for digits in _TICKET.findall(words)}
    for index, words in texts:
        seen: set[str] = set()
        for match in NUMBER.finditer(words) if _DIGIT.search(words) else ():
            if match[0] not in seen and match[0] not in tickets and not _SLIGHT.fullmatch(match[0]):
                seen.add(match[0])
                yield Fact(
                    "number", match[0], messages[index].id, index, _context_of(words, match.start(), match.end())
                )


def _context_of(words: str, start: int, stop: int) -> str:
    """Return up to 60 characters of the same line on either side, cut at words."""
    left = max(words.rfind("\n", 0, start) + 1, start - 60)
    if left and words[left - 1 : left] != "\n":
        left = min(start, words.find(" ", left, start) + 1 or left)
    end = words.find("\n", stop)
    right = min(stop + 60, len(words) if end < 0 else end)
    if right < len(words) and right != end:
        right = max(stop, words.rfind(" ", stop, right))
    return clip_at_word(words[left:right], 160)


def _urls(messages: Sequence[Message], texts: _Texts) -> Iterator[Fact]:
    """Yield URLs, once per message."""
    for index, words in texts:
        for address in dict.fromkeys(url.rstrip(".,;:!?*_") for url in _URL.findall(words)):
            yield Fact("url", address, messages[index].id, index)
