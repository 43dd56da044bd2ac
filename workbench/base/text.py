"""Text cut to so many characters, of which none is split, and nouns after a number."""

from __future__ import annotations

import re

from workbench.base.figures import grouped


def valid_unicode(text: str) -> str:
    """With U+FFFD for each half of a character (a lone surrogate), which no file, request or terminal takes: names of
    files have them, and what was cut at the wrong place. The text itself where there is none."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


_FIGURE = re.compile(
    r"(?<![\w.,/\\-])[+\-−~≈]?\$?\d+(?:[ \u00a0\u202f.,]\d+)*(?:[ \u00a0\u202f]?(?:[kMG%]|ms|s)(?!\w))?(?!\w)"
)
"""A number with its sign and its unit."""


def before_figure(text: str, at: int) -> int:
    """Return the largest place up to `at` where a cut of `text` splits no figure and its unit: half a figure is another
    figure. A run of 20 characters or more is no figure and may be split."""
    for figure in _FIGURE.finditer(text, max(0, at - 40), at + 20):
        if figure.start() < at < figure.end() and len(figure[0]) < 20:
            return len(text[: figure.start()].rstrip())
    return at


def clip(text: str, limit: int) -> str:
    """At most `limit` characters, the last of them `…` where something was cut off, never within a figure and its unit.
    A limit of 0 gives nothing."""
    if len(text) <= limit:
        return text
    return text[: before_figure(text, limit - 1)] + "…" if limit > 0 else ""


def clip_middle(text: str, limit: int) -> str:
    """Exactly `limit` characters of a longer text, `…` in the middle; the start gets the odd one."""
    if len(text) <= limit:
        return text
    if limit <= 0:
        return ""
    end = (limit - 1) // 2
    return text[: limit - 1 - end] + "…" + (text[-end:] if end else "")


def clip_at_sentence(text: str, limit: int) -> str:
    """At most `limit` characters, up to the last line or sentence that fits; mid-text only where there is neither."""
    if len(text) <= limit:
        return text
    room = text[: max(limit - 1, 0)]
    ends = [match.end() for match in re.finditer(r"\n|[.!?](?=\s)|[。！？]", room)]
    if ends and ends[-1] >= limit // 2:
        room = room[: ends[-1]]
    return (room.rstrip() + "…")[:limit]


def clip_at_word(text: str, limit: int) -> str:
    """On one line, at most `limit` characters, cut between words unless that costs a third of them."""
    line = " ".join(text[: 4 * limit + 400].split())
    if len(line) <= limit:
        return line
    if limit < 1:
        return ""
    room = line[: limit - 1]
    space = room.rfind(" ")
    return (room[:space] if space > limit * 2 // 3 else room).rstrip(" ,;:-") + "…"


def plural(number: float, noun: str) -> str:
    """The noun as it stands after the number: `round`, `rounds`, `policies`."""
    if number == 1:
        return noun
    return noun[:-1] + "ies" if re.search("[^aeiou]y$", noun) else noun + "s"


def counted(number: int, noun: str) -> str:
    """`1 round`, `12 000 rounds`."""
    return f"{grouped(number)} {plural(number, noun)}"


def are(number: int) -> str:
    """`is` for one, `are` for any other number."""
    return "is" if number == 1 else "are"


_TAGS = re.compile(r"(\s*<[A-Za-z][\w:-]*>[ \t]*\n)+")


def untagged(text: str) -> str:
    """The text behind lines that only open a tag, as of templates (`<task>`): they say nothing of what is asked."""
    tags = _TAGS.match(text)
    rest = text[tags.end() :] if tags else ""
    return rest if rest.strip() else text
