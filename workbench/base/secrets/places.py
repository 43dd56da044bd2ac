"""Secrets that are known by where they stand: in addresses, in headers, in commands, between the lines of a key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from workbench.base.secrets.names import BEGINNING, LONGEST, is_drawn
from workbench.base.secrets.spans import Span, places_of

# --- keys of several lines

_EDGE = re.compile(r"-----(BEGIN|END) [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_KEY = re.compile("[A-Za-z0-9+/]{4}")
_TORN = re.compile(r"(?=[^\"']{0,200}?[A-Za-z0-9+/=]{20})(?:[A-Za-z0-9+/=\s\\:,…→|>]|-(?!----))*+")
LONGEST_KEY = 20_000
_PIECES = re.compile(r"(?P<blank>\s+|\\[nr])|(?P<line>[A-Za-z0-9+/=]+)|.")
_PUTTY = re.compile(r"Private-Lines: \d{1,3}\s{1,3}((?:[A-Za-z0-9+/=]{20,}\s{0,2}){1,60})")
_OF_KUBERNETES = re.compile(r"[ \t]+[\w.-]+:[ ]+[\"']?([^\s\"'{<$|>!&*-][^\s\"']{5,})")
_LINES = re.compile(r"[^\n]*(?:\n|\Z)")


def keys(text: str) -> Iterator[Span]:
    """Private keys, from their first line to the last, or as far as they were kept."""
    if "PRIVATE KEY" in text:
        done = 0
        for edge, after in pairwise([*_EDGE.finditer(text), None]):
            assert edge is not None
            if edge[1] == "END":
                if (start := _beginning(text, done, edge.start())) < edge.start():
                    yield start, edge.end()
                done = edge.end()
                continue
            done = edge.end()
            if after is not None and after[1] == "END" and after.start() - edge.end() < LONGEST_KEY:
                if _KEY.search(text, edge.end(), after.start()):
                    yield edge.start(), after.end()
            elif torn := _TORN.match(text, edge.end()):
                yield edge.start(), torn.end()
    if "Private-Lines" in text:
        for found in _PUTTY.finditer(text):
            yield found.span(1)
    for at in places_of("kind: Secret\n", text):
        yield from _of_kubernetes(text, text.find("\n", at) + 1)


def _beginning(text: str, least: int, end: int) -> int:
    """Where the lines of a key begin that go on to `end`; of a key whose first lines were cut off, too."""
    start, short = end, 0
    for piece in reversed(list(_PIECES.finditer(text, max(least, end - LONGEST_KEY), end))):
        if piece["line"] and len(piece[0]) >= 16:
            start = piece.start()
        elif (
            piece["line"] and start == end and short < 2
        ):  # the last line and a sum: of a key where others stand before
            short += 1
        elif not piece["blank"]:
            break
    return start


def _of_kubernetes(text: str, at: int) -> Iterator[Span]:
    """The values below `data`, up to the next document."""
    is_data = False
    for line in _LINES.finditer(text, at):
        words = line[0].strip()
        if not words or words.startswith(("---", "kind:")):
            return
        if line[0][0].isspace():
            if is_data and (found := _OF_KUBERNETES.match(text, *line.span())):
                yield found.span(1)
        else:
            is_data = words in ("data:", "stringData:")


# --- what an abridged text has left

_BEHIND_A_CUT = re.compile(r"(?:…|\.\.\.)[^\n…]{0,60}")
_WORD = re.compile(r"[A-Za-z0-9+_~-]{10,}")
_SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+_~.-"
"""Those of words that a cut may have left of a secret."""
_END = re.compile(r"(?=[A-Za-z_-]{0,20}[0-9])(?=[0-9_-]{0,20}[A-Za-z])[A-Za-z0-9_-]{5,20}(?![A-Za-z0-9_-])")
"""One of both ends of what looks drawn: of a secret ten characters can be too many."""
_SUM = re.compile("[0-9a-f-]{1,18}|[0-9A-F]{1,16}")
"""What people and tools leave of a commit, a checksum or the id of a session."""


def cut(text: str) -> Iterator[Span]:
    """What is drawn right behind the place where a text was cut: the name that told what it is may stand before. And
    what is drawn right before it: the rest, by which it would be told, may be gone."""
    if "…" in text or "..." in text:
        for behind in _BEHIND_A_CUT.finditer(text):
            for word in _WORD.finditer(text, behind.start(), behind.end() + LONGEST):
                if word.start() < behind.end() and is_drawn(word[0], 10):
                    yield word.span()
        for mark in ("…", "..."):
            done = 0
            for at in places_of(mark, text):
                before = text[max(done, at - LONGEST) : at]
                left = before[len(before.rstrip(_SIGNS)) :]
                done = at
                if _SUM.fullmatch(left):
                    continue
                if is_drawn(left[-BEGINNING:], 10):
                    yield at - len(left), at
                elif _END.fullmatch(left) and (other := _END.match(text, at + len(mark))):
                    yield at - len(left), at
                    yield other.span()


# --- addresses and headers

_USER = re.compile(r"://([^\s/?#\"'<>`@:]{0,200})(:?)([^\s/?#\"'<>`]{0,300})@")
_NO_PASSWORD = re.compile(r"[{$<%*\[…]|\.{3}|(?:user|pass(?:word|wd)?|pwd?|secret|token|x{3,})\Z", re.IGNORECASE)
_HOOK = re.compile(
    r"(?:hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/webhooks/\d{15,20}/"
    r"|\.webhook\.office\.com/webhookb2/)([\w/@-]{20,})"
)
_SCHEMES = ("bearer", "Bearer", "BEARER", "basic", "Basic", "BASIC")
_BEARER = re.compile(r"\s{1,3}(?=[A-Za-z._~+/-]{0,80}(?:[0-9=]|[a-z][A-Z]))([A-Za-z0-9._~+/=-]{16,})")
_COOKIES = re.compile(r"ookie[\"']?\s?[:=]\s?[\"']?([^\n]{1,4000})")
_COOKIE = re.compile(r"(?<![^\s;\"'])[\w.-]{1,60}=([^\s;\"'\\]{16,4000})")
_PAIR = re.compile(r"auth=\(\s?[\"'][^\"'\n]{1,80}[\"'],\s?[\"']([^\"'\n]{4,200})[\"']")


def addresses(text: str) -> Iterator[Span]:
    if "://" in text and "@" in text:
        for found in _USER.finditer(text):
            place = 3 if found[2] else 1
            value = found[place]
            if value and not _NO_PASSWORD.match(value) and (place == 3 or is_drawn(value, 20)):
                yield found.span(place)
    if "hook" in text:
        for found in _HOOK.finditer(text):
            if any(map(str.isdigit, found[1])):
                yield found.span(1)


def headers(text: str) -> Iterator[Span]:
    for scheme in _SCHEMES:
        for at in places_of(scheme, text):
            if found := _BEARER.match(text, at + len(scheme)):
                yield found.span(1)
    done = 0
    for at in places_of("ookie", text):
        if at >= done and (line := _COOKIES.match(text, at)):
            done = line.end()
            for found in _COOKIE.finditer(text, *line.span(1)):
                if is_drawn(found[1], 16):
                    yield found.span(1)
    for found in _PAIR.finditer(text):
        yield found.span(1)


# --- commands

_USER_OPTION = (
    r"(?:-[a-zA-Z]*u|--(?:proxy-)?user)[ =]?(?:\"[^\s:\"$]{1,80}:([^\"$\n]{3,80})\"|'[^\s:']{1,80}:([^'\n]{3,80})'"
    r"|[^\s:\"'$]{1,80}:([^\s\"'$]{3,}))"
)
_P_OPTION = r"-p[ =]?[\"']?([^\s\"'$<-][^\s\"']{3,})"
_ATTACHED = r"-p(?!\d{1,5}\s)(?:\"([^\"$]{4,}?)\"|'([^']{4,}?)'|([^\s\"'$-]{4,}))"
_COMMANDS = {
    program: re.compile(rf"\s{option}")
    for programs, option in (
        ("curl|wget", _USER_OPTION),
        ("mysql|mysqldump|mysqladmin|mariadb|7z|7za|unrar", _ATTACHED),
        ("sshpass|docker login|podman login|mongo|mongosh|mongodump|mongorestore|az login|kinit", _P_OPTION),
        ("redis-cli", r"-a[ ][\"']?([^\s\"'$<-][^\s\"']{3,})"),
        ("ldapsearch|ldapadd|ldapmodify|ldappasswd", r"-w[ ][\"']?([^\s\"'$<-][^\s\"']{3,})"),
        ("smbclient|rpcclient|net rpc", r"-U[ ][^\s%]{1,60}%([^\s\"'$]{3,})"),
        ("openssl", r"-\w{1,20}[ ]pass:([^\s\"'$]{3,})"),
        ("doctl auth", r"init[ ]-t[ ]([^\s\"'$-]{8,})"),
    )
    for program in programs.split("|")
}
"""By program, the option that takes a password, and in a group the password."""

_BEGINS = re.compile(r"(?<![\w.-])|(?<=\\[nrt])")  # or behind an escape, as in JSON
_LINE = re.compile(r"(?:[^\\\n]|\\[^\n]|\\\n){0,400}")
_SUDO = re.compile(r"\becho\s{1,2}(?:-n\s)?[\"']?([^\s\"'$|]{4,80})[\"']?\s?\|\s?sudo\s{1,2}-S")
_PGPASS = re.compile(
    r"^(?:localhost|\*|[\w-]{1,40}\.[\w.-]{1,80}):\d{4,5}:[\w*-]{1,60}:[\w*-]{1,60}:(\S{4,100})$", re.MULTILINE
)


def commands(text: str) -> Iterator[Span]:
    for program, option in _COMMANDS.items():
        done = 0
        for at in places_of(program, text):
            end = at + len(program)
            if at >= done and text[end : end + 1].isspace() and _BEGINS.match(text, at):
                line = _LINE.match(text, end)
                assert line is not None
                done = line.end()
                for found in option.finditer(text, *line.span()):
                    if not _NO_PASSWORD.match(found[found.lastindex or 0]):
                        yield found.span(found.lastindex or 0)
    if "sudo" in text:
        for found in _SUDO.finditer(text):
            yield found.span(1)
    if ":" in text:
        for found in _PGPASS.finditer(text):
            if is_drawn(found[1], 8):
                yield found.span(1)
