"""Recognise Gemini CLI sessions."""

from __future__ import annotations

from workbench.formats.look import Look

ID = "gemini"
KEYS = frozenset(["kind", "lastUpdated", "messages", "projectHash", "sessionId", "startTime"])


def recognise(look: Look) -> str:
    if not isinstance(look.first.get("sessionId"), str) or "projectHash" not in look.first:
        return ""
    return "sessionId and projectHash" + (
        " beside messages" if "messages" in look.first else " on line 1, as Gemini has"
    )
