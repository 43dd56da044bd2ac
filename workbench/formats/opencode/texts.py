"""Form of the user's answers in opencode's tool results."""

from __future__ import annotations

from workbench.formats.claude_code.texts import answers_in_pairs
from workbench.formats.kit.user_text import AgentTexts

TEXTS = AgentTexts(answers={"question": (answers_in_pairs,)})
