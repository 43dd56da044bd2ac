"""Names that a file lacks: unique ids for messages, and titles for sessions to which the agent gave none."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.base.secrets import without_secrets
from workbench.session import Message


def unique_id(id: str, used: dict[str, int]) -> str:
    """Return `id`, with a mark and a number appended if it is in `used`, to which the result is added.

    `used` counts the requests for each id, so that a file of equal ids takes linear time.
    """
    free = id
    while free in used:
        used[id] += 1
        free = f"{id}'{used[id]}"
    used[free] = 1
    return free


def first_words(messages: Iterable[Message], after: str = "") -> str:
    """Return the first words of the first request, at most 80 characters; the words after the mark `after`, if the text
    contains it."""
    own = (message.user_text or message.text for message in messages if message.starts_round)
    text = next((words for words in own if words.strip()), "")
    if after:
        text = text.rpartition(after)[2]
    return shortened(text)


def shortened(text: str) -> str:
    """Return the first words of a text, at most 80 characters. Secrets are masked first, because half a secret is not
    recognised."""
    words = " ".join(without_secrets(text[:2000]).split()[:20])
    return words if len(words) <= 80 else words[:79].rstrip() + "…"
