"""Texts that Cline and Roo add to a user's message, and the form of the user's answers in results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.formats.kit.user_text import AgentTexts


def _answers_in_tags(arguments: Mapping[str, Any], text: str) -> Iterator[str]:
    for tag in ("answer", "user_message", "feedback"):
        words, closed, _ = text.partition(f"<{tag}>")[2].partition(f"</{tag}>")
        if closed:
            yield words


_ASKING = ("ask_followup_question", "ask_question", "attempt_completion", "plan_mode_respond")

TEXTS = AgentTexts(
    tags=("environment_details", "file_content"),
    wrappers=(r"user_input(?: mode=[^<>\n]*)?",),  # Cline's SDK
    answers=dict.fromkeys(_ASKING, (_answers_in_tags,)),
)
