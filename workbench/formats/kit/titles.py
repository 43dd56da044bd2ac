"""Titles of sessions to which the agent gave none."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.base.secrets import without_secrets
from workbench.session import Message


def first_words(messages: Iterable[Message], after: str = "") -> str:
    """Return the first words of the first request, at most 80 characters; the words after the mark `after`, if the text
    contains it."""
    own = (message.said or message.text for message in messages if message.starts_round)
    text = next((words for words in own if words.strip()), "")
    if after:
        text = text.rpartition(after)[2]
    return shortened(text)


def shortened(text: str) -> str:
    """Return the first words of a text, at most 80 characters. Secrets are masked first, because half a secret is not
    recognised."""
    words = " ".join(without_secrets(text[:2000]).split()[:20])
    return words if len(words) <= 80 else words[:79].rstrip() + "…"
