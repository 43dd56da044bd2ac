"""What Gemini CLI writes into a user's message in tags, and how the user's answers stand in its results."""

from __future__ import annotations

from workbench.formats.codex.texts import answers_in_values
from workbench.formats.kit.said import AgentTexts

TEXTS = AgentTexts(
    tags=("hook_context", "session_context", "untrusted_context"),
    answers={"ask_user": (answers_in_values,)},
)
