"""Recognise tags that Gemini CLI adds to a user's message, and users' answers in its results."""

from __future__ import annotations

from workbench.formats.codex.texts import answers_in_values
from workbench.formats.kit.user_text import AgentTexts

TEXTS = AgentTexts(
    tags=("hook_context", "session_context", "untrusted_context"),
    answers={"ask_user": (answers_in_values,)},
)
