"""By what a file is known: aider chat history."""

from __future__ import annotations

import re

ID = "aider"

HEADING = re.compile(rb"^# aider chat started at ([^\n]*)\n?", re.MULTILINE)


def recognise(head: bytes) -> str:
    if HEADING.search(head) and head.lstrip()[:1] not in (b"{", b"["):
        return "a line `# aider chat started at`"
    return ""
