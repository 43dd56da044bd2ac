"""Cutting text: in the middle, at a sentence, out of its tags. Lengths are characters; a character is never split."""

from __future__ import annotations

import re


def cut_middle(text: str, limit: int) -> str:
    """Cut to exactly `limit` characters, `…` included; the start gets the odd character. A limit of 0 gives nothing."""
    if len(text) <= limit:
        return text
    if limit <= 0:
        return ""
    end = (limit - 1) // 2
    return text[: limit - 1 - end] + "…" + (text[-end:] if end else "")


def cut_at_sentence(text: str, limit: int) -> str:
    """Cut to at most `limit` characters at the last line or sentence that fits; mid-text only where there is
    neither."""
    if len(text) <= limit:
        return text
    room = text[: max(limit - 1, 0)]
    ends = [match.end() for match in re.finditer(r"\n|[.!?](?=\s)|[。！？]", room)]
    if ends and ends[-1] >= limit // 2:
        room = room[: ends[-1]]
    return (room.rstrip() + "…")[:limit]


_OUTER = re.compile(r"\A\s*<summary>(.*)</summary>\s*\Z", re.DOTALL)


def without_summary_tags(text: str) -> str:
    """Remove one outer pair of `<summary>` tags: prompt and template both ask for them."""
    match = _OUTER.match(text)
    return match[1].strip() if match else text.strip()


_INNER = re.compile(r"<summary[^>]*>(.*)</summary>", re.DOTALL)


def summary_inside(text: str) -> str:
    """The summary proper within a summary node's text: what stands in its `<summary>` tags, else all of it."""
    match = _INNER.search(text)
    return (match[1] if match else text).strip()
