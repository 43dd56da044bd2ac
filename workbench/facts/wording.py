"""What is looked at of a text: its ends when it is long, its own words without quoted matter, sentence by sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.facts.fences import without_fences

HEAD_CHARS = 64 * 1024
TAIL_CHARS = 16 * 1024
"""Of a longer text only the first `HEAD_CHARS` and the last `TAIL_CHARS` characters are searched for facts."""

LONGEST_SENTENCE = 700
"""A longer "sentence" is a paragraph or data without full stops; none is taken for an instruction or a decision."""

_INJECTED = (
    "system-reminder",
    "environment_details",
    "environment_context",
    "user_instructions",
    "ide_selection",
    "ide_opened_file",
    "local-command-stdout",
    "local-command-caveat",
    "command-message",
    "command-name",
    "command-args",
    "file_content",
    "supervisor",
    "task-notification",
    "bash-stdout",
    "bash-stderr",
)
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
    """A message's text without fenced code and without what its tool put in (reminders, wrappers)."""
    text = scanned(text)
    if "<" in text:
        for tag in _INJECTED:
            text = _without(text, f"<{tag}>", f"</{tag}>")
    return without_fences(text).strip()


def _without(text: str, start: str, end: str) -> str:
    if start not in text:
        return text
    kept: list[str] = []
    at = 0
    while (opened := text.find(start, at)) >= 0:
        kept.append(text[at:opened])
        closed = text.find(end, opened)
        at = len(text) if closed < 0 else closed + len(end)
    kept.append(text[at:])
    return "".join(kept)


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
