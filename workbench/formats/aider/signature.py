"""Recognise aider chat histories, and split their lines as aider does."""

from __future__ import annotations

import re

from workbench.formats.look import Look

ID = "aider"

HEADING = re.compile(rb"^# aider chat started at ([^\n]*)\n?", re.MULTILINE)

NEWLINE = re.compile("\r\n?")
"""Line endings that aider reads as "\\n": it opens files in text mode."""

LINE_END = re.compile(rb"\r\n|[\n\r\v\f\x1c-\x1e]|\xc2\x85|\xe2\x80[\xa8\xa9]")
"""Line ends by `str.splitlines`, with which aider splits a history."""


def recognise(look: Look) -> str:
    if HEADING.search(look.head) and look.head.lstrip()[:1] not in (b"{", b"["):
        return "a line `# aider chat started at`"
    return ""
