"""Form of the user's answers in Qwen Code's tool results."""

from __future__ import annotations

from workbench.formats.claude_code.texts import answers_in_pairs
from workbench.formats.kit.user_text import AgentTexts

TEXTS = AgentTexts(answers={"ask_user_question": (answers_in_pairs,)})
