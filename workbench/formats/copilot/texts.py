"""Recognise texts that Copilot CLI and VS Code's chat add to a user's message, and users' answers in results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from workbench.formats.kit.user_text import AgentTexts

_SELECTED = re.compile(r"User (?:selected|responded|answered): (.*)", re.DOTALL)
_ABSENT = "The user is not available to respond"
"""Answer that the CLI writes when no user is present."""


def _answer(arguments: Mapping[str, Any], text: str) -> Iterator[str]:
    """Yield the user's answer in a result such as `User selected: …`."""
    words = _SELECTED.match(text)
    if words and not words[1].lstrip().startswith(_ABSENT):
        yield words[1]


TEXTS = AgentTexts(
    tags=(
        "available_skills", "current_datetime", "system_notification", "system_reminder",  # the CLI
        "editorContext", "environment_info", "reminderInstructions", "workspace_info",  # VS Code
    ),
    wrappers=("userRequest", "user-request"),
    answers={"ask_user": (_answer,)},
)  # fmt: skip
