"""Recognise Augment CLI sessions."""

from __future__ import annotations

from workbench.formats.look import Look

ID = "augment"
KEYS = frozenset(["agentState", "chatHistory", "sessionId"])


def recognise(look: Look) -> str:
    document = look.document
    history = document.get("chatHistory") if isinstance(document, dict) else None
    if not isinstance(history, list):
        return ""
    if any(isinstance(entry, dict) and "exchange" in entry for entry in history):
        return "chatHistory with exchanges"
    return "sessionId and chatHistory" if "sessionId" in document else ""
