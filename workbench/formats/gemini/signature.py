"""By what a file is known: Gemini CLI."""

from __future__ import annotations

import re

from workbench.formats.kit.document import glimpse
from workbench.formats.kit.jsonl import first_records

ID = "gemini"

_CUT = re.compile(rb'\s*\{\s*"(?:sessionId|projectHash)"\s*:\s*"[^"]*"\s*,\s*"(?:sessionId|projectHash)"\s*:')


def recognise(head: bytes) -> str:
    first = next(iter(first_records(head)), None)
    value = first.value if first and isinstance(first.value, dict) else glimpse(head)
    if isinstance(value, dict) and isinstance(value.get("sessionId"), str) and "projectHash" in value:
        return "sessionId and projectHash" + (
            " beside messages" if "messages" in value else " on line 1, as Gemini has"
        )
    return "it begins with sessionId and projectHash" if _CUT.match(head.removeprefix(b"\xef\xbb\xbf")) else ""
