"""Shorten an agent's long-term memories, one a line: remove duplicates, merge similar ones, keep the important ones.

No model and no new words are used: each line is an old one, or merges several with the same subject or statement.
Memories that do not fit are dropped, the least important and oldest first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import unified_diff

from msgspec import Struct

from workbench.compaction.context import memories_in
from workbench.facts.standing import rule_reason

LONGEST_MERGED = 300
"""Longest merged line in characters; longer ones would not be read."""


class Memory(Struct, frozen=True):
    """One line, and the numbers (from 0) of the input lines that it contains."""

    text: str
    lines: tuple[int, ...]


def condense(lines: Sequence[str], room: int) -> list[Memory]:
    """Memories in at most `room` lines, in order, each at the place of its newest line.

    Duplicates are always removed; similar memories are merged and less important ones dropped only as far as necessary.
    """
    kept = _without_duplicates([Memory(line.strip(), (number,)) for number, line in enumerate(lines) if line.strip()])
    for alike, together in ((_statement, _subjects_together), (_subject, _statements_together)):
        kept = _merge_similar(kept, room, alike, together)
    lightest = sorted(range(len(kept)), key=lambda place: (_importance(kept[place].text), place))
    dropped = set(lightest[: len(kept) - room] if len(kept) > room else ())
    return [memory for place, memory in enumerate(kept) if place not in dropped]


def essence(line: str) -> str:
    """Words of a memory for comparison: in lower case, without articles, bullets and punctuation."""
    return " ".join(word for word in _WORD.findall(line.lower()) if word not in _SMALL)


_WORD = re.compile(r"\w+(?:[.,:/_'’-]\w+)*|[^\w\s.,;:!?\"'“”‘’()*•–—-]")
_SMALL = frozenset(["a", "an", "the"])


def _without_duplicates(memories: Sequence[Memory]) -> list[Memory]:
    """Each memory once, with the words and the place of the newest copy."""
    newest: dict[str, Memory] = {}
    for memory in memories:
        key = essence(memory.text)
        earlier = newest.pop(key, None)
        newest[key] = Memory(memory.text, (*(earlier.lines if earlier else ()), *memory.lines))
    return list(newest.values())


# --- merging --------------------------------------------------------------------------------------------------------

_ABOUT = re.compile(
    r"(?P<bullet>[-*•]\s+)?(?P<subject>[^\s:：.!?](?:[^:：.!?]{0,38}[^\s:：.!?])?)[:：]\s+(?P<said>\S.*)"
)
"""Memory that names its subject: `- Release: cut on Thursdays.`"""


def _statement(text: str) -> str:
    about = _ABOUT.fullmatch(text)
    return essence(about["said"]) if about else ""


def _subject(text: str) -> str:
    about = _ABOUT.fullmatch(text)
    return about["subject"].lower() if about else ""


def _subjects_together(texts: Sequence[str]) -> str:
    """Merge memories with the same statement: `- A, B: holds.`"""
    parts = [about for text in texts if (about := _ABOUT.fullmatch(text))]
    subjects = ", ".join(dict.fromkeys(about["subject"] for about in parts))
    return f"{parts[-1]['bullet'] or ''}{subjects}: {parts[-1]['said']}"


def _statements_together(texts: Sequence[str]) -> str:
    """Merge memories with the same subject: `- A: this; that.`"""
    parts = [about for text in texts if (about := _ABOUT.fullmatch(text))]
    statements = "; ".join([*(about["said"].rstrip(".。") for about in parts[:-1]), parts[-1]["said"]])
    return f"{parts[-1]['bullet'] or ''}{parts[-1]['subject']}: {statements}"


def _merge_similar(
    memories: Sequence[Memory], room: int, alike: Callable[[str], str], together: Callable[[Sequence[str]], str]
) -> list[Memory]:
    """Merge similar memories, the oldest first, until all fit."""
    kept = list(memories)
    over = len(kept) - room
    last: dict[str, int] = {}  # the line with the memories of a key so far
    for place, memory in enumerate(memories):
        key = alike(memory.text)
        if not key:
            continue
        if over > 0 and key in last:
            before = kept[last[key]]
            text = together([before.text, memory.text])
            if len(text) <= LONGEST_MERGED:
                kept[place] = Memory(text, (*before.lines, *memory.lines))
                kept[last[key]] = Memory("", ())
                over -= 1
        last[key] = place
    return [memory for memory in kept if memory.lines]


# --- weighing -------------------------------------------------------------------------------------------------------

_WISH = re.compile(
    r"\b(?:prefers?|wants?|likes?|dislikes?|hates?|insists?|requires?|asked (?:not )?(?:to|for)|want)\b"
    r"|\b(?:never|always|must|do not|don't|mustn't|without asking|only|at most|at least)\b"
    r"|喜欢|偏好|希望|要求|必须|不要|不得|禁止|总是|始终",
    re.IGNORECASE,
)
_EXACT = re.compile(r"[\d`]|\w/\w|/\w|\w\.\w")
"""A number, a quoted name, a path or an address."""


def _importance(text: str) -> int:
    """2 for a preference or rule, 1 for a line with a number, name, path or address, 0 for others."""
    if _WISH.search(text) or rule_reason(text):
        return 2
    return 1 if _EXACT.search(text) else 0


# --- comparing ------------------------------------------------------------------------------------------------------


def changes(before: str, after: str) -> list[str]:
    """Removed (`- `) and added (`+ `) lines, each with a line of context; `⋮` stands for unchanged lines."""
    lines = list(unified_diff(memories_in(before), memories_in(after), lineterm="", n=1))[2:]
    return ["⋮" if line.startswith("@@") else f"{line[0]} {line[1:]}" for line in lines]
