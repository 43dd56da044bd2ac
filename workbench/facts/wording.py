"""What is looked at of a text: whose words it is, its ends when it is long, no quoted matter, sentence by sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.facts.fences import without_fences
from workbench.session import Message

HEAD_CHARS = 64 * 1024
TAIL_CHARS = 16 * 1024
"""Of a longer text only the first `HEAD_CHARS` and the last `TAIL_CHARS` characters are searched for facts."""

LONGEST_SENTENCE = 700
"""A longer "sentence" is a paragraph or data without full stops; none is taken for an instruction or a decision."""

_BULLET = re.compile(r"^[ \t]*(?:[-*+•>]|\d{1,3}[.)、]|#{1,6})[ \t]+")
_STOP = re.compile(
    r"(?<=[.!?])[\"')\]*]{0,2}\s+(?=[A-Z0-9\"'`(*\[])|(?<=[。！？；])"
    r"|(?<=[a-z)][?!])\s+(?=[a-z])|(?<=[a-z]{3}\.)(?<!\betc\.)(?<!\bresp\.)(?<!\bapprox\.)(?<!\bincl\.)\s+(?=[a-z])"
)
"""Where a sentence ends. People who chat begin the next one in lower case."""
_LABEL = re.compile(r"[*_`#]+")


def scanned(text: str) -> str:
    """`text`, or its two ends on separate lines when it is longer than what is searched."""
    if len(text) <= HEAD_CHARS + TAIL_CHARS:
        return text
    return text[:HEAD_CHARS] + "\n" + text[-TAIL_CHARS:]


def own_words(text: str) -> str:
    """A text without what is quoted in it: fenced code."""
    return without_fences(scanned(text)).strip()


def spoken(message: Message) -> str:
    """What the person or the agent says in a message, without fenced code; "" where neither speaks.

    A person speaks in messages of their own and through tools; what a tool put into a message is nobody's.
    """
    said = message.text if is_agents(message) else message.said
    return own_words(said) if said else ""


def is_agents(message: Message) -> bool:
    """Whether the agent speaks: an answer of the model's, and no summary."""
    return message.role == "assistant" and message.kind == "normal"


def sentences(text: str) -> Iterator[str]:
    """The sentences of `text`, each as it stands there, without bullets; quoted and table lines are left out."""
    for line in text.split("\n"):
        stripped = line.strip()
        if not stripped or stripped[0] in ">|":
            continue
        body = _BULLET.sub("", line).strip()
        for sentence in _STOP.split(body):
            if sentence and (short := sentence.strip()):
                yield short


def plain(sentence: str) -> str:
    """A sentence in lower case without emphasis marks and with straight apostrophes, for matching only."""
    return _LABEL.sub("", sentence).replace("’", "'").strip().lower()


def is_question(sentence: str) -> bool:
    return sentence.rstrip("\"')*_ ").endswith(("?", "？", "吗", "呢", "吗。"))
