"""A title for a session whose tool gave it none."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.base.secrets import without_secrets
from workbench.session import Message


def first_words(messages: Iterable[Message], after: str = "") -> str:
    """The first words of the first request, at most 80 characters; behind the mark `after` where the text has it."""
    own = (message.said or message.text for message in messages if message.starts_round)
    text = next((words for words in own if words.strip()), "")
    if after:
        text = text.rpartition(after)[2]
    return shortened(text)


def shortened(text: str) -> str:
    """The first words of a text, at most 80 characters, without its secrets: half of one is not known for one."""
    words = " ".join(without_secrets(text[:2000]).split()[:20])
    return words if len(words) <= 80 else words[:79].rstrip() + "…"
