"""Text cut to a length, and nouns after a number."""

from __future__ import annotations

import re

from workbench.base.figures import grouped


def valid_unicode(text: str) -> str:
    """Replace lone surrogates by U+FFFD: no file, request or terminal accepts them. Names of files have them, and text
    that was cut inside a character. Text without any is returned as it is."""
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
    """Return the largest position up to `at` at which a cut of `text` splits no figure and its unit, because a part of
    a figure reads as another figure. A run of 20 characters or more may be split."""
    for figure in _FIGURE.finditer(text, max(0, at - 40), at + 20):
        if figure.start() < at < figure.end() and len(figure[0]) < 20:
            return len(text[: figure.start()].rstrip())
    return at


def clip(text: str, limit: int) -> str:
    """Cut to `limit` characters, the last of them `…`, never inside a figure and its unit. A limit of 0 returns ""."""
    if len(text) <= limit:
        return text
    return text[: before_figure(text, limit - 1)] + "…" if limit > 0 else ""


def clip_middle(text: str, limit: int) -> str:
    """Cut a longer text to exactly `limit` characters with `…` in the middle; the start gets the odd one."""
    if len(text) <= limit:
        return text
    if limit <= 0:
        return ""
    end = (limit - 1) // 2
    return text[: limit - 1 - end] + "…" + (text[-end:] if end else "")


def clip_at_sentence(text: str, limit: int) -> str:
    """Cut to `limit` characters after the last line or sentence that fits; inside a sentence if that would keep less
    than half."""
    if len(text) <= limit:
        return text
    room = text[: max(limit - 1, 0)]
    ends = [match.end() for match in re.finditer(r"\n|[.!?](?=\s)|[。！？]", room)]
    if ends and ends[-1] >= limit // 2:
        room = room[: ends[-1]]
    return (room.rstrip() + "…")[:limit]


def clip_at_word(text: str, limit: int) -> str:
    """Return one line of at most `limit` characters, cut between words unless that costs a third of them."""
    line = " ".join(text[: 4 * limit + 400].split())
    if len(line) <= limit:
        return line
    if limit < 1:
        return ""
    room = line[: limit - 1]
    space = room.rfind(" ")
    return (room[:space] if space > limit * 2 // 3 else room).rstrip(" ,;:-") + "…"


def plural(number: float, noun: str) -> str:
    """Return the noun in the form that follows the number: `round`, `rounds`, `policies`."""
    if number == 1:
        return noun
    return noun[:-1] + "ies" if re.search("[^aeiou]y$", noun) else noun + "s"


def counted(number: int, noun: str) -> str:
    """Format a number with its noun: `1 round`, `12 000 rounds`."""
    return f"{grouped(number)} {plural(number, noun)}"


def are(number: int) -> str:
    """Return `is` for 1, `are` for any other number."""
    return "is" if number == 1 else "are"


_TAGS = re.compile(r"(\s*<[A-Za-z][\w:-]*>[ \t]*\n)+")


def untagged(text: str) -> str:
    """Return the text after leading lines that only open a tag of a template (`<task>`)."""
    tags = _TAGS.match(text)
    rest = text[tags.end() :] if tags else ""
    return rest if rest.strip() else text
